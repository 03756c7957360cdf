import { InvalidField, throwTogether } from './invalid-field.ts'
import { type RedirectUriRules, redirectUriProblem, splitRedirectUris } from './redirect-uri.ts'

/** The maximum number of URIs of a client. The server compares an authorization request with each of them. */
export const maxUris = 50

/**
 * Checks redirect URIs or post-logout redirect URIs, given as a list or as a text with one URI per line.
 * @returns the trimmed URIs without empty entries
 * @throws InvalidField, InvalidFields with the number of each invalid line
 */
export const checkedUris = (
  field: string,
  value: string | readonly string[],
  rules: RedirectUriRules,
): readonly string[] => {
  const uris = splitRedirectUris(value)
  if (uris.length > maxUris) {
    throw new InvalidField(field, `There can be at most ${maxUris} redirect URIs.`, {
      problem: 'tooManyRedirectUris',
      value: maxUris,
    })
  }
  // Count blank lines too, so that an error reports the line number in the form.
  const lines = typeof value === 'string' ? value.split('\n') : value
  // Report a repeated URI once, so that the number of errors is limited too.
  const seen = new Set([''])
  const errors = lines.flatMap((text, index) => {
    const uri = text.trim()
    if (seen.has(uri)) return []
    seen.add(uri)
    const found = redirectUriProblem(uri, rules)
    if (!found) return []
    const { sentence, ...detail } = found
    const line = index + 1
    return new InvalidField(field, `Line ${line}: ${sentence}`, { ...detail, line })
  })
  throwTogether(errors)
  return uris
}

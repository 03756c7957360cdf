import { InvalidField, refuseAll } from './invalid-field.ts'
import { type RedirectUriRules, redirectUriProblem, splitRedirectUris } from './redirect-uri.ts'

const maxUris = 50

/**
 * Returns the URIs to which a client redirects users, from a list, or from a text with one URI per line.
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
  const errors = lines.flatMap((text, index) => {
    const uri = text.trim()
    const found = uri === '' ? undefined : redirectUriProblem(uri, rules)
    if (!found) return []
    const { sentence, ...detail } = found
    const line = index + 1
    return new InvalidField(field, `Line ${line}: ${sentence}`, { ...detail, line })
  })
  refuseAll(errors)
  return uris
}

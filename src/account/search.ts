import { InvalidField } from '../model/invalid-field.ts'
import type { Parameters } from '../model/parameters.ts'
import { credentialsIn } from '../model/pasted-credentials.ts'
import { makeDeletionsFinal } from '../protocol/leaked/end-credential.ts'
import { findCredential } from '../protocol/leaked/find-credential.ts'
import { remember } from './leaked/leaked.ts'
import type { Changed } from './notice.ts'
import type { SettingsRequest } from './settings-request.ts'

/** The maximum number of possible credentials in a search field. */
const maxCandidates = 5

/** Returns the text of a search field. Removes control characters, because PostgreSQL rejects NUL. */
export const searchText = (value = ''): string =>
  value
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, 255)

/** Returns the value of a search field from the query. */
export const searchedIn = ({ http }: SettingsRequest, name: string): string =>
  searchText(http.queryParameters().repeated(name)[0])

/** Returns whether a text has the form of a token: at least 40 letters, digits or underscores, or a JWT. */
export const looksLikeSecret = (text: string): boolean =>
  /^(?:[A-Za-z0-9_]{40,}|eyJ[\w-]+(?:\.[\w-]+)+)$/.test(text)

/**
 * Redirects a search form to the URL of its results. A text with a valid credential leads to the page for leaked secrets
 * instead, because a credential must not appear in a URL.
 * @param search.isKnown a function that returns whether a text that looks like a secret is a known ID
 * @throws InvalidField for an unknown text that looks like a secret
 */
export const searched = async (
  request: SettingsRequest,
  params: Parameters,
  search: {
    readonly location: (fields: URLSearchParams) => string
    readonly names: readonly string[]
    readonly isKnown: (text: string) => Promise<boolean>
  },
): Promise<Changed> => {
  const fields = new URLSearchParams()
  for (const name of search.names) {
    const [sent = ''] = params.repeated(name)
    const text = searchText(sent)
    const candidates = credentialsIn(sent).slice(0, maxCandidates)
    const found = await Promise.all(
      candidates.map((value) => findCredential(value, request.server)),
    )
    const credentials = found.filter((credential) => credential !== undefined)
    await makeDeletionsFinal(credentials, request.server)
    if (credentials.length > 0) return remember(request, credentials)
    if (looksLikeSecret(text) && !(await search.isKnown(text)))
      throw new InvalidField(name, `${name} looks like a secret.`, { problem: 'looksLikeSecret' })
    if (text !== '') fields.set(name, text)
  }
  return { location: search.location(fields) }
}

import { OAuthError } from '../../../model/oauth-error.ts'

type Kind = 'text' | 'textOrNull' | 'flag' | 'number' | 'list'

/** What each field of the settings is in JSON. A script may send back all that it was answered: the rest is passed over. */
const kinds: ReadonlyMap<string, Kind> = new Map([
  ['name', 'text'],
  ['description', 'text'],
  ['website', 'text'],
  ['is_confidential', 'flag'],
  ['redirect_uris', 'list'],
  ['default_scopes', 'list'],
  ['optional_scopes', 'list'],
  ['scopes', 'list'],
  ['expires', 'textOrNull'],
  ['overlap', 'number'],
  ['delete', 'text'],
  ['confirm_name', 'text'],
  ['session_id', 'text'],
  ['others', 'text'],
  ['act', 'text'],
  ['client_id', 'text'],
  ['token_id', 'number'],
])

const refused = (sentence: string) => new OAuthError('invalid_request', sentence)

/**
 * The form that a JSON object stands for.
 * @throws OAuthError `invalid_request`
 */
export const formOfJson = (text: string): string =>
  new URLSearchParams(Object.entries(objectIn(text)).flatMap(pairsOf)).toString()

const objectIn = (text: string): object => {
  let value: unknown
  try {
    value = text === '' ? {} : JSON.parse(text)
  } catch {
    throw refused('The body must be JSON.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refused('The body must be a JSON object.')
  return value
}

const pairsOf = ([name, value]: [string, unknown]): [string, string][] => {
  const kind = kinds.get(name)
  if (kind === undefined) return []
  if (kind !== 'list') return [[name, fieldOf(name, value, kind)]]
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  // An empty list has to say that it is there, and empty.
  return (values.length === 0 ? [''] : values).map((one) => [name, fieldOf(name, one, kind)])
}

const expected: Readonly<Record<Kind, string>> = {
  text: 'a text',
  textOrNull: 'a text or null',
  flag: 'true or false',
  number: 'a number',
  list: 'a list of texts',
}

const fieldOf = (name: string, value: unknown, kind: Kind): string => {
  // A lone surrogate cannot be kept, and would silently become another character.
  const isText = typeof value === 'string' && value.isWellFormed()
  const isOfKind =
    isText ||
    (kind === 'flag' && typeof value === 'boolean') ||
    (kind === 'number' && typeof value === 'number') ||
    (kind === 'textOrNull' && value === null)
  if (!isOfKind) throw refused(`${name} must be ${expected[kind]}.`)
  return String(value ?? '')
}

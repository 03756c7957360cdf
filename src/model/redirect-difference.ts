/**
 * A difference between two redirect URIs: the component that differs, or a more specific reason. `character` means that
 * the refused URI contains a blank, a control character or a non-ASCII character.
 */
export type RedirectUriPart =
  | 'scheme'
  | 'host'
  | 'port'
  | 'path'
  | 'trailingSlash'
  | 'letterCase'
  | 'query'
  | 'fragment'
  | 'character'

/** The difference between a refused redirect URI and the registered URI that resembles it most. */
export interface RedirectUriDifference {
  readonly registered: string
  /** The differences, in the order of the components of a URI; `character` comes last. */
  readonly parts: readonly RedirectUriPart[]
  /** The number of characters at the beginning that both URIs have in common. */
  readonly equalStart: number
  /** The number of further characters at the end that both URIs have in common. */
  readonly equalEnd: number
}

/**
 * Compares a refused redirect URI with the registered URIs. Returns the smallest difference, or undefined if no URI is
 * registered.
 */
export const redirectUriDifference = (
  registered: readonly string[],
  refused: string,
): RedirectUriDifference | undefined => {
  const [first, ...others] = registered.map((uri) => compared(uri, refused))
  return first && others.reduce((best, one) => (isCloser(one, best) ? one : best), first)
}

const isCloser = (a: RedirectUriDifference, b: RedirectUriDifference): boolean =>
  a.parts.length === b.parts.length
    ? a.equalStart + a.equalEnd > b.equalStart + b.equalEnd
    : a.parts.length < b.parts.length

const compared = (registered: string, refused: string): RedirectUriDifference => {
  const most = Math.min(registered.length, refused.length)
  let equalStart = 0
  while (equalStart < most && registered[equalStart] === refused[equalStart]) equalStart += 1
  let equalEnd = 0
  while (equalEnd < most - equalStart && registered.at(-1 - equalEnd) === refused.at(-1 - equalEnd))
    equalEnd += 1
  return { registered, parts: differingParts(registered, refused), equalStart, equalEnd }
}

const differingParts = (registered: string, refused: string): readonly RedirectUriPart[] => {
  const [a, b] = [partsOf(registered), partsOf(refused)]
  const parts = new Set<RedirectUriPart>()
  for (const part of ['scheme', 'host', 'port', 'path', 'query', 'fragment'] as const) {
    if (a[part] === b[part]) continue
    if (part === 'path' && withoutSlash(a.path) === withoutSlash(b.path)) parts.add('trailingSlash')
    else parts.add(a[part].toLowerCase() === b[part].toLowerCase() ? 'letterCase' : part)
  }
  if (/[^\x21-\x7E]/.test(refused)) parts.add('character')
  return [...parts]
}

const withoutSlash = (path: string): string => path.replace(/\/$/, '')

/** Splits a URI with the pattern of RFC 3986 appendix B, which also matches an invalid URI. */
const partsOf = (uri: string) => {
  const [, scheme = '', authority = '', path = '', query = '', fragment = ''] =
    /^([^:/?#]*:)?(\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(uri) ?? []
  const [, host = '', port = ''] = /^(.*?)(:\d*)?$/s.exec(authority) ?? []
  return { scheme, host, port, path, query, fragment }
}

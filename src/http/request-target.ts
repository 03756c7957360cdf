import { checkTargetLength } from '../model/bounds.ts'
import { OAuthError } from '../model/oauth-error.ts'
import { isNamed } from '../model/parameters.ts'

/** Returns the path and query of a request target, without a host. */
export const partsOf = (target: string): { readonly path: string; readonly query: string } => {
  const own = target.replace(origin, '').replace(/#.*$/s, '')
  const mark = own.indexOf('?')
  return mark < 0
    ? { path: own, query: '' }
    : { path: own.slice(0, mark), query: own.slice(mark + 1) }
}

/**
 * Refuses a request target that a path filter and the URL parser of the application may interpret differently. An
 * attacker could otherwise bypass the filter, for instance a filter for `/admin`.
 * @param target the request target as the client sent it
 * @throws OAuthError with the status 404 for a plain or encoded dot segment, 400 for credentials before the host, or 414
 * for a target that is too long
 */
export const checkTarget = (target: string): void => {
  checkTargetLength(target)
  if (userInfo.test(target))
    throw new OAuthError('invalid_request', 'The request target must not contain credentials.')
  if (dotSegment.test(partsOf(target).path))
    throw new OAuthError('invalid_request', 'There is nothing at this address.', { status: 404 })
}

const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i
const userInfo = /^[a-z][a-z0-9+.-]*:[/\\]*[^/\\?#]*@/i
const dotSegment = /(?:[/\\]|%2f|%5c|^)(?:\.|%2e){1,2}(?:[/\\]|%2f|%5c|$)/i

const unreserved = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~'

/**
 * Creates a check that a raw query contains only unreserved characters (RFC 3986 §2.3) and the configured characters.
 * If `%` is configured, two hexadecimal digits must follow each `%`. The check throws an OAuthError `invalid_request`.
 */
export const queryCharacters = (allowed: string): ((query: string) => void) => {
  const valid = new Set([...unreserved, ...allowed.replaceAll('%', '')])
  const isEncoding = (query: string, at: number): boolean =>
    allowed.includes('%') && /^%[0-9A-Fa-f]{2}$/.test(query.slice(at, at + 3))
  return (query) => {
    let at = 0
    while (at < query.length) {
      if (valid.has(query.charAt(at))) at += 1
      else if (isEncoding(query, at)) at += 3
      else throw new OAuthError('invalid_request', problemOf(query.slice(at), allowed))
    }
  }
}

const problemOf = (rest: string, allowed: string): string => {
  if (rest.startsWith('%') && allowed.includes('%'))
    return 'The query string contains a % that is not followed by two hexadecimal digits.'
  return `The query string contains the character ${nameOf(rest)}, which the setting allowedUrlencodeCharacters (OAUTH2SERVER_ALLOWED_URLENCODE_CHARACTERS) does not allow.`
}

// An error description cannot contain quotation marks, backslashes or non-ASCII characters (RFC 6749 §5.2).
const nameOf = ([character = '']: string): string =>
  /[!#-[\]-~]/.test(character)
    ? character
    : `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** The paths of the server. */
export interface Addresses {
  handles(path: string): boolean
  /** All paths; a path that ends in `/*` includes all paths below it. */
  readonly list: readonly string[]
}

/**
 * Returns the paths that the server handles: the given paths, and all paths below `prefix`. For a path with a
 * parameter, the server handles everything below the directory that contains the parameter. For a path that ends in a
 * slash, the server handles the path with and without the slash, and everything below the path. A path in `roots`
 * is an exception and does not include the paths below, because the application may have pages there.
 */
export const addressesOf = (
  paths: readonly string[],
  { roots, prefix }: { readonly roots: readonly string[]; readonly prefix: string },
): Addresses => {
  const claimed = [prefix, ...paths.flatMap((path) => folderOf(path, roots) ?? [])]
  const folders = [...new Set(claimed)].filter(
    (folder) => !claimed.some((other) => other !== folder && folder.startsWith(other)),
  )
  const isWithin = (path: string): boolean => folders.some((folder) => path.startsWith(folder))
  const single = paths.filter((path) => !path.includes(':')).flatMap(withAndWithoutSlash)
  const exact = new Set(single.filter((path) => !isWithin(path)))
  return {
    handles: (path) => exact.has(path) || isWithin(path),
    list: [...exact, ...folders.map((folder) => `${folder}*`)],
  }
}

const folderOf = (path: string, roots: readonly string[]): string | undefined => {
  const parameter = path.indexOf(':')
  if (parameter >= 0) return path.slice(0, path.lastIndexOf('/', parameter) + 1)
  return path.endsWith('/') && !roots.includes(path) ? path : undefined
}

/** Returns the path. If the path ends in a slash and is not `/`, also returns the path without the slash. */
const withAndWithoutSlash = (path: string): readonly string[] =>
  path.endsWith('/') && path.length > 1 ? [path, path.slice(0, -1)] : [path]

/** Joins the path and the query, and removes `access_token` from the query. */
export const addressWith = (path: string, query: string): string => {
  const kept = query.split('&').filter((pair) => !isNamed(pair, 'access_token'))
  return kept.join('') === '' ? path : `${path}?${kept.join('&')}`
}

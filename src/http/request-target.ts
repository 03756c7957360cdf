import { checkTargetLength } from '../model/bounds.ts'
import { OAuthError } from '../model/oauth-error.ts'

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

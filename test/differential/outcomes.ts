import type { HttpResponse } from './peer.ts'

/** Returns the outcome of an authorization request as a short text. */
export const ofAuthorization = (end: URL | HttpResponse): string => {
  if (!(end instanceof URL)) {
    // The format of the response does not matter: the server refused the request without a redirect.
    return end.status >= 500 ? `${end.status}` : 'refused here'
  }
  const fragment = new URLSearchParams(end.hash.slice(1))
  const query = end.searchParams
  const error = query.get('error') ?? fragment.get('error')
  if (error !== null) return `redirect: ${error}`
  if (query.has('code')) return 'redirect: code'
  if (fragment.has('access_token')) return 'redirect: token in the fragment'
  return 'redirect: nothing'
}

/** Returns the outcome of a request to another endpoint as a short text. */
export const ofResponse = ({ status, body }: HttpResponse): string => {
  if (typeof body.error === 'string') return `${status} ${body.error}`
  if (typeof body.access_token === 'string')
    return `${status} token${typeof body.refresh_token === 'string' ? ' and refresh token' : ''}`
  if (typeof body.active === 'boolean') return `${status} ${body.active ? 'active' : 'inactive'}`
  return `${status}`
}

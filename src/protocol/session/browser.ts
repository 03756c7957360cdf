import type { HttpRequest } from '../../http/request.ts'
import type { BrowserCredentials } from './sessions.ts'

/** Returns the parts of a request that identify and bind a session. Pages only use the cookie. */
export const browserOf = ({
  headers,
  address,
  userAgent,
  raw,
}: HttpRequest): BrowserCredentials => ({
  cookie: headers.get('cookie'),
  address,
  userAgent,
  raw,
})

/**
 * Returns whether the browser reports that another site sent the form. `Sec-Fetch-Site` decides if the browser sends
 * it. Forms of this server have the origin `null` because of `no-referrer`, so for `null` the CSRF token decides.
 */
export const isForeign = ({ headers }: HttpRequest, issuer: string): boolean => {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  const origin = headers.get('origin')
  return origin !== null && origin !== 'null' && origin !== new URL(issuer).origin
}

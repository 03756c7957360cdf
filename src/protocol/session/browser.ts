import type { HttpRequest } from '../../http/request.ts'
import type { BrowserCredentials } from './sessions.ts'

/** Returns the parts of a request that identify its session and its browser. */
export const browserOf = (http: HttpRequest): BrowserCredentials => ({
  cookie: http.header('cookie'),
  address: http.address,
  userAgent: http.userAgent,
  raw: http.raw,
})

/**
 * Returns whether `Sec-Fetch-Site` shows that another site sent the form; without this header, `Origin` decides. The
 * origin `null` is accepted, because browsers send it for pages with the referrer policy `no-referrer`, such as the
 * pages of this server. Callers also check the CSRF token.
 */
export const isForeign = (http: HttpRequest, issuer: string): boolean => {
  const site = http.header('sec-fetch-site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  const origin = http.header('origin')
  return origin !== null && origin !== 'null' && origin !== new URL(issuer).origin
}

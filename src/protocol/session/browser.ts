import type { HttpRequest } from '../../http/request.ts'
import type { BrowserCredentials } from './sessions.ts'

/** What of a request a session is found by and bound to: pages look at the cookie only. */
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
 * Whether the browser says that another site sent this form. `Sec-Fetch-Site` decides where it is sent;
 * our own forms have the origin `null` under `no-referrer`, so that is left to the CSRF token.
 */
export const isForeign = ({ headers }: HttpRequest, issuer: string): boolean => {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  const origin = headers.get('origin')
  return origin !== null && origin !== 'null' && origin !== new URL(issuer).origin
}

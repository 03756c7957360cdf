import { refusalOf } from '../../http/refusal.ts'
import { type Connection, FetchSource, HttpRequest } from '../../http/request.ts'
import { checkHeaderLengths, checkTargetLength } from '../../model/bounds.ts'
import type { UserProxy } from '../../model/user.ts'
import type { Callers, Configuration } from '../server-context.ts'
import { browserOf } from './browser.ts'
import { clientAddress } from './client-address.ts'

/** Returns the user of a request with a valid session or token; otherwise null. */
export const currentUser = async (
  request: Request,
  { resourceServer, sessions, settings }: Callers & Configuration,
  { remoteAddress, raw }: Connection = {},
): Promise<UserProxy | null> => {
  const forwardedFor = request.headers.get('x-forwarded-for')
  const address = clientAddress(settings.trustedProxies)(remoteAddress, forwardedFor)
  const http = new HttpRequest(new FetchSource(request), address, raw ?? request)
  try {
    checkHeaderLengths(request.headers.values())
    checkTargetLength(request.url)
    const credentials = { ...browserOf(http), authorization: http.header('authorization') }
    const { auth } = await resourceServer.resolve({
      ...credentials,
      method: http.method,
      path: http.path,
      query: http.query,
      headers: () => http.headers,
    })
    // Accept a session cookie without the JWT, because a browser cannot send the JWT when it opens a page.
    return auth.kind === 'anonymous'
      ? ((await sessions.signedIn(browserOf(http)))?.user ?? null)
      : auth.user
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal && refusal.status < 500) return null
    throw error
  }
}

import type { HttpRequest } from '../../../http/request.ts'
import type { Auth } from '../../../model/auth.ts'
import type { Callers } from '../../server-context.ts'

/** Authenticates a request by its token. Does not accept a session. @throws OAuthError, JWTExtendedException */
export const tokenHolder = async (
  { headers, method, path, query, address, userAgent, raw }: HttpRequest,
  { resourceServer }: Callers,
): Promise<Auth> => {
  const { auth, refusal } = await resourceServer.resolve({
    authorization: headers.get('authorization'),
    cookie: headers.get('cookie'),
    method,
    path,
    query,
    address,
    userAgent,
    raw,
    headers: () => headers,
  })
  if (auth.kind === 'session' || auth.kind === 'anonymous')
    throw refusal ?? resourceServer.unauthenticated()
  return auth
}

import { z } from 'zod'
import type { HttpRequest } from '../../../http/request.ts'
import type { Auth } from '../../../model/auth.ts'
import { OAuthError } from '../../../model/oauth-error.ts'
import type { Token } from '../../../model/token.ts'
import { flag, text, userId } from '../../../pages/shapes/shape.ts'
import type { Callers } from '../../server-context.ts'

/** The holder of a token. */
export interface TokenHolder extends Auth {
  readonly token: Token
}

/**
 * Authenticates a request by its token. Does not accept a session.
 * @param inForm the token in the body, for an endpoint that accepts tokens in the body (RFC 6750 §2.2)
 * @throws OAuthError, JWTExtendedException if the request contains no valid token
 */
export const tokenHolder = async (
  http: HttpRequest,
  { resourceServer }: Callers,
  inForm?: string,
): Promise<TokenHolder> => {
  const inHeader = http.header('authorization')
  if (inForm !== undefined && inHeader !== null)
    throw new OAuthError('invalid_request', 'The request contains two tokens.')
  const { auth, token, refusal } = await resourceServer.resolve({
    authorization: inForm === undefined ? inHeader : `Bearer ${inForm}`,
    cookie: http.header('cookie'),
    method: http.method,
    path: http.path,
    query: http.query,
    address: http.address,
    userAgent: http.userAgent,
    raw: http.raw,
    headers: () => http.headers,
  })
  if (!token) throw refusal ?? resourceServer.unauthenticated()
  return { ...auth, token }
}

/** The user of a token in JSON, with the e-mail address if the scope `user:email` was granted. */
export const tokenUser = () =>
  z.strictObject({ id: userId, email: text.optional(), email_verified: flag.optional() })

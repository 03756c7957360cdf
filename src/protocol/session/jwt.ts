import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { withoutClaims } from '../../crypto/jose.ts'
import {
  JWTDecodeError,
  JWTExpiredToken,
  JWTExtendedException,
  JWTInvalidHeaderError,
  JWTInvalidIssuer,
  JWTNoAuthorizationError,
} from '../../model/jwt-error.ts'
import type { JwtContext, VerifyJwt } from '../../model/verify-jwt.ts'

/** The JWT type, which distinguishes the JWT of a session from other JWTs of the host. RFC 8725 §3.11. */
const type = 'session+jwt'
const required = ['sub', 'iat', 'exp', 'jti', 'aud', 'sid']

/** Creates the JWT that the pages of a session embed, to prevent cross-site request forgery. `jti` must be random. */
export const createJwt = (
  { userId, sessionId, audience, keys, now, expiresIn }: JwtContext,
  jti: string,
): Promise<string> => {
  const [key] = keys
  if (!key) throw new TypeError('No key is configured for signing.')
  const seconds = Math.floor(now / 1000)
  return new SignJWT({ sid: sessionId })
    .setProtectedHeader({ alg: 'HS256', typ: type })
    .setSubject(String(userId))
    .setAudience(audience)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + expiresIn)
    .setJti(jti)
    .sign(key)
}

/**
 * Returns the claims of the JWT in the configured header if the JWT was issued for this user and this session.
 * @throws JWTInvalidHeaderError, JWTDecodeError, JWTExpiredToken, JWTInvalidIssuer, JWTNoAuthorizationError
 */
export const jwtVerifyToken: VerifyJwt = async (headers, context) => {
  const claims = await verified(tokenIn(headers, context), context)
  if (claims.sub !== String(context.userId) || claims.sid !== context.sessionId)
    throw new JWTInvalidIssuer()
  return claims
}

const tokenIn = (headers: Headers, { header, headerType }: JwtContext): string => {
  const value = headers.get(header)?.trim() ?? ''
  if (headerType === null) {
    if (value === '') throw new JWTInvalidHeaderError({ errors: [{ header }] })
    return value
  }
  const [word = '', ...rest] = value.split(/ +/)
  if (word.toLowerCase() !== headerType.toLowerCase() || rest.length === 0)
    throw new JWTInvalidHeaderError({ errors: [{ header, type: headerType }] })
  return rest.join(' ')
}

// Base64url without padding (RFC 7515 §2). Check the encoding here, because `jwtVerify` also accepts other encodings.
const compact = /^[\w-]+\.[\w-]+\.[\w-]+$/

const verified = async (token: string, context: JwtContext): Promise<JWTPayload> => {
  if (!compact.test(token)) throw new JWTDecodeError()
  for (const key of context.keys) {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: ['HS256'],
        typ: type,
        audience: context.audience,
        requiredClaims: required,
        currentDate: new Date(context.now),
      })
      checkLife(payload, context)
      return payload
    } catch (error) {
      if (error instanceof errors.JWSSignatureVerificationFailed) continue
      throw translated(error)
    }
  }
  throw new JWTDecodeError()
}

/** The tolerated clock skew between two nodes in seconds. */
const skew = 60

// Enforce the configured lifetime, even if `exp` is later.
const checkLife = ({ iat = 0, exp = 0 }: JWTPayload, { now, expiresIn }: JwtContext): void => {
  if (iat + expiresIn <= now / 1000) throw new JWTExpiredToken()
  if (iat > now / 1000 + skew || exp - iat > expiresIn) throw new JWTNoAuthorizationError()
}

const translated = (error: unknown): Error => {
  if (error instanceof JWTExtendedException) return error
  const cause = withoutClaims(error)
  if (error instanceof errors.JWTExpired) return new JWTExpiredToken({ cause })
  if (error instanceof errors.JWTClaimValidationFailed)
    return new JWTNoAuthorizationError({ cause })
  return new JWTDecodeError({ cause })
}

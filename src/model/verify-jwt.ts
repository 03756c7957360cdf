import type { UserId } from './user.ts'

/** The claims of a JWT. RFC 7519 §4. */
export interface JwtPayload {
  readonly [claim: string]: unknown
  readonly iss?: string
  readonly sub?: string
  readonly aud?: string | string[]
  readonly jti?: string
  /** Seconds since the epoch. */
  readonly nbf?: number
  /** Seconds since the epoch. */
  readonly exp?: number
  /** Seconds since the epoch. */
  readonly iat?: number
}

/** The values from which the JWT of a session is created and verified. */
export interface JwtContext {
  readonly userId: UserId
  /** The public ID of the session, which differs from the secret identifier in the cookie. */
  readonly sessionId: string
  readonly audience: string
  /** The keys that verify a JWT. The first key also signs new JWTs. */
  readonly keys: readonly Uint8Array[]
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The lifetime of a new JWT in seconds. */
  readonly expiresIn: number
  /** The name of the header that contains the JWT. */
  readonly header: string
  /** The word before the JWT, such as `Bearer`; null if the header contains only the JWT. */
  readonly headerType: string | null
}

/**
 * Verifies the JWT in the request headers, and returns its claims. Throws for an invalid JWT.
 * `OAUTH2SERVER_JWT_VERYFICATION_FACTORY` can replace the built-in function.
 */
export type VerifyJwt = (headers: Headers, context: JwtContext) => JwtPayload | Promise<JwtPayload>

import type { JWTPayload } from 'jose'
import type { UserId } from './user.ts'

/** What the JWT of a session is made from and judged by. */
export interface JwtContext {
  readonly userId: UserId
  /** Names the session; it is not the identifier in the cookie. */
  readonly sessionId: string
  readonly audience: string
  /** The current key first; earlier ones verify, they do not sign. */
  readonly keys: readonly Uint8Array[]
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Seconds. */
  readonly expiresIn: number
  readonly header: string
  readonly headerType: string | null
}

/** Verifies the JWT in the request headers: what `OAUTH2SERVER_JWT_VERYFICATION_FACTORY` names. */
export type VerifyJwt = (headers: Headers, context: JwtContext) => JWTPayload | Promise<JWTPayload>

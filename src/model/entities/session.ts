import type { Digest } from '../../crypto/digest.ts'
import { type ColumnsOf, claimsOf, entity, type RecordOf } from './entity.ts'
import { number, sealed, text, userKey } from './field.ts'

const fields = {
  /** The digest of the session identifier in the cookie. */
  id: text<Digest>(),
  userId: userKey(),
  /** The IP address of the browser at the login. */
  address: text(),
  userAgent: text(),
  createdAt: number(),
  expiresAt: number(),
  lastSeenAt: number(),
}
export const sessionClaims = claimsOf('session', fields)
/** The fields of a session, with the seal of the row. */
const row = { ...fields, seal: sealed(sessionClaims) }

/** The session of a user in a browser. */
export interface StoredSession extends RecordOf<typeof row> {}
export const sessionCodec = entity('oauth2server_session', row)
export type SessionRow = ColumnsOf<typeof sessionCodec>

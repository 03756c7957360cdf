import type { Digest } from '../../crypto/digest.ts'
import type { Sealed } from '../../crypto/sealed.ts'
import { claimsOf, type RecordOf, type RowOf, rowCodec } from './entity.ts'
import { number, text, userKey } from './field.ts'

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
/** The fields of a session, with the seal of the row. */
const row = { ...fields, seal: text<Sealed>() }

/** The session of a user in a browser. */
export interface StoredSession extends RecordOf<typeof row> {}
export type SessionRow = RowOf<typeof row>
export const sessionCodec = rowCodec(row)
export const sessionClaims = claimsOf('session', fields)

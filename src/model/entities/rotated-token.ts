import type { Digest } from '../../crypto/digest.ts'
import type { Sealed } from '../../crypto/sealed.ts'
import { claimsOf, type RecordOf, type RowOf, rowCodec } from './entity.ts'
import { number, text } from './field.ts'

const fields = {
  digest: text<Digest>(),
  authorizationId: number(),
  successor: text<Digest>(),
  /** The digest of the parameters of the request that redeemed the token. */
  parameters: text(),
  rotatedAt: number(),
}
const row = { ...fields, seal: text<Sealed>() }

/** A rotated refresh token. A request with a rotated token is either a retry or the use of a stolen token. */
export interface RotatedRefreshToken extends RecordOf<typeof fields> {}
export interface StoredRotation extends RecordOf<typeof row> {}
export type RotatedTokenRow = RowOf<typeof row>
export const rotatedTokenCodec = rowCodec(row)
/**
 * The claims of a rotated refresh token. Without this seal, an attacker who can write rows could insert a token as
 * rotated. The attacker could then present this token, and would receive the tokens of the alleged successor.
 */
export const rotationClaims = claimsOf('rotated_refresh_token', fields)

import type { Digest } from '../../crypto/digest.ts'
import { claimsOf, entity, type RecordOf } from './entity.ts'
import { number, sealed, text } from './field.ts'

const fields = {
  digest: text<Digest>(),
  authorizationId: number(),
  successor: text<Digest>(),
  /** The digest of the parameters of the request that redeemed the token. */
  parameters: text(),
  rotatedAt: number(),
}
/** A rotated refresh token. A request with a rotated token is either a retry or the use of a stolen token. */
export interface RotatedRefreshToken extends RecordOf<typeof fields> {}
/**
 * The claims of a rotated refresh token. Without this seal, an attacker who can write rows could insert a token as
 * rotated. The attacker could then present this token, and would receive the tokens of the alleged successor.
 */
export const rotationClaims = claimsOf('rotated_refresh_token', fields)

const row = { ...fields, seal: sealed(rotationClaims) }

export interface StoredRotation extends RecordOf<typeof row> {}
export const rotatedTokenCodec = entity('oauth2server_rotated_refresh_token', row, {
  key: ['digest'],
})

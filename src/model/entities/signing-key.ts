import type { Sealed } from '../../crypto/sealed.ts'
import { claimsOf, type RecordOf, type RowOf, rowCodec } from './entity.ts'
import { number, text } from './field.ts'

const fields = {
  /** The `kid` of the key (RFC 7517 §4.5). */
  id: text(),
  algorithm: text(),
  /** A JWK as JSON (RFC 7517). */
  publicKey: text(),
  /** Milliseconds since the epoch. */
  createdAt: number(),
}
const row = { ...fields, privateKey: text<Sealed>() }

/** A stored key pair for signing tokens. */
export interface StoredSigningKey extends RecordOf<typeof row> {}
export type SigningKeyRow = RowOf<typeof row>
export const signingKeyCodec = rowCodec(row)
/** The claims of a private key, including the published public key. */
export const signingKeyClaims = claimsOf('signing_key', fields)

import { claimsOf, entity, type RecordOf } from './entity.ts'
import { number, sealed, text } from './field.ts'

const fields = {
  /** The `kid` of the key (RFC 7517 §4.5). */
  id: text(),
  algorithm: text(),
  /** A JWK as JSON (RFC 7517). */
  publicKey: text(),
  /** Milliseconds since the epoch. */
  createdAt: number(),
}
/** The claims of a private key, including the published public key. */
export const signingKeyClaims = claimsOf('signing_key', fields)
const row = { ...fields, privateKey: sealed(signingKeyClaims) }

/** A stored key pair for signing tokens. */
export interface StoredSigningKey extends RecordOf<typeof row> {}
export const signingKeyCodec = entity('oauth2server_signing_key', row)

import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'

/** Parses a public P-256 key from PEM or JWK (RFC 7517). Returns undefined for any other key and for a private key. */
export const p256Key = (source: string | object): KeyObject | undefined => {
  if (typeof source === 'string' ? source.includes('PRIVATE KEY') : 'd' in source) return undefined
  try {
    const key = createPublicKey(
      typeof source === 'string' ? source : { key: source as JsonWebKey, format: 'jwk' },
    )
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined
  } catch {
    return undefined
  }
}

import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'

/** A public key of P-256, given as PEM or as JWK (RFC 7517); undefined for any other, and for a private one. */
export const p256Key = (given: string | object): KeyObject | undefined => {
  if (typeof given === 'string' ? given.includes('PRIVATE KEY') : 'd' in given) return undefined
  try {
    const key = createPublicKey(
      typeof given === 'string' ? given : { key: given as JsonWebKey, format: 'jwk' },
    )
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined
  } catch {
    return undefined
  }
}

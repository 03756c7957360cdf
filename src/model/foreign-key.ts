// Decides which public keys the server accepts from clients, before any signature is verified with them.

/** The members of a JSON Web Key. RFC 7517 §4. */
export type UncheckedKey = Readonly<Record<string, unknown>>

/** The private members of RFC 7518 §6.2.2, §6.3.2 and §6.4.1, and of the key type AKP. */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/** The supported signature algorithms, by key type and curve. */
const algorithmsByKind: Readonly<Record<string, readonly string[]>> = {
  RSA: ['RS256', 'PS256'],
  'EC P-256': ['ES256'],
  'OKP Ed25519': ['EdDSA', 'Ed25519'],
}

export const acceptedKeys = 'RSA, EC with P-256 or OKP with Ed25519'
const minRsaBits = 2_048
/** The maximum length of an RSA key. Verifying a signature takes longer with a longer key. */
const maxRsaBits = 8_192
/**
 * The maximum public exponent. Verifying a signature takes time in proportion to the length of the exponent: an
 * exponent of 3,071 bits takes a hundred times as long as this one.
 */
const maxExponent = 65_537
/** The base64url characters of a modulus of `maxRsaBits`, with a leading zero byte that some libraries add. */
const maxModulusLength = Math.ceil(((maxRsaBits / 8 + 1) * 4) / 3)
const maxExponentLength = 8
const base64url = /^[A-Za-z0-9_-]+$/

/** Returns whether a key contains a secret: a symmetric or a private key. */
export const isSecretKey = (key: UncheckedKey): boolean =>
  key.kty === 'oct' || privateMembers.some((name) => Object.hasOwn(key, name))

/** Returns the signature algorithms for a type of key; empty for an unsupported type or curve. */
export const algorithmsOf = ({ kty, crv }: UncheckedKey): readonly string[] =>
  (kty === 'RSA' ? algorithmsByKind.RSA : algorithmsByKind[`${kty} ${crv}`]) ?? []

/**
 * Returns why the server does not verify signatures with a public key; undefined for an acceptable key. Decodes only
 * short texts, so that the check itself costs little. Does not check whether an EC point is on its curve.
 */
export const foreignKeyProblem = (key: UncheckedKey): string | undefined => {
  if (isSecretKey(key)) return 'The key must not be secret.'
  if (algorithmsOf(key).length === 0) return `The key must be of type ${acceptedKeys}.`
  return key.kty === 'RSA' ? rsaProblem(key) : undefined
}

const rsaProblem = ({ n, e }: UncheckedKey): string | undefined => {
  if (typeof n !== 'string' || typeof e !== 'string') return 'A key is malformed.'
  const modulus = bytesOf(n, maxModulusLength)
  if (!modulus || bitsOf(modulus) < minRsaBits || bitsOf(modulus) > maxRsaBits)
    return `An RSA key must have ${minRsaBits} to ${maxRsaBits} bits.`
  const exponent = bytesOf(e, maxExponentLength)?.reduce((sum, byte) => sum * 256 + byte, 0) ?? 0
  if (exponent % 2 === 0 || exponent < 3 || exponent > maxExponent)
    return `The exponent of an RSA key must be an odd number from 3 to ${maxExponent}.`
  return isOdd(modulus) ? undefined : 'The modulus of an RSA key must be odd.'
}

const bytesOf = (text: string, maxLength: number): Uint8Array | undefined =>
  text.length <= maxLength && base64url.test(text) ? Buffer.from(text, 'base64url') : undefined

const bitsOf = (bytes: Uint8Array): number => {
  const first = bytes.findIndex((byte) => byte !== 0)
  return first < 0 ? 0 : (bytes.length - first) * 8 - Math.clz32(bytes[first] ?? 0) + 24
}

const isOdd = (bytes: Uint8Array): boolean => (bytes.at(-1) ?? 0) % 2 === 1

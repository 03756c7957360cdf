import { createPublicKey } from 'node:crypto'
import type { JSONWebKeySet, JWK } from 'jose'
import { InvalidField } from './invalid-field.ts'
import { remoteAddressProblem } from './remote-address.ts'

// Validates the public keys of a client, which verify its assertions (RFC 7523 §2.2).

const maxKeys = 20
const maxSetLength = 16_384
const minRsaBits = 2_048
/** The maximum length of an RSA key. Verifying a signature takes longer with a longer key. */
const maxRsaBits = 8_192
const maxKeyIdLength = 255

// The private members of RFC 7518 §6.2.2, §6.3.2 and §6.4.1.
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']
const publicMembers = ['kty', 'kid', 'use', 'key_ops', 'alg', 'crv', 'x', 'y', 'n', 'e'] as const

/** The supported signature algorithms, by key type and curve. */
const algorithmsOf: Readonly<Record<string, readonly string[]>> = {
  RSA: ['RS256', 'PS256'],
  'EC P-256': ['ES256'],
  'OKP Ed25519': ['EdDSA', 'Ed25519'],
}

const refused = (sentence: string): InvalidField => new InvalidField('jwks', sentence)

/**
 * Returns the keys of a JSON Web Key Set that can authenticate a client. Keys of unsupported types are ignored
 * (RFC 7517 §5). A private key makes the whole set invalid, because the client has disclosed the key.
 * @throws InvalidField `jwks` if the set is malformed, or contains too many keys, a secret key or no usable key
 */
export const clientKeys = (document: unknown): JSONWebKeySet => {
  const usable = publicOnly(document).filter(isForSignatures).map(publicKey)
  if (usable.length === 0)
    throw refused(
      'The set must contain a signature key of type RSA, EC with P-256 or OKP with Ed25519.',
    )
  return { keys: usable }
}

type UncheckedKey = Readonly<Record<string, unknown>>

/**
 * Returns the keys of a set unchanged if all keys are public.
 * @throws InvalidField `jwks`
 */
export const publicOnly = (document: unknown): readonly UncheckedKey[] => {
  const keys = isObject(document) ? document.keys : undefined
  if (!Array.isArray(keys) || !keys.every(isObject))
    throw refused('The keys must be a JSON Web Key Set (RFC 7517).')
  if (keys.length > maxKeys) throw refused(`There can be at most ${maxKeys} keys.`)
  const isSecret = (key: UncheckedKey) =>
    key.kty === 'oct' || secretMembers.some((name) => Object.hasOwn(key, name))
  if (keys.some(isSecret)) throw refused('The key set must not contain secret keys.')
  return keys
}

/**
 * Validates the keys and returns the text that the client record stores.
 * @throws InvalidField `jwks`
 */
export const validJwks = (text: string): string => {
  if (text.length > maxSetLength)
    throw refused(`The keys are longer than ${maxSetLength} characters.`)
  return JSON.stringify(clientKeys(parsed(text)))
}

/**
 * Validates the URL of a client's keys, and returns the URL unchanged.
 * @throws InvalidField `jwks_uri`
 */
export const validJwksUri = (
  address: string,
  rules: { readonly allowPrivate: boolean },
): string => {
  const problem = remoteAddressProblem(address, rules)
  if (problem !== undefined) throw new InvalidField('jwks_uri', problem)
  return address
}

const isObject = (value: unknown): value is UncheckedKey =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw refused('The keys must be a JSON Web Key Set (RFC 7517).')
  }
}

const isForSignatures = ({ kty, crv, use, alg }: UncheckedKey): boolean => {
  const algorithms = algorithmsOf[kty === 'RSA' ? 'RSA' : `${kty} ${crv}`]
  const isSignatureUse = use === undefined || use === 'sig'
  return (
    isSignatureUse &&
    algorithms !== undefined &&
    (alg === undefined || algorithms.includes(`${alg}`))
  )
}

const publicKey = (source: UncheckedKey): JWK => {
  const { kid } = source
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > maxKeyIdLength))
    throw refused(`The kid of a key must be a string of at most ${maxKeyIdLength} characters.`)
  // Ignore `alg` of an OKP key: EdDSA and Ed25519 are two names for the same algorithm (RFC 9864 §2.2).
  const members = publicMembers.filter((name) => name !== 'alg' || source.kty !== 'OKP')
  const key = Object.fromEntries(
    members.filter((name) => source[name] !== undefined).map((name) => [name, source[name]]),
  )
  const length = rsaLength(key)
  if (length !== undefined && (length < minRsaBits || length > maxRsaBits))
    throw refused(`An RSA key must have ${minRsaBits} to ${maxRsaBits} bits.`)
  return key
}

/**
 * Returns the length of an RSA key in bits, or undefined for another type. Also checks that an EC point is on its
 * curve.
 */
const rsaLength = (key: JWK): number | undefined => {
  try {
    return createPublicKey({ key, format: 'jwk' }).asymmetricKeyDetails?.modulusLength
  } catch {
    throw refused('A key is malformed.')
  }
}

import { createPublicKey } from 'node:crypto'
import type { JSONWebKeySet, JWK } from 'jose'
import { InvalidField } from './invalid-field.ts'
import { remoteAddressProblem } from './remote-address.ts'

/** The public keys of a client, with which it signs its assertions (RFC 7523 §2.2): what of them is accepted. */

const mostKeys = 20
const largestSet = 16_384
const shortestRsaKey = 2_048
/** A longer one costs more at each check than it protects. */
const longestRsaKey = 8_192
const longestKeyId = 255

// Members of RFC 7518 §6.2.2, §6.3.2 and §6.4.1 that nobody but the client may know.
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']
const publicMembers = ['kty', 'kid', 'use', 'key_ops', 'alg', 'crv', 'x', 'y', 'n', 'e'] as const

/** What a key can be used for here, by its type and curve. */
const algorithmsOf: Readonly<Record<string, readonly string[]>> = {
  RSA: ['RS256', 'PS256'],
  'EC P-256': ['ES256'],
  'OKP Ed25519': ['EdDSA', 'Ed25519'],
}

const refused = (sentence: string): InvalidField => new InvalidField('jwks', sentence)

/**
 * The keys of a JSON Web Key Set that can prove a client. Those of types that are not supported are left out, as
 * RFC 7517 §5 wants it; a secret one makes the whole set worthless, since it is not secret any more.
 * @throws InvalidField `jwks` for what is no such set, or has no key that can be used
 */
export const clientKeys = (document: unknown): JSONWebKeySet => {
  const usable = publicOnly(document).filter(isForSignatures).map(publicKey)
  if (usable.length === 0)
    throw refused('There is no key for signatures of RSA, EC with P-256 or OKP with Ed25519.')
  return { keys: usable }
}

type GivenKey = Readonly<Record<string, unknown>>

/**
 * The keys of a set as they were given, when no secret one is among them.
 * @throws InvalidField `jwks`
 */
export const publicOnly = (document: unknown): readonly GivenKey[] => {
  const keys = isObject(document) ? document.keys : undefined
  if (!Array.isArray(keys) || !keys.every(isObject))
    throw refused('The keys must be a JSON Web Key Set (RFC 7517).')
  if (keys.length > mostKeys) throw refused(`There can be at most ${mostKeys} keys.`)
  const isSecret = (key: GivenKey) =>
    key.kty === 'oct' || secretMembers.some((name) => Object.hasOwn(key, name))
  if (keys.some(isSecret))
    throw refused('The keys must be public ones: there is a secret among them.')
  return keys
}

/**
 * The keys as a client's record keeps them.
 * @throws InvalidField `jwks`
 */
export const validJwks = (text: string): string => {
  if (text.length > largestSet) throw refused(`The keys are larger than ${largestSet} bytes.`)
  return JSON.stringify(clientKeys(parsed(text)))
}

/**
 * The address of a client's keys.
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

const isObject = (value: unknown): value is GivenKey =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw refused('The keys must be a JSON Web Key Set (RFC 7517).')
  }
}

const isForSignatures = ({ kty, crv, use, alg }: GivenKey): boolean => {
  const algorithms = algorithmsOf[kty === 'RSA' ? 'RSA' : `${kty} ${crv}`]
  const isMeant = use === undefined || use === 'sig'
  return isMeant && algorithms !== undefined && (alg === undefined || algorithms.includes(`${alg}`))
}

const publicKey = (given: GivenKey): JWK => {
  const { kid } = given
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > longestKeyId))
    throw refused(`The kid of a key must be a string of at most ${longestKeyId} characters.`)
  // EdDSA and Ed25519 are two names for the same (RFC 9864 §2.2): the type of the key says it already.
  const members = publicMembers.filter((name) => name !== 'alg' || given.kty !== 'OKP')
  const key = Object.fromEntries(
    members.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  )
  const length = rsaLength(key)
  if (length !== undefined && (length < shortestRsaKey || length > longestRsaKey))
    throw refused(`An RSA key must have ${shortestRsaKey} to ${longestRsaKey} bits.`)
  return key
}

/** The bits of an RSA key; undefined for another. It checks too that a point is on its curve. */
const rsaLength = (key: JWK): number | undefined => {
  try {
    return createPublicKey({ key, format: 'jwk' }).asymmetricKeyDetails?.modulusLength
  } catch {
    throw refused('A key is malformed.')
  }
}

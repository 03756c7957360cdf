import { createPublicKey } from 'node:crypto'
import type { JSONWebKeySet, JWK } from 'jose'
import {
  acceptedKeys,
  algorithmsOf,
  foreignKeyProblem,
  isSecretKey,
  type UncheckedKey,
} from './foreign-key.ts'
import { InvalidField } from './invalid-field.ts'
import { remoteAddressProblem } from './remote-address.ts'

// Validates the public keys of a client, which verify its assertions (RFC 7523 §2.2).

const maxKeys = 20
const maxSetLength = 16_384
const maxKeyIdLength = 255

const publicMembers = ['kty', 'kid', 'use', 'key_ops', 'alg', 'crv', 'x', 'y', 'n', 'e'] as const

const refused = (sentence: string): InvalidField => new InvalidField('jwks', sentence)

/**
 * Returns the keys of a JSON Web Key Set that can authenticate a client. Keys of unsupported types are ignored
 * (RFC 7517 §5). A private key makes the whole set invalid, because the client has disclosed the key.
 * @throws InvalidField `jwks` if the set is malformed, or contains too many keys, a secret key or no usable key
 */
export const clientKeys = (document: unknown): JSONWebKeySet => {
  const usable = publicOnly(document).filter(isForSignatures).map(publicKey)
  if (usable.length === 0)
    throw refused(`The set must contain a signature key of type ${acceptedKeys}.`)
  return { keys: usable }
}

/**
 * Returns the keys of a set unchanged if all keys are public.
 * @throws InvalidField `jwks`
 */
export const publicOnly = (document: unknown): readonly UncheckedKey[] => {
  const keys = isObject(document) ? document.keys : undefined
  if (!Array.isArray(keys) || !keys.every(isObject))
    throw refused('The keys must be a JSON Web Key Set (RFC 7517).')
  if (keys.length > maxKeys) throw refused(`There can be at most ${maxKeys} keys.`)
  if (keys.some(isSecretKey)) throw refused('The key set must not contain secret keys.')
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

const isForSignatures = (key: UncheckedKey): boolean => {
  const { use, alg } = key
  const algorithms = algorithmsOf(key)
  const isSignatureUse = use === undefined || use === 'sig'
  return (
    isSignatureUse && algorithms.length > 0 && (alg === undefined || algorithms.includes(`${alg}`))
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
  checkMaterial(key)
  return key
}

/** Checks the numbers of a key, and that an EC point is on its curve. @throws InvalidField */
const checkMaterial = (key: JWK): void => {
  const problem = foreignKeyProblem(key)
  if (problem !== undefined) throw refused(problem)
  try {
    createPublicKey({ key, format: 'jwk' })
  } catch {
    throw refused('A key is malformed.')
  }
}

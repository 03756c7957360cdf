import {
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  type JSONWebKeySet,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose'
import { signatureAlgorithms } from '../../crypto/jose.ts'
import { OutboundFailed } from '../../http/outbound/outbound.ts'
import type { Client } from '../../model/client.ts'
import { clientKeys } from '../../model/client-keys.ts'
import { foreignKeyProblem } from '../../model/foreign-key.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { ClientLookup } from '../client-lookup.ts'
import type { Configuration, Environment, ServerContext, Throttling } from '../server-context.ts'

/** The tolerated clock skew in seconds. */
export const clockSkew = 60
/** If fetched keys are older than this number of seconds, a JWT with an unknown key causes another fetch. */
const minKeyAge = 60
const maxKeySetSize = 65_536
/**
 * The maximum number of keys with which the server verifies one JWT. The client chooses its keys and a stranger sends
 * the JWT, so each further key would cost the server time.
 */
const maxTriedKeys = 3

/** A JWT that a client sent. */
export interface ClientJwt {
  readonly jwt: string
  /** The noun that names the JWT in errors. */
  readonly noun: string
  /** Returns the error for an invalid JWT. */
  readonly refused: (sentence: string, cause?: unknown) => OAuthError
  /** The time at which the JWT must be valid, in milliseconds since the epoch; by default the current time. */
  readonly at?: number
}

interface KeyLookup extends ClientLookup {
  /** The maximum age of fetched keys in seconds; older keys are fetched again. */
  readonly maxAge?: number
}

/**
 * Returns the registered keys of a client, or fetches them from its `jwks_uri`.
 * @throws OAuthError if the keys cannot be fetched or are invalid; 429 after too many fetches
 */
const keysOf = async (
  { jwks, jwksUri }: Client,
  refused: ClientJwt['refused'],
  { outbound, limits }: Pick<ServerContext, 'outbound'> & Throttling,
  { address = '', maxAge }: KeyLookup,
): Promise<JSONWebKeySet> => {
  if (jwksUri === null) return acceptable(JSON.parse(jwks ?? '{"keys":[]}') as JSONWebKeySet)
  try {
    return await outbound.json({
      url: jwksUri,
      accept: ['application/json', 'application/*+json'],
      largest: maxKeySetSize,
      read: clientKeys,
      requester: address,
      purpose: 'keys',
      beforeSending: () => limits.consume('clientDocuments', address),
      ...(maxAge === undefined ? {} : { maxAge }),
    })
  } catch (error) {
    const sentence = `The keys of the client could not be used: ${error instanceof Error ? error.message : ''}`
    if (error instanceof InvalidField) throw refused(sentence, error)
    if (!(error instanceof OutboundFailed)) throw error
    if (!error.isOutage) throw refused(sentence, error)
    // The server could not check the credentials, so the client may retry the same request.
    const headers = { 'retry-after': '5' }
    throw new OAuthError('temporarily_unavailable', sentence, { cause: error, headers })
  }
}

// Earlier versions stored keys that are not accepted any more.
const acceptable = ({ keys }: JSONWebKeySet): JSONWebKeySet => ({
  keys: keys.filter((key) => foreignKeyProblem({ ...key }) === undefined),
})

/**
 * A public key whose private key nobody has. The server verifies JWTs of unknown clients with this key, so that the
 * response time does not reveal which clients exist.
 */
const nobodysKeys: JSONWebKeySet = {
  keys: [
    {
      kty: 'EC',
      crv: 'P-256',
      x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
      y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
    },
  ],
}

/**
 * Returns the verified JWT; undefined if several keys match the JWT and none of the first `maxTriedKeys` signed it.
 * @throws JOSEError for every other invalid JWT
 */
const verified = async (
  { jwt, at }: ClientJwt,
  keys: JSONWebKeySet,
  server: Configuration & Environment,
): Promise<JWTVerifyResult | undefined> => {
  const options = {
    algorithms: [...signatureAlgorithms(server.settings)],
    currentDate: new Date(at ?? server.clock()),
    clockTolerance: clockSkew,
  }
  try {
    return await jwtVerify(jwt, createLocalJWKSet(keys), options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    // Try the first matching keys, because the JWT does not identify the key.
    let tried = 0
    for await (const key of error) {
      const found = await jwtVerify(jwt, key, options).catch(ifUnsigned)
      if (found) return found
      tried += 1
      if (tried === maxTriedKeys) return undefined
    }
    return undefined
  }
}

const ifUnsigned = (error: unknown): undefined => {
  if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
}

/**
 * Verifies a JWT with the keys of a client, and checks the times in the JWT. If the JWT identifies an unknown key,
 * fetches the keys from the `jwks_uri` again.
 * @returns the verified JWT; undefined if the JWT is malformed, or if none of the keys signed the JWT
 * @throws OAuthError if the times are wrong, or if the keys cannot be used; 429 if the client has used up its limit
 */
export const verifiedJwt = async (
  signed: ClientJwt,
  client: Client | undefined,
  server: ServerContext,
  lookup: ClientLookup,
): Promise<JWTVerifyResult | undefined> => {
  const { refused } = signed
  if (client) server.limits.check('signedByClient', '', client.clientId)
  try {
    const keys = client ? await keysOf(client, refused, server, lookup) : nobodysKeys
    return await verified(signed, keys, server).catch(async (error: unknown) => {
      const isNewKey =
        error instanceof errors.JWKSNoMatchingKey && client && client.jwksUri !== null
      if (!isNewKey) throw error
      const newer = await keysOf(client, refused, server, { ...lookup, maxAge: minKeyAge })
      return verified(signed, newer, server)
    })
  } catch (error) {
    // The library checks the claims after the signature, so the client signed this JWT and may learn the reason.
    const reason = claimProblem(error, signed)
    if (reason) throw reason
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

/** Returns a sentence that asks for a `kid`, if the header of a JWT contains none; otherwise an empty text. */
export const kidHint = (jwt: string): string =>
  namesKey(jwt)
    ? ''
    : ` Its header names no key, so at most ${maxTriedKeys} keys of the client are tried: send the kid of the key.`

const namesKey = (jwt: string): boolean => {
  try {
    return decodeProtectedHeader(jwt).kid !== undefined
  } catch {
    return true
  }
}

/** Returns the OAuthError for an error of the library jose about a claim; undefined for other errors. */
export const claimProblem = (
  error: unknown,
  { noun, refused }: Pick<ClientJwt, 'noun' | 'refused'>,
): OAuthError | undefined => {
  if (error instanceof errors.JWTExpired) return refused(`The ${noun} has expired.`)
  return error instanceof errors.JWTClaimValidationFailed
    ? refused(`The claim ${error.claim} of the ${noun} is not valid.`)
    : undefined
}

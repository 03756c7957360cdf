// RFC 7523 §2.2 and §3, OpenID Connect Core §9
import {
  createLocalJWKSet,
  decodeJwt,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose'
import { signatureAlgorithms } from '../../crypto/jose.ts'
import { OutboundFailed } from '../../http/outbound/outbound.ts'
import type { Client } from '../../model/client.ts'
import { clientKeys } from '../../model/client-keys.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { ClientLookup } from '../client-lookup.ts'
import type { ClientAuthenticationMethod } from '../plug-ins.ts'
import type { Configuration, Environment, ServerContext, Throttling } from '../server-context.ts'
import { checkClaims, clockSkew, refused } from './assertion-claims.ts'

const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const maxAssertionLength = 8_192
/** The maximum number of characters of a client ID, which may be a URL. */
const maxClientIdLength = 1_000
/** The minimum age in seconds of fetched keys before an assertion with an unknown key causes another fetch. */
const minKeyAge = 60
const maxKeySetSize = 65_536

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern rejects control characters
const control = /[\u0000-\u001F\u007F]/

/** Returns the client ID in an assertion that is not verified yet. @throws OAuthError */
const claimedClient = (assertion: string): string => {
  const { iss, sub } = claimsOf(assertion)
  // The client is both the issuer and the subject (RFC 7523 §3).
  if (typeof sub !== 'string' || iss !== sub) throw refused('iss and sub must be the client ID.')
  if (sub === '' || sub.length > maxClientIdLength || control.test(sub) || !sub.isWellFormed())
    throw refused('sub is not a client ID.')
  return sub
}

const claimsOf = (assertion: string): JWTPayload => {
  if (assertion.length > maxAssertionLength) throw refused('The assertion is too long.')
  try {
    return decodeJwt(assertion)
  } catch (cause) {
    throw refused('The assertion is not a JWT.', cause)
  }
}

// A client with registered keys may use them unless another authentication method is registered.
const usesKeys = (client: Client | undefined): client is Client =>
  client?.isConfidential === true &&
  client.isActive &&
  (client.jwks !== null || client.jwksUri !== null) &&
  (client.tokenEndpointAuthMethod ?? 'private_key_jwt') === 'private_key_jwt'

interface KeyLookup extends ClientLookup {
  /** The maximum age of fetched keys in seconds; older keys are fetched again. */
  readonly maxAge?: number
}

/**
 * Returns the registered keys of a client, or fetches them from its `jwks_uri`.
 * @throws OAuthError, 429 for too many fetches
 */
const keysOf = async (
  { jwks, jwksUri }: Client,
  { outbound, limits }: Pick<ServerContext, 'outbound'> & Throttling,
  { address = '', maxAge }: KeyLookup,
): Promise<JSONWebKeySet> => {
  if (jwksUri === null) return JSON.parse(jwks ?? '{"keys":[]}') as JSONWebKeySet
  try {
    return await outbound.json({
      url: jwksUri,
      accept: ['application/json', 'application/*+json'],
      largest: maxKeySetSize,
      read: clientKeys,
      requester: address,
      beforeSending: () => limits.consume('clientDocuments', address),
      ...(maxAge === undefined ? {} : { maxAge }),
    })
  } catch (error) {
    const sentence = `The keys of the client could not be used: ${error instanceof Error ? error.message : ''}`
    if (error instanceof InvalidField) throw refused(sentence, error)
    if (!(error instanceof OutboundFailed)) throw error
    if (!error.isOutage) throw refused(sentence, error)
    // The credentials could not be checked, so the client may retry the same request.
    const headers = { 'retry-after': '5' }
    throw new OAuthError('temporarily_unavailable', sentence, { cause: error, headers })
  }
}

/** A key without a known private key. Verifying with it makes an unknown client take as long as a known client. */
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

/** Returns the verified assertion, or undefined if none of the keys signed it. */
const verified = async (
  assertion: string,
  keys: JSONWebKeySet,
  server: Configuration & Environment,
): Promise<JWTVerifyResult | undefined> => {
  const options = {
    algorithms: [...signatureAlgorithms(server.settings)],
    currentDate: new Date(server.clock()),
    clockTolerance: clockSkew,
  }
  try {
    return await jwtVerify(assertion, createLocalJWKSet(keys), options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    // Try each matching key, because the assertion does not identify one.
    for await (const key of error) {
      const found = await jwtVerify(assertion, key, options).catch(ifUnsigned)
      if (found) return found
    }
    return undefined
  }
}

const ifUnsigned = (error: unknown): undefined => {
  if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
}

/** Verifies an assertion. Fetches the keys again if the assertion identifies an unknown key. */
const provenBy = async (
  assertion: string,
  client: Client | undefined,
  server: ServerContext,
  lookup: ClientLookup,
): Promise<JWTVerifyResult | undefined> => {
  try {
    const keys = client ? await keysOf(client, server, lookup) : nobodysKeys
    return await verified(assertion, keys, server).catch(async (error: unknown) => {
      const isNewKey =
        error instanceof errors.JWKSNoMatchingKey && client && client.jwksUri !== null
      if (!isNewKey) throw error
      const newer = await keysOf(client, server, { ...lookup, maxAge: minKeyAge })
      return verified(assertion, newer, server)
    })
  } catch (error) {
    // Return the reason, because a valid signature proves that the client sent the assertion.
    if (error instanceof errors.JWTExpired) throw refused('The assertion has expired.')
    if (error instanceof errors.JWTClaimValidationFailed)
      throw refused(`The claim ${error.claim} of the assertion is not valid.`)
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

/** Authentication by a JWT that the client signed with its private key. RFC 7523 §2.2. */
export const privateKeyJwt = (
  settings: Pick<ServerContext['settings'], 'securityProfile'>,
): ClientAuthenticationMethod => ({
  name: 'private_key_jwt',
  parameters: ['client_id', 'client_assertion_type', 'client_assertion'],
  metadata: { token_endpoint_auth_signing_alg_values_supported: signatureAlgorithms(settings) },
  presented(_authorization, params) {
    const type = params.optional('client_assertion_type')
    const assertion = params.optional('client_assertion')
    if (type === undefined && assertion === undefined) return undefined
    const proof = params.required('client_assertion')
    if (params.required('client_assertion_type') !== jwtBearer)
      throw refused(`client_assertion_type must be ${jwtBearer}.`)
    return { clientId: claimedClient(proof), proof }
  },
  async proves({ clientId, proof = '' }, client, server, lookup) {
    const signer = usesKeys(client) ? client : undefined
    const assertion = await provenBy(proof, signer, server, lookup)
    if (!signer || !assertion) return false
    const { jti, exp } = checkClaims(assertion, server)
    // Record the use last, so that a rejected assertion is not recorded. The store accepts each assertion only once.
    const used = server.transientValues<true>('client_assertion')
    const name = JSON.stringify([clientId, jti])
    if (await used.claimOnce(name, true, (exp + clockSkew) * 1000)) return true
    throw refused('The assertion was already used: a jti is accepted only once.')
  },
})

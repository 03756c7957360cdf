// RFC 7523 §2.2 and §3, OpenID Connect Core §9

import { decodeJwt, type JWTPayload } from 'jose'
import { signatureAlgorithms } from '../../crypto/jose.ts'
import type { Client } from '../../model/client.ts'
import { plainParameter } from '../../model/parameters.ts'
import type { ClientAuthenticationMethod } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'
import { checkClaims, refused } from './assertion-claims.ts'
import { clockSkew, kidHint, verifiedJwt } from './client-jwt.ts'

const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const maxAssertionLength = 8_192
/** The maximum number of characters of a client ID, which may be a URL. */
const maxClientIdLength = 1_000

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern rejects control characters
const control = /[\u0000-\u001F\u007F]/

/**
 * Returns the client ID in an unverified assertion.
 * @throws OAuthError if the assertion contains no valid client ID
 */
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

// If a client has keys but no registered authentication method, the client may use `private_key_jwt`.
const usesKeys = (client: Client | undefined): client is Client =>
  client?.isConfidential === true &&
  client.isActive &&
  (client.jwks !== null || client.jwksUri !== null) &&
  (client.tokenEndpointAuthMethod ?? 'private_key_jwt') === 'private_key_jwt'

/** Authentication by a JWT that the client signed with its private key. RFC 7523 §2.2. */
export const privateKeyJwt = (
  settings: Pick<ServerContext['settings'], 'securityProfile'>,
): ClientAuthenticationMethod => ({
  name: 'private_key_jwt',
  parameters: {
    client_id: plainParameter,
    client_assertion_type: { type: 'string', const: jwtBearer },
    client_assertion: { ...plainParameter, description: 'A JWT of the client (RFC 7523 §2.2).' },
  },
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
    const signed = { jwt: proof, noun: 'assertion', refused }
    const assertion = await verifiedJwt(signed, signer, server, lookup)
    if (!signer || !assertion) {
      const hint = kidHint(proof)
      // The description is the same for an unknown client.
      if (hint !== '') throw refused(`The client is unknown, or did not sign the assertion.${hint}`)
      return false
    }
    const { jti, exp } = checkClaims(assertion, server)
    // Record the use last, so that only valid assertions are recorded. `claimOnce` returns false for a repeated use.
    const used = server.transientValues<true>('client_assertion')
    const name = JSON.stringify([clientId, jti])
    if (await used.claimOnce(name, true, (exp + clockSkew) * 1000, { clientId, address: '' }))
      return true
    throw refused('The assertion was already used: a jti is accepted only once.')
  },
})

// RFC 9101 §4, §6 and §10, OpenID Connect Core §6.1
import { decodeProtectedHeader, errors, type JWTPayload, UnsecuredJWT } from 'jose'
import { requestObjectAlgorithms, withoutClaims } from '../../crypto/jose.ts'
import type { Client } from '../../model/client.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import { ExpiredRequest, OAuthError } from '../../model/oauth-error.ts'
import {
  claimProblem,
  clockSkew,
  kidHint,
  verifiedJwt,
} from '../client-authentication/client-jwt.ts'
import type { ServerContext } from '../server-context.ts'

const maxIdLength = 255
/** The maximum lifetime in seconds of a request object with `jti`, because the server stores `jti` for this time. */
const maxLifetime = 3_600
const types = ['jwt', 'oauth-authz-req+jwt', 'application/oauth-authz-req+jwt']

/** A request object, and the client that sent it. */
export interface Presented {
  readonly jwt: string
  readonly client: Client
  /** The time at which the request object must be valid, in milliseconds since the epoch. */
  readonly at: number
  /** The IP address of the sender. */
  readonly address: string
}

/** The claims of an accepted request object. */
export interface Accepted {
  readonly claims: JWTPayload
  readonly isSigned: boolean
}

/** Returns the error for an invalid request object. @param sentence the `error_description` */
export const refused = (sentence: string, cause?: unknown): OAuthError =>
  cause instanceof errors.JWTExpired
    ? new ExpiredRequest(sentence, 'invalid_request_object')
    : new OAuthError(
        'invalid_request_object',
        sentence,
        cause === undefined ? {} : { cause: withoutClaims(cause) },
      )

/** Verifies a request object and its claims. @throws OAuthError with the reason */
export const acceptedClaims = async (
  presented: Presented,
  server: ServerContext,
): Promise<Accepted> => {
  const { jwt, client, at } = presented
  const { alg, typ } = headerOf(jwt)
  if (typ !== undefined && !types.includes(String(typ).toLowerCase()))
    throw refused('The typ of the request object must be oauth-authz-req+jwt or JWT.')
  const { request_object_signing_alg: registered } = keptMetadata(client)
  if (registered !== undefined && sameName(alg) !== sameName(registered))
    throw refused(`The alg of the request object must be ${registered}, as registered.`)
  const isSigned = alg !== 'none'
  // Accept an unsigned object only from a client that registered `none`. Anyone could forge an unsigned object.
  const claims = isSigned
    ? await signedClaims(presented, server)
    : unsignedClaims(presented, registered, server)
  checkClaims(claims, client, server)
  checkOnce(claims, at)
  return { claims, isSigned }
}

const headerOf = (jwt: string): { readonly alg?: string; readonly typ?: string } => {
  if (jwt.split('.').length === 5) throw refused('Encrypted request objects are not supported.')
  try {
    return decodeProtectedHeader(jwt)
  } catch (cause) {
    throw refused('The request object is not a JWT.', cause)
  }
}

/** EdDSA and Ed25519 are two names for the same algorithm (RFC 9864 §2.2). */
const sameName = (algorithm: string | undefined): string | undefined =>
  algorithm === 'Ed25519' ? 'EdDSA' : algorithm

const signedClaims = async (
  { jwt, client, at, address }: Presented,
  server: ServerContext,
): Promise<JWTPayload> => {
  const signed = { jwt, at, noun: 'request object', refused }
  const verified = await verifiedJwt(signed, client, server, { address })
  if (!verified)
    throw refused(
      `The signature of the request object does not match the keys of the client.${kidHint(jwt)}`,
    )
  return verified.payload
}

const unsignedClaims = (
  { jwt, at }: Presented,
  registered: string | undefined,
  { settings }: ServerContext,
): JWTPayload => {
  if (registered !== 'none' || !requestObjectAlgorithms(settings).includes('none'))
    throw refused('The request object must be signed.')
  try {
    return UnsecuredJWT.decode(jwt, { currentDate: new Date(at), clockTolerance: clockSkew })
      .payload
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error
    throw (
      claimProblem(error, { noun: 'request object', refused }) ??
      refused('The request object is not a JWT.', error)
    )
  }
}

const checkClaims = (claims: JWTPayload, { clientId }: Client, { issuer }: ServerContext): void => {
  const { iss, aud, sub } = claims
  if (claims.client_id !== clientId)
    throw refused('client_id must be in the request object, with the same value as outside.')
  if (iss !== undefined && iss !== clientId) throw refused('iss must be the client ID.')
  if (aud !== undefined && ![aud].flat().includes(issuer))
    throw refused(`aud must contain the issuer: ${issuer}`)
  // §10.8: an attacker could use the JWT as a client assertion.
  if (sub === clientId) throw refused('sub must not be the client ID.')
  // §4
  for (const name of ['request', 'request_uri'])
    if (claims[name] !== undefined) throw refused(`The request object must not contain ${name}.`)
}

/** Checks `jti` and `exp`. A request object with `jti` is accepted only once. RFC 7519 §4.1.7. */
const checkOnce = ({ jti, exp }: JWTPayload, at: number): void => {
  if (jti === undefined) return
  if (typeof jti !== 'string' || jti === '' || jti.length > maxIdLength)
    throw refused(`jti must be a string of 1 to ${maxIdLength} characters.`)
  if (exp === undefined) throw refused('exp is missing. A request object with jti needs exp.')
  if (exp > at / 1000 + maxLifetime + clockSkew)
    throw refused(
      `exp must not be more than ${maxLifetime} seconds in the future if the request object contains jti.`,
    )
}

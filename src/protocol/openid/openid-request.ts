import { sha256 } from '../../crypto/digest.ts'
import type { SignedIn } from '../../model/auth.ts'
import type { Client } from '../../model/client.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import type { TokenFields } from '../../model/entities/token.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { Parameters } from '../../model/parameters.ts'
import type { UserRedemption } from '../../model/redemption.ts'
import { sectorOf } from '../../model/sector.ts'
import { claimsOfScope } from '../../model/standard-claims.ts'
import type { Keys } from '../server-context.ts'
import { type RequestedClaims, requestedClaims } from './requested-claims.ts'
import { sidOf } from './sid.ts'

/** The name of the extension, under which its values are stored with a request and with a code. */
export const extensionName = 'openid-connect'

/** The parameters of an authorization request with the scope `openid`. OpenID Connect Core §3.1.2.1. */
export interface OpenIdRequest {
  readonly nonce?: string | undefined
  /** Seconds. */
  readonly maxAge?: number | undefined
  /** The unverified ID token of the user whom the client expects. */
  readonly idTokenHint?: string | undefined
  readonly claims?: RequestedClaims | undefined
  /** The requested languages of claims, as the client sent them. */
  readonly claimsLocales?: string | undefined
  /** The scopes that the parameter `claims` requests, but the parameter `scope` does not. */
  readonly impliedScopes: readonly string[]
}

/** The facts about a login for the ID tokens of a client, stored with the code and with the authorization. */
export interface OpenIdGrant extends Omit<OpenIdRequest, 'maxAge' | 'idTokenHint'> {
  /** Seconds since the epoch; undefined if unknown. */
  readonly authTime?: number | undefined
  readonly amr?: readonly string[] | undefined
  readonly acr?: string | undefined
  /** The public ID of the session; undefined if the stored values were changed. */
  readonly session?: string
  /** The claim `sid`. Values of earlier versions lack this member. */
  readonly sid?: string
}

/** The maximum number of bytes of a nonce in an ID token. A hint and the header `Location` must carry the ID token. */
const maxNonceBytes = 1_024
const maxHintLength = 8_192
const maxLocalesLength = 500

/** Reads the parameters of OpenID Connect. @throws OAuthError `invalid_request` */
export const readOpenIdRequest = (
  params: Parameters,
  client: Client,
  impliedScopes: readonly string[],
): OpenIdRequest => ({
  nonce: nonceIn(params),
  maxAge: maxAgeOf(params) ?? keptMetadata(client).default_max_age,
  idTokenHint: limited(params, 'id_token_hint', maxHintLength),
  claims: requestedClaims(params),
  claimsLocales: params.opaque('claims_locales')?.slice(0, maxLocalesLength),
  impliedScopes,
})

const limited = (params: Parameters, name: string, most: number): string | undefined => {
  const value = params.opaque(name)
  if (value !== undefined && value.length > most)
    throw new OAuthError('invalid_request', `${name} is longer than ${most} characters.`)
  return value
}

const nonceIn = (params: Parameters): string | undefined => {
  const nonce = params.opaque('nonce')
  if (nonce !== undefined && Buffer.byteLength(JSON.stringify(nonce)) - 2 > maxNonceBytes)
    throw new OAuthError('invalid_request', `nonce is longer than ${maxNonceBytes} bytes in JSON.`)
  return nonce
}

const maxAgeOf = (params: Parameters): number | undefined => {
  const text = params.opaque('max_age')
  if (text === undefined) return undefined
  if (!/^\d+$/.test(text))
    throw new OAuthError('invalid_request', 'max_age must be a whole number of seconds.')
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

/** The login of a user at a client. */
interface LoginAtClient {
  readonly client: Client
  readonly signedIn: SignedIn
  /** The redirect URI that receives the response. */
  readonly redirectUri: string
}

/** Returns the values to store with a code, as a text. */
export const grantText = (
  { maxAge: _, idTokenHint: __, ...request }: OpenIdRequest,
  { client, signedIn, redirectUri }: LoginAtClient,
): string => {
  const { loggedInAt, amr, acr, sessionId } = signedIn
  const grant: OpenIdGrant = {
    ...request,
    authTime: loggedInAt === null ? undefined : Math.floor(loggedInAt / 1000),
    amr,
    acr,
    session: sessionId,
    sid: sidOf(sessionId, sectorOf(client, redirectUri)),
  }
  return JSON.stringify(grant)
}

/** Returns the login of an ID token with these values; undefined if the values were changed. */
export const loginIn = (
  grant: Pick<OpenIdGrant, 'session' | 'sid'> | undefined,
): UserRedemption['login'] => {
  if (grant?.session === undefined) return undefined
  const { session, sid = sidOf(session, null) } = grant
  return { session, sid }
}

type Stored = Readonly<Record<string, unknown>> | undefined

const textIn = (stored: Stored): string | undefined => {
  const value = stored?.[extensionName]
  return typeof value === 'string' ? value : undefined
}

/**
 * Returns the digest of the values that are stored with a code; null without such values. The tokens of the
 * authorization contain this digest under their seal, so that an attacker who writes to the database can neither change
 * the values nor exchange the values of two authorizations.
 */
export const loginDigestOf = (stored: Stored): string | null => {
  const text = textIn(stored)
  return text?.startsWith('{') ? sha256(text) : null
}

/** The values of a token whose stored values were changed: a requested claim implied each scope, and no claim is named. */
const lost: OpenIdGrant = { impliedScopes: Object.keys(claimsOfScope) }

/**
 * Reads the values that are stored with a code or an authorization.
 * @param token a token of the authorization
 * @returns undefined if no values are stored
 */
export const grantIn = (
  stored: Stored,
  token: Pick<TokenFields, 'clientKey' | 'userId' | 'loginDigest'>,
  { keys }: Keys,
): OpenIdGrant | undefined => {
  const text = textIn(stored)
  if (token.loginDigest !== null)
    return text !== undefined && sha256(text) === token.loginDigest ? JSON.parse(text) : lost
  if (text === undefined) return undefined
  // Earlier versions sealed the values for the client and the user.
  const owner = token.userId === null ? null : String(token.userId)
  const opened = keys.open('row', text, ['openid_grant', token.clientKey, owner])
  return opened === undefined ? undefined : (JSON.parse(opened) as OpenIdGrant)
}

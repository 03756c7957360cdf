import { randomString } from '../../crypto/random.ts'
import type { SignedIn } from '../../model/auth.ts'
import type { Client } from '../../model/client.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { Parameters } from '../../model/parameters.ts'
import { sectorOf } from '../../model/sector.ts'
import type { TokenFields } from '../../model/token.ts'
import type { Environment, Keys } from '../server-context.ts'
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
  /** The public ID of the session. */
  readonly session: string
  /** The claim `sid`. Values of earlier versions lack this member. */
  readonly sid?: string
}

/** The sealed values of a login, as they are stored with the code and with the authorization. */
interface StoredLogin {
  /** The random ID of the login. The tokens of the authorization contain this ID under their seal. */
  readonly id: string
  readonly sealed: string
}

const idLength = 22
const maxNonceLength = 1_024
const maxHintLength = 8_192
const maxLocalesLength = 500

/** Reads the parameters of OpenID Connect. @throws OAuthError `invalid_request` */
export const readOpenIdRequest = (
  params: Parameters,
  client: Client,
  impliedScopes: readonly string[],
): OpenIdRequest => ({
  nonce: limited(params, 'nonce', maxNonceLength),
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

const maxAgeOf = (params: Parameters): number | undefined => {
  const text = params.opaque('max_age')
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text))
    throw new OAuthError('invalid_request', 'max_age must be a number of seconds.')
  return Number(text)
}

/** The login of a user at a client. */
interface LoginAtClient {
  readonly client: Client
  readonly signedIn: SignedIn
  /** The redirect URI that receives the response. */
  readonly redirectUri: string
}

/** Returns the values to store with a code, sealed for the client, the user and the ID of the login. */
export const sealedGrant = (
  { maxAge: _, idTokenHint: __, ...request }: OpenIdRequest,
  { client, signedIn, redirectUri }: LoginAtClient,
  { keys, random }: Keys & Pick<Environment, 'random'>,
): StoredLogin => {
  const { loggedInAt, amr, acr, sessionId } = signedIn
  const grant: OpenIdGrant = {
    ...request,
    authTime: loggedInAt === null ? undefined : Math.floor(loggedInAt / 1000),
    amr,
    acr,
    session: sessionId,
    sid: sidOf(sessionId, sectorOf(client, redirectUri)),
  }
  const id = randomString(idLength, random)
  const owner = { clientKey: client.clientKey, userId: signedIn.user.id, loginId: id }
  return { id, sealed: keys.seal('row', JSON.stringify(grant), grantClaims(owner)) }
}

type Stored = Readonly<Record<string, unknown>> | undefined

const storedIn = (stored: Stored): StoredLogin | undefined => {
  const value = stored?.[extensionName]
  return typeof value === 'object' && value !== null && 'sealed' in value
    ? (value as StoredLogin)
    : undefined
}

/** Returns the ID of the login whose values are stored with a code; null if the code has no such values. */
export const loginIdOf = (stored: Stored): string | null => storedIn(stored)?.id ?? null

/**
 * Opens the values that are stored with a code or an authorization. Returns undefined if no values are stored, or if no
 * configured key opens them.
 * @param owner the fields of a token of this authorization. Its seal covers the ID of the login, so that an attacker who
 * writes to the database cannot move the values to another authorization
 */
export const openGrant = (
  stored: Stored,
  owner: Owner,
  { keys }: Keys,
): OpenIdGrant | undefined => {
  // Earlier versions stored the sealed value itself, and no ID of the login.
  const sealed = owner.loginId === null ? stored?.[extensionName] : storedIn(stored)?.sealed
  if (typeof sealed !== 'string') return undefined
  const text = keys.open('row', sealed, grantClaims(owner))
  return text === undefined ? undefined : (JSON.parse(text) as OpenIdGrant)
}

type Owner = Pick<TokenFields, 'clientKey' | 'userId' | 'loginId'>

const grantClaims = ({ clientKey, userId, loginId }: Owner) => [
  'openid_grant',
  clientKey,
  userId === null ? null : String(userId),
  ...(loginId === null ? [] : [loginId]),
]

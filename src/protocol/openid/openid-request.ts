import type { SignedIn } from '../../model/auth.ts'
import type { Client } from '../../model/client.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { Parameters } from '../../model/parameters.ts'
import type { UserId } from '../../model/user.ts'
import type { Keys } from '../server-context.ts'
import { type RequestedClaims, requestedClaims } from './requested-claims.ts'

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
}

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

/** Returns the values to store with a code, sealed for the client and the user. */
export const sealedGrant = (
  { maxAge: _, idTokenHint: __, ...request }: OpenIdRequest,
  { client, signedIn }: { readonly client: Client; readonly signedIn: SignedIn },
  { keys }: Keys,
): string => {
  const { loggedInAt, amr, acr } = signedIn
  const grant: OpenIdGrant = {
    ...request,
    authTime: loggedInAt === null ? undefined : Math.floor(loggedInAt / 1000),
    amr,
    acr,
    session: signedIn.sessionId,
  }
  return keys.seal('row', JSON.stringify(grant), grantClaims(client.clientKey, signedIn.user.id))
}

/**
 * Opens the values that are stored with a code or an authorization. Returns undefined if no values are stored, or if no
 * configured key opens them.
 */
export const openGrant = (
  stored: Readonly<Record<string, unknown>> | undefined,
  owner: { readonly clientKey: number; readonly userId: UserId | null },
  { keys }: Keys,
): OpenIdGrant | undefined => {
  const sealed = stored?.[extensionName]
  if (typeof sealed !== 'string') return undefined
  const text = keys.open('row', sealed, grantClaims(owner.clientKey, owner.userId))
  return text === undefined ? undefined : (JSON.parse(text) as OpenIdGrant)
}

const grantClaims = (clientKey: number, userId: UserId | null) => [
  'openid_grant',
  clientKey,
  userId === null ? null : String(userId),
]

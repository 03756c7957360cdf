import type { Digest } from '../crypto/digest.ts'
import type { Claims } from '../crypto/sealed.ts'
import type { Consent } from '../model/authorization.ts'
import type { ClientFields } from '../model/client.ts'
import type { TokenFields } from '../model/token.ts'
import type { RotatedRefreshToken, SessionFields } from '../store/store.ts'

// What each kind of row claims. The first entry is the kind, so that no seal fits another table.

export const clientClaims = (client: ClientFields): Claims => [
  'client',
  client.clientId,
  client.clientSecret,
  client.userId,
  client.isConfidential,
  client.isInternal,
  client.isPersonal,
  client.redirectUris.join('\n'),
  client.defaultScopes.join(' '),
  client.allowedScopes?.join(' ') ?? null,
  client.grantTypes?.join(' ') ?? null,
  client.responseTypes?.join(' ') ?? null,
  client.tokenEndpointAuthMethod,
  ...sinceTheSecondMigration(client),
]

// Absent where they say nothing, so that the seals of older rows still hold.
const sinceTheSecondMigration = (client: ClientFields): Claims => {
  const { optionalScopes, isVerified, isDisabled, previousClientSecret } = client
  const isPlain =
    optionalScopes.length === 0 && !isVerified && !isDisabled && previousClientSecret === null
  if (isPlain) return []
  return [
    optionalScopes.join(' '),
    isVerified,
    isDisabled,
    previousClientSecret,
    client.previousClientSecretExpires,
    // Who was checked, was checked under this name.
    client.name,
    client.website,
  ]
}

/** A built-in user's password hash: bound to the e-mail address, which is never changed. */
export const passwordClaims = (email: string): Claims => ['password', email]

export const consentClaims = (consent: Consent): Claims => [
  'consent',
  consent.id,
  consent.userId,
  consent.clientId,
  consent.scopes.join(' '),
  ...(consent.declinedScopes.length === 0 ? [] : [consent.declinedScopes.join(' ')]),
]

export const sessionClaims = (session: SessionFields): Claims => [
  'session',
  session.id,
  session.userId,
  session.address,
  session.userAgent,
  session.createdAt,
  session.expiresAt,
]

/** Without these, whoever can write a row could have the successor's answer given to a token of their own. */
export const rotationClaims = (rotated: RotatedRefreshToken): Claims => [
  'rotated_refresh_token',
  rotated.digest,
  rotated.authorizationId,
  rotated.successor,
  rotated.parameters,
  rotated.rotatedAt,
]

type TokenClaims = Omit<TokenFields, 'id'>

export const accessClaims = (digest: Digest, token: TokenClaims): Claims => [
  'access_token',
  digest,
  token.clientId,
  token.userId,
  token.authorizationId,
  token.scopes.join(' '),
  token.expires,
  token.isPersonal,
  token.isInternal,
]

/** `granted` are the scopes of the whole authorization: a refresh token may restore them. */
export const refreshClaims = (
  digest: Digest,
  token: TokenClaims,
  granted: readonly string[],
): Claims => [
  'refresh_token',
  digest,
  token.clientId,
  token.userId,
  token.authorizationId,
  granted.join(' '),
  token.refreshExpires,
]

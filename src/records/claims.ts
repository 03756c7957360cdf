import type { Digest } from '../crypto/digest.ts'
import type { Claims } from '../crypto/sealed.ts'
import type { Authorization, Consent } from '../model/authorization.ts'
import type { ClientFields } from '../model/client.ts'
import type { TokenFields } from '../model/token.ts'
import type { RotatedRefreshToken, SessionFields, StoredSigningKey } from '../store/store.ts'

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
  ...sinceTheThirdMigration(client),
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

const sinceTheThirdMigration = (client: ClientFields): Claims => {
  const { origin, jwks, jwksUri, registrationToken, metadata } = client
  const isPlain = origin === 'owner' && jwks === null && jwksUri === null
  return isPlain ? [] : ['keys', origin, jwks, jwksUri, registrationToken, metadata]
}

/** A built-in user's password hash: bound to the e-mail address, which is never changed. */
export const passwordClaims = (email: string): Claims => ['password', email]

/** A private key: bound to the public one that is published. */
export const signingKeyClaims = (key: Omit<StoredSigningKey, 'privateKey'>): Claims => [
  'signing_key',
  key.id,
  key.algorithm,
  key.publicKey,
  key.createdAt,
]

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

/** What a user granted: the most that tokens of an authorization may have. */
export type Granted = Pick<Authorization, 'scopes' | 'resources'>

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
  ...restrictions(token),
]

// Absent where there are none, so that the seals of older rows still hold.
const restrictions = ({ resources, keyThumbprint, parentId }: TokenClaims): Claims =>
  resources.length === 0 && keyThumbprint === null && parentId === null
    ? []
    : [resources.join(' '), keyThumbprint, parentId]

/** `granted` is the whole authorization, which a refresh token may restore. */
export const refreshClaims = (digest: Digest, token: TokenClaims, granted: Granted): Claims => [
  'refresh_token',
  digest,
  token.clientId,
  token.userId,
  token.authorizationId,
  granted.scopes.join(' '),
  token.refreshExpires,
  ...(granted.resources.length === 0 && token.keyThumbprint === null
    ? []
    : [granted.resources.join(' '), token.keyThumbprint]),
]

import type { Digest } from '../../crypto/digest.ts'
import type { Claims } from '../../crypto/sealed.ts'
import type { Authorization, Consent } from '../../model/authorization.ts'
import type { ClientFields } from '../../model/client.ts'
import type { TokenFields } from '../../model/token.ts'
import type { User } from '../../model/user.ts'
import type { AuditCheckpoint } from '../../store/contract/audit.ts'
import type { StoredSigningKey } from '../../store/contract/keys.ts'
import type { StoredSession } from '../../store/contract/sessions.ts'
import type {
  RotatedRefreshToken,
  StoredToken,
  TokenWithState,
} from '../../store/contract/tokens.ts'

// What each kind of row claims. The first entry is the kind, so that no seal fits another table.

export const clientClaims = (client: ClientFields): Claims => [
  'client',
  client.clientKey,
  client.clientId,
  client.clientSecret,
  client.previousClientSecret,
  client.previousClientSecretExpires,
  client.name,
  client.description,
  client.website,
  client.userId,
  client.isConfidential,
  client.isInternal,
  client.isPersonal,
  client.isVerified,
  client.isDisabled,
  client.redirectUris.join('\n'),
  client.defaultScopes.join(' '),
  client.optionalScopes.join(' '),
  client.allowedScopes?.join(' ') ?? null,
  client.grantTypes?.join(' ') ?? null,
  client.responseTypes?.join(' ') ?? null,
  client.tokenEndpointAuthMethod,
  client.origin,
  client.jwks,
  client.jwksUri,
  client.registrationToken,
  client.metadata,
  client.createdAt,
]

/** What a token lookup reads of a client, sealed apart: the lookup need not read the other columns. */
export const clientStateClaims = (
  client: Omit<TokenWithState['client'], 'ownerActive' | 'stateSeal'>,
): Claims => [
  'client_state',
  client.clientKey,
  client.clientId,
  client.name,
  client.ownerId,
  client.isDisabled,
  client.allowedScopes?.join(' ') ?? null,
]

/** A built-in user, as every read joins it: without the password hash, which is sealed by itself. */
export const userClaims = (user: User): Claims => [
  'user',
  user.id,
  user.email,
  user.active,
  user.emailVerified,
  user.isAdmin,
]

/** A built-in user's password hash: bound to the id and the e-mail address, which are never changed. */
export const passwordClaims = ({ id, email }: Pick<User, 'id' | 'email'>): Claims => [
  'password',
  id,
  email,
]

/** A private key: bound to the public one that is published. */
export const signingKeyClaims = (key: Omit<StoredSigningKey, 'privateKey'>): Claims => [
  'signing_key',
  key.id,
  key.algorithm,
  key.publicKey,
  key.createdAt,
]

export const consentClaims = (consent: Omit<Consent, 'clientId'>): Claims => [
  'consent',
  consent.id,
  consent.userId,
  consent.clientKey,
  consent.scopes.join(' '),
  consent.declinedScopes.join(' '),
  consent.grantedAt,
]

export const sessionClaims = (session: Omit<StoredSession, 'seal'>): Claims => [
  'session',
  session.id,
  session.userId,
  session.address,
  session.userAgent,
  session.createdAt,
  session.expiresAt,
  session.lastSeenAt,
]

export const checkpointClaims = (checkpoint: AuditCheckpoint): Claims => [
  'audit_checkpoint',
  checkpoint.number,
  checkpoint.at,
  checkpoint.afterId,
  checkpoint.lastId,
  checkpoint.ids,
  checkpoint.rowsDigest,
  checkpoint.latestAt,
  checkpoint.forged,
  checkpoint.removedUpTo,
  checkpoint.previous,
]

/**
 * Without these claims, an attacker who can write a row could obtain the successor's tokens with a token of their own.
 */
export const rotationClaims = (rotated: RotatedRefreshToken): Claims => [
  'rotated_refresh_token',
  rotated.digest,
  rotated.authorizationId,
  rotated.successor,
  rotated.parameters,
  rotated.rotatedAt,
]

/** What a user granted: the most that tokens of an authorization may have. */
export type Granted = Pick<Authorization, 'scopes' | 'resources' | 'createdAt'>

type TokenClaims = Omit<TokenFields, 'id' | 'clientId'>

/** @param successorId of a former value of a personal token: the token that replaced it */
export const accessClaims = (
  digest: Digest,
  token: TokenClaims,
  successorId: StoredToken['successorId'],
): Claims => [
  'access_token',
  digest,
  token.clientKey,
  token.userId,
  token.authorizationId,
  token.scopes.join(' '),
  token.expires,
  token.isPersonal,
  token.isInternal,
  token.resources.join(' '),
  token.keyThumbprint,
  token.parentId,
  token.tokenType,
  token.createdAt,
  successorId,
]

/** `granted` is the whole authorization, which a refresh token may restore. */
export const refreshClaims = (digest: Digest, token: TokenClaims, granted: Granted): Claims => [
  'refresh_token',
  digest,
  token.clientKey,
  token.userId,
  token.authorizationId,
  granted.scopes.join(' '),
  token.refreshExpires,
  granted.resources.join(' '),
  granted.createdAt,
  token.keyThumbprint,
  token.isPersonal,
  token.isInternal,
  token.parentId,
]

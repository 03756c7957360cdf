import type { Digest } from '../../crypto/digest.ts'
import type { Claims } from '../../crypto/sealed.ts'
import type { Authorization, Consent } from '../../model/authorization.ts'
import type { ClientFields } from '../../model/client.ts'
import { encodedResponseTypes } from '../../model/response-type.ts'
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

// The claims of each kind of row. The first claim is the kind, so that a seal is not valid for another kind.

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
  client.isPinned,
  client.redirectUris.join('\n'),
  client.defaultScopes.join(' '),
  client.optionalScopes.join(' '),
  client.allowedScopes?.join(' ') ?? null,
  client.grantTypes?.join(' ') ?? null,
  encodedResponseTypes(client.responseTypes)?.join(' ') ?? null,
  client.tokenEndpointAuthMethod,
  client.defaultResource,
  client.origin,
  client.jwks,
  client.jwksUri,
  client.registrationToken,
  client.logo,
  client.metadata,
  client.createdAt,
]

/**
 * The claims of the columns of a client that a token look-up reads. These columns have a separate seal, so that the
 * look-up does not read the other columns.
 */
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

/** The claims of a built-in user. The password hash has a separate seal. */
export const userClaims = (user: User): Claims => [
  'user',
  user.id,
  user.email,
  user.active,
  user.emailVerified,
  user.isAdmin,
]

/** The claims of a password hash: the ID and e-mail address of the user, which never change. */
export const passwordClaims = ({ id, email }: Pick<User, 'id' | 'email'>): Claims => [
  'password',
  id,
  email,
]

/** The claims of a private key, including the published public key. */
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
  // A consent from before this column, and a consent of the first user with an ID, have the claims of the first version.
  ...(consent.reusedSince === null ? [] : [consent.reusedSince]),
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
 * The claims of a rotated refresh token. Without this seal, an attacker who can write rows could insert a token as
 * rotated. The attacker could then present this token, and would receive the tokens of the alleged successor.
 */
export const rotationClaims = (rotated: RotatedRefreshToken): Claims => [
  'rotated_refresh_token',
  rotated.digest,
  rotated.authorizationId,
  rotated.successor,
  rotated.parameters,
  rotated.rotatedAt,
]

/** The fields of an authorization that limit its tokens. */
export type Granted = Pick<Authorization, 'scopes' | 'resources' | 'createdAt'>

type TokenClaims = Omit<TokenFields, 'id' | 'clientId'>

/** The columns of a token's row that the seal of its access token covers. */
type AccessRow = Pick<
  StoredToken,
  'accessDigest' | 'successorId' | 'formerDigest' | 'formerExpires'
> & { readonly fields: TokenClaims }

/** The claims of an access token. */
export const accessClaims = ({
  accessDigest,
  fields: token,
  successorId,
  formerDigest,
  formerExpires,
}: AccessRow): Claims => [
  'access_token',
  accessDigest,
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
  formerDigest,
  formerExpires,
  ...loginClaims(token),
]

/**
 * The claims of a refresh token.
 * @param granted the fields of the authorization. A refresh may request scopes that the current access token lacks.
 */
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
  ...loginClaims(token),
]

// Tokens from before these columns, and tokens without these values, have the claims of the first version.
const loginClaims = ({
  sector,
  loginDigest,
}: Pick<TokenClaims, 'sector' | 'loginDigest'>): Claims =>
  sector === null && loginDigest === null ? noClaims : [sector, loginDigest]

const noClaims: Claims = []

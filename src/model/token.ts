import type { Digest } from '../crypto/digest.ts'
import { frozen } from './entities/entity.ts'
import type { Granted, TokenFields } from './entities/token.ts'
import type { ScopeRegistry } from './scope.ts'
import type { User, UserId } from './user.ts'

export interface Token extends TokenFields {}

/** A personal token, or an access token with its refresh token, if one was issued. The object is frozen. */
export class Token {
  readonly #scopes: ScopeRegistry

  constructor(fields: TokenFields, scopes: ScopeRegistry) {
    Object.assign(this, fields)
    this.#scopes = scopes
    frozen(this)
  }

  /** Returns the scopes that users may see: the registered scopes of the token that are not internal. */
  getVisibleScopes(): readonly string[] {
    return this.#scopes.visible(this.scopes)
  }
}

/**
 * Returns whether a token is valid for a resource of this application. A token without resources, or for the issuer, is
 * valid for the whole application.
 */
export const isFor = ({ resources }: Token, resource: string, issuer: string): boolean =>
  resources.length === 0 || resources.includes(resource) || resources.includes(issuer)

/**
 * Returns whether a token was issued for exactly this resource. A token without resources was issued for the issuer.
 * RFC 9068 §4.
 */
export const isIssuedFor = ({ resources }: Token, resource: string, issuer: string): boolean =>
  resources.length === 0 ? resource === issuer : resources.includes(resource)

/** Returns whether an expiry time has passed. Null never expires. */
export const isExpired = (expires: number | null, now: number): boolean =>
  expires !== null && expires <= now

/** A token with its user and its client, as `getToken` returns it. */
export interface FoundToken {
  readonly token: Token
  /** Null if the token has no user, or if the user of the token no longer exists. */
  readonly user: User | null
  readonly client: {
    readonly clientId: string
    readonly name: string
    readonly ownerActive: boolean
    readonly isDisabled: boolean
  }
  /** The digest of the access token. */
  readonly accessDigest: Digest
  /** Whether a refresh has replaced the access token. A replaced access token remains valid for a leeway. */
  readonly isFormer?: boolean
  /** For a token found by its refresh token: whether the access token is still valid and its row is unchanged. */
  readonly isAccessIntact?: boolean
  /** The last recorded use, in milliseconds since the epoch; null before the first use. */
  readonly lastUsedAt: number | null
  /**
   * The authorization. A refresh can request all scopes of the authorization, even after a refresh with fewer scopes.
   */
  readonly authorization?: Granted
}

/** Returns whether the client, its owner and the user are active. */
export const isActive = ({
  token,
  user,
  client,
}: Pick<FoundToken, 'token' | 'user' | 'client'>): boolean =>
  client.ownerActive && !client.isDisabled && (token.userId === null || user?.active === true)

/** The user data in the token response. */
export interface TokenSubject {
  readonly id: UserId
  readonly email: string
  readonly emailVerified: boolean
}

/** A token with its secrets, for the token response. */
export interface IssuedToken {
  readonly token: Token
  /** Null if the client has no owner and acts on its own behalf. */
  readonly subject: TokenSubject | null
  readonly accessToken: string
  readonly refreshToken: string | null
  /** Seconds; null: the token does not expire. */
  readonly expiresIn: number | null
}

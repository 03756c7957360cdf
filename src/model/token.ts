import type { Digest } from '../crypto/digest.ts'
import type { Authorization } from './authorization.ts'
import type { ScopeRegistry } from './scope.ts'
import type { User, UserId } from './user.ts'

/** A token's record without its secrets: what it is, whose, and how far it reaches. */
export interface TokenFields {
  readonly id: number
  readonly clientId: string
  readonly clientKey: number
  readonly userId: UserId | null
  /** What was granted, from which this token hangs; null for personal and client credentials tokens. */
  readonly authorizationId: number | null
  /** `dpop`: bound to a key (RFC 9449 §5). */
  readonly tokenType: 'bearer' | 'dpop'
  /** Milliseconds since the epoch; null: the token does not expire. */
  readonly expires: number | null
  readonly refreshExpires: number | null
  readonly scopes: readonly string[]
  readonly isPersonal: boolean
  readonly isInternal: boolean
  readonly createdAt: number
  /** The resources that it is for (RFC 8707 §2); empty: all that the server protects. */
  readonly resources: readonly string[]
  /** The thumbprint of the key whose holder alone may use it (RFC 9449 §6.1); null: whoever has the token. */
  readonly keyThumbprint: string | null
  /** The token that it was narrowed from, and ends with (RFC 8693). */
  readonly parentId: number | null
}

export interface Token extends TokenFields {}

/** A bearer token: the current access and refresh pair of one authorization, or a personal token. */
export class Token {
  readonly #scopes: ScopeRegistry

  constructor(fields: TokenFields, scopes: ScopeRegistry) {
    Object.assign(this, fields)
    this.#scopes = scopes
  }

  /** Those of the scopes that users may see. */
  getVisibleScopes(): readonly string[] {
    return this.#scopes.visible(this.scopes)
  }
}

/**
 * Whether a token opens a resource of this application. One that is restricted to nothing is for the whole of it, and
 * so is one that was asked for by the name of the whole, the issuer: all other resources are its parts.
 */
export const isFor = ({ resources }: Token, resource: string, issuer: string): boolean =>
  resources.length === 0 || resources.includes(resource) || resources.includes(issuer)

/** Whether it was issued for exactly this resource, and not for the whole of which that is a part. RFC 9068 §4 */
export const isIssuedFor = ({ resources }: Token, resource: string, issuer: string): boolean =>
  resources.length === 0 ? resource === issuer : resources.includes(resource)

/** Zero is long expired, null is never. */
export const isExpired = (expires: number | null, now: number): boolean =>
  expires !== null && expires <= now

/** A token together with whose it is and through which client: what `getToken` finds. */
export interface FoundToken {
  readonly token: Token
  /** Null where the client acts for itself and has no owner. */
  readonly user: User | null
  readonly client: {
    readonly clientId: string
    readonly name: string
    readonly ownerActive: boolean
    readonly isDisabled: boolean
  }
  /** Of its access token. */
  readonly accessDigest: Digest
  /** When its last use was written; null: never. Milliseconds since the epoch. */
  readonly lastUsedAt: number | null
  /** The scopes of the whole authorization and its beginning, which a refresh token can restore. */
  readonly authorization?: Pick<Authorization, 'scopes' | 'resources' | 'createdAt'>
}

/** Whether client, client's owner and user are fit to act. */
export const isActive = ({
  token,
  user,
  client,
}: Pick<FoundToken, 'token' | 'user' | 'client'>): boolean =>
  client.ownerActive && !client.isDisabled && (token.userId === null || user?.active === true)

/** Whom a token speaks for, as the token answer shows it. */
export interface TokenSubject {
  readonly id: UserId
  readonly email: string
  readonly emailVerified: boolean
}

/** A token as it was just issued: with its secrets, which are never readable again. */
export interface IssuedToken {
  readonly token: Token
  /** Null where the client acts for itself and has no owner. */
  readonly subject: TokenSubject | null
  readonly accessToken: string
  readonly refreshToken: string | null
  /** Seconds; null: the token does not expire. */
  readonly expiresIn: number | null
}

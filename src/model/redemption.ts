import type { CodeBinding } from './authorization.ts'
import type { Client } from './client.ts'
import type { FoundToken, TokenSubject } from './token.ts'

/** Restrictions that extensions place on a token that will be issued. An absent member restricts nothing. */
export interface TokenRestrictions {
  /** RFC 8707 §2 */
  readonly resources?: readonly string[]
  /** The resources of the whole authorization, if a refresh token may restore more than this token has. */
  readonly grantedResources?: readonly string[]
  /** RFC 9449 §6.1 */
  readonly keyThumbprint?: string
}

/** The client acts for its owner and receives only an access token. RFC 6749 §4.4. */
export interface ClientRedemption extends TokenRestrictions {
  readonly type: 'client'
  readonly client: Client
  readonly subject: TokenSubject | null
  readonly scopes: readonly string[]
}

/** A user authorizes the client: issues an authorization with its tokens. */
export interface UserRedemption extends TokenRestrictions {
  readonly type: 'user'
  readonly client: Client
  readonly subject: TokenSubject
  readonly scopes: readonly string[]
  /** Whether a refresh token may be issued, if the client may use that grant. */
  readonly refreshable: boolean
  /** The consent and the session of the grant. Nothing is issued if one of them has ended before the write. */
  readonly under?: {
    readonly consentId: string
    readonly sessionId: string | null
    /** The `User-Agent` of the browser in which the user agreed. */
    readonly userAgent: string
  }
  /** The redeemed code, completely verified. */
  readonly code?: {
    readonly kind: 'authorization_code' | 'device_code'
    readonly value: string
    readonly binding: CodeBinding
    /**
     * The time until which the redeemed code is remembered, if longer than an authorization code lives: milliseconds
     * since the epoch.
     */
    readonly keptUntil?: number
  }
}

/** The client presented a refresh token. RFC 6749 §6. */
export interface RefreshRedemption extends TokenRestrictions {
  readonly type: 'refresh'
  readonly client: Client
  readonly presented: string
  /** The normalized parameters, which a retry of this request with the same refresh token has too. */
  readonly parameters: string
  /** The pair that the refresh token belongs to; undefined if it was rotated or never existed. */
  readonly current?: { readonly found: FoundToken; readonly scopes: readonly string[] }
}

/** The client exchanges a token for a narrower one, which ends no later than its parent. RFC 8693 §2.1. */
export interface NarrowingRedemption extends TokenRestrictions {
  readonly type: 'narrowing'
  /** The client behind the parent token, which may be that of a personal token. */
  readonly client: Client
  readonly parent: FoundToken
  readonly scopes: readonly string[]
  /** The maximum lifetime in seconds. */
  readonly expiresIn: number
}

/** The result of a grant: who may receive which scopes. Only `tokens.issue` turns it into tokens. */
export type Redemption = ClientRedemption | UserRedemption | RefreshRedemption | NarrowingRedemption

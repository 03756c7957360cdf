import type { CodeBinding } from './authorization.ts'
import type { Client } from './client.ts'
import type { FoundToken, TokenSubject } from './token.ts'

/** What extensions restrict of a token that is about to be issued; what is left out restricts nothing. */
export interface TokenRestrictions {
  /** RFC 8707 §2 */
  readonly resources?: readonly string[]
  /** Of the whole authorization, where a refresh token may restore more than this token has. */
  readonly grantedResources?: readonly string[]
  /** RFC 9449 §6.1 */
  readonly keyThumbprint?: string
}

/** The client acts for its owner: a token and nothing else. RFC 6749 §4.4. */
export interface ClientRedemption extends TokenRestrictions {
  readonly type: 'client'
  readonly client: Client
  readonly subject: TokenSubject | null
  readonly scopes: readonly string[]
}

/** A user lets the client act: an authorization from which tokens hang. */
export interface UserRedemption extends TokenRestrictions {
  readonly type: 'user'
  readonly client: Client
  readonly subject: TokenSubject
  readonly scopes: readonly string[]
  /** Whether a refresh token may be issued; it is where the client may use that grant. */
  readonly refreshable: boolean
  /** What it was granted under: gone by the time of the write, nothing is issued. */
  readonly under?: {
    readonly consentId: string
    readonly sessionId: string | null
    /** Of the browser in which the user agreed. */
    readonly userAgent: string
  }
  /** The code that was redeemed for it, fully proven. */
  readonly code?: {
    readonly kind: 'authorization_code' | 'device_code'
    readonly value: string
    readonly binding: CodeBinding
    /** Until when it is kept, where that is longer than an authorization code lives: milliseconds since the epoch. */
    readonly keptUntil?: number
  }
}

/** A refresh token was presented. RFC 6749 §6. */
export interface RefreshRedemption extends TokenRestrictions {
  readonly type: 'refresh'
  readonly client: Client
  readonly presented: string
  /** What distinguishes this request from another with the same refresh token. */
  readonly parameters: string
  /** The pair it belongs to now; undefined where it was rotated, or never existed. */
  readonly current?: { readonly found: FoundToken; readonly scopes: readonly string[] }
}

/** A token was presented for one that may do less, ends earlier, and dies with it. RFC 8693 §2.1. */
export interface NarrowingRedemption extends TokenRestrictions {
  readonly type: 'narrowing'
  /** The client behind the parent, which may be that of a personal token. */
  readonly client: Client
  readonly parent: FoundToken
  readonly scopes: readonly string[]
  /** Seconds that it lives at most. */
  readonly expiresIn: number
}

/** What a grant found: who may have what. Only `tokens.issue` turns it into tokens. */
export type Redemption = ClientRedemption | UserRedemption | RefreshRedemption | NarrowingRedemption

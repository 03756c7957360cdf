import type { CodeBinding } from './authorization.ts'
import type { Client } from './client.ts'
import type { FoundToken, TokenSubject } from './token.ts'

/** The client acts for its owner: a token and nothing else. RFC 6749 §4.4. */
export interface ClientRedemption {
  readonly type: 'client'
  readonly client: Client
  readonly subject: TokenSubject | null
  readonly scopes: readonly string[]
}

/** A user lets the client act: an authorization from which tokens hang. */
export interface UserRedemption {
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
  readonly code?: { readonly value: string; readonly binding: CodeBinding }
}

/** A refresh token was presented. RFC 6749 §6. */
export interface RefreshRedemption {
  readonly type: 'refresh'
  readonly client: Client
  readonly presented: string
  /** What distinguishes this request from another with the same refresh token. */
  readonly parameters: string
  /** The pair it belongs to now; undefined where it was rotated, or never existed. */
  readonly current?: { readonly found: FoundToken; readonly scopes: readonly string[] }
}

/** What a grant found: who may have what. Only `tokens.issue` turns it into tokens. */
export type Redemption = ClientRedemption | UserRedemption | RefreshRedemption

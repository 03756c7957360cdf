import type { CodeBinding } from './authorization.ts'
import type { Client } from './client.ts'
import type { FoundToken, TokenSubject } from './token.ts'

/** The restrictions that extensions place on a new token. An absent member does not restrict the token. */
export interface TokenRestrictions {
  /** The resources for which the token is valid. RFC 8707 §2. */
  readonly resources?: readonly string[]
  /** The resources of the authorization, if a later refresh may request more resources than this token has. */
  readonly grantedResources?: readonly string[]
  /** The thumbprint of the key whose possession each request must prove. RFC 9449 §6.1. */
  readonly keyThumbprint?: string
  /** The digest of the OpenID Connect values that are stored with the authorization. */
  readonly loginDigest?: string
}

/** A redemption of `client_credentials`, which issues only an access token. RFC 6749 §4.4. */
export interface ClientRedemption extends TokenRestrictions {
  readonly type: 'client'
  readonly client: Client
  /**
   * The version of the client, if the client was read from memory. No token is issued if the stored client has another
   * version.
   */
  readonly clientVersion?: string
  readonly subject: TokenSubject | null
  readonly scopes: readonly string[]
}

/** The IDs that the store has assigned to rows that will be inserted. */
export interface ReservedIds {
  readonly authorizationId: number
  readonly tokenId: number
}

/** A redemption of a user's approval, which issues an authorization and its tokens. */
export interface UserRedemption extends TokenRestrictions {
  readonly type: 'user'
  readonly client: Client
  readonly subject: TokenSubject
  readonly scopes: readonly string[]
  /** Whether a refresh token is issued, provided that the client may use the `refresh_token` grant. */
  readonly refreshable: boolean
  /** The redirect URI that received the code or the token. It proves the sector of the client. */
  readonly receivedAt?: string
  /** The time since when the ID of the user belongs to this user, from the consent; null for the first such user. */
  readonly reusedSince?: number | null
  /** The consent and the session of the grant. No token is issued if the consent was withdrawn or the session ended. */
  readonly under?: {
    readonly consentId: string
    readonly sessionId: string | null
    /** The `User-Agent` of the browser in which the user agreed, or of the device that redeemed a device code. */
    readonly userAgent: string
  }
  /** The redeemed code, which the grant has already verified. */
  readonly code?: {
    readonly kind: 'authorization_code' | 'device_code'
    readonly value: string
    readonly binding: CodeBinding
    /**
     * Reuse of the code is detected at least until this time, in milliseconds since the epoch. Default: one lifetime of
     * an authorization code after the tokens were issued.
     */
    readonly keptUntil?: number
  }
  /**
   * The login that an ID token reports to the client. If the token has the scope `openid`, the login is stored, so that
   * the server can notify the client of the logout.
   */
  readonly login?: {
    /** The digest of the session identifier. */
    readonly session: string
    /** The claim `sid` of the ID token. */
    readonly sid: string
  }
  /** The IDs of the new rows, if the store can insert all rows in one statement. @internal */
  readonly reserved?: ReservedIds | undefined
}

/** A redemption of a refresh token. RFC 6749 §6. */
export interface RefreshRedemption extends TokenRestrictions {
  readonly type: 'refresh'
  readonly client: Client
  readonly presented: string
  /** The normalized parameters, with which the server recognizes a retry of the same request. */
  readonly parameters: string
  /** The pair with the presented refresh token; undefined if no current pair has this refresh token. */
  readonly current?: { readonly found: FoundToken; readonly scopes: readonly string[] }
}

/** An exchange of a token for a token with no more permissions and no later expiry. RFC 8693 §2.1. */
export interface NarrowingRedemption extends TokenRestrictions {
  readonly type: 'narrowing'
  /** The client of the parent token; for a personal token, its hidden client. */
  readonly client: Client
  readonly parent: FoundToken
  readonly scopes: readonly string[]
  /** The maximum lifetime in seconds. */
  readonly expiresIn: number
}

/** The result of a grant. `tokens.issue` creates the tokens. */
export type Redemption = ClientRedemption | UserRedemption | RefreshRedemption | NarrowingRedemption

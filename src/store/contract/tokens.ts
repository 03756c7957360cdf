import type { Digest } from '../../crypto/digest.ts'
import type { Sealed } from '../../crypto/sealed.ts'
import type { Authorization } from '../../model/entities/authorization.ts'
import type { ClientFields } from '../../model/entities/client.ts'
import type { StoredRotation } from '../../model/entities/rotated-token.ts'
import type { Granted, NewToken, TokenFields } from '../../model/entities/token.ts'
import type { UserId } from '../../model/user.ts'
import type { Expiring, Surplus } from './expiring.ts'
import type { List, Listed } from './page.ts'
import type { Reads, Rows } from './rows.ts'
import type { StoredUser } from './users.ts'

/** The row of a token. */
export interface StoredToken extends NewToken {
  readonly fields: TokenFields
  /** The last recorded use; null before the first recorded use. */
  readonly lastUse: TokenUse | null
}

/** A use of a token: the time in milliseconds since the epoch, and the IP address of the caller. */
export interface TokenUse {
  readonly at: number
  readonly address: string
}

/** A personal token with its name and the expiry of its former value. */
export interface PersonalTokenRow extends StoredToken {
  readonly name: string
  /** The scopes that guards have required in requests with the token. */
  readonly usedScopes: readonly string[]
  readonly previousExpires: number | null
}

/** The fields of a personal token by which its user searches, filters and sorts. */
export interface PersonalTokenSummary {
  readonly id: number
  readonly name: string
  readonly scopes: readonly string[]
  readonly createdAt: number
  readonly expires: number | null
  readonly lastUsedAt: number | null
}

/** A token with its authorization, which users see as one device of an application. */
export interface AuthorizedTokenRow extends StoredToken {
  readonly authorization: Pick<Authorization, 'scopes' | 'userAgent' | 'createdAt'>
}

/** A token with the names that the list for administrators shows. */
export interface TokenWithNames extends StoredToken {
  readonly clientName: string
  readonly userEmail: string | null
}

/** The fields of a token in the list for administrators, by which they filter and sort. */
export interface TokenSummary {
  readonly id: number
  readonly clientId: string
  readonly clientName: string
  readonly isPersonal: boolean
  /** Whether the token has a refresh token. */
  readonly isRefreshable: boolean
  readonly userId: UserId | null
  readonly userEmail: string | null
  readonly scopes: readonly string[]
  readonly createdAt: number
  readonly expires: number | null
  readonly lastUsedAt: number | null
}

/** A token with its user and its client. The token is not valid if the user is inactive or the client is disabled. */
export interface TokenWithState extends StoredToken {
  readonly user: StoredUser | null
  readonly client: Pick<
    ClientFields,
    'clientKey' | 'clientId' | 'name' | 'createdAt' | 'userId' | 'isDisabled' | 'allowedScopes'
  > & {
    readonly ownerActive: boolean
    /** The seal of the client's fields, except for `ownerActive`. */
    readonly stateSeal: Sealed
  }
}

/** A token with a refresh token, and its authorization. A refresh may request every scope of the authorization. */
export interface RefreshTokenWithState extends TokenWithState {
  readonly authorization: Granted
}

/** Replaces a refresh token with its successor. */
export interface Rotation {
  /** The ID of the token's row. */
  readonly id: number
  /** The access token that the rotation replaces. The rotation fails if another request has already replaced it. */
  readonly replaced: { readonly accessDigest: Digest; readonly expires: number | null }
  readonly next: NewToken
  /** The presented refresh token, which is stored to detect its reuse. */
  readonly rotated: StoredRotation
  /** Whether concurrent requests may exchange the access token for other tokens (RFC 8693). */
  readonly mayBeExchanged: boolean
  /** The new expiry of the authorization, unless its current expiry is later. */
  readonly endsAt: number
}

/** The lists of tokens, without the former values of rotated tokens. */
export interface TokenLists {
  /** A user's personal tokens, without internal tokens; with `ids`, only the tokens with one of these IDs. */
  readonly personal: List<
    { readonly userId: UserId; readonly now: number; readonly ids?: readonly number[] },
    PersonalTokenRow,
    PersonalTokenSummary
  >
  /** The tokens whose ID, client ID or user's e-mail address equals the text. An empty text matches all. */
  readonly matching: List<
    { readonly text: string; readonly isPersonal?: boolean },
    TokenWithNames,
    TokenSummary
  >
}

/** The values by which tokens are found. `name` is the name of a personal token. */
export type TokenConditions = Pick<
  TokenFields,
  'id' | 'authorizationId' | 'clientId' | 'userId'
> & {
  readonly name: string
}

/** A token expires if it cannot be refreshed. `deleteExpired` also deletes the clients of expired personal tokens. */
export interface TokenStore
  extends Expiring,
    Surplus<SurplusOwner>,
    Listed<TokenLists>,
    Reads<StoredToken, TokenConditions>,
    Pick<Rows<NewToken, TokenFields & Pick<NewToken, 'successorId'>>, 'delete'> {
  findByAccess(digest: Digest): Promise<TokenWithState | undefined>
  /** Finds a token by the digest of the access token that its last rotation replaced. */
  findByFormer(digest: Digest): Promise<TokenWithState | undefined>
  findByRefresh(digest: Digest): Promise<RefreshTokenWithState | undefined>
  /**
   * Inserts a token and returns its ID. Returns undefined if a random value is taken; the caller then retries with
   * other values.
   * @param clientVersion the version of the client that `recallClient` returned
   * @throws ClientChanged if the client or its owner has changed since that version; no token is inserted then
   */
  insert(token: NewToken, clientVersion?: string): Promise<number | undefined>
  /** Inserts a deleted token again under its former ID. @throws UniqueViolation if the ID is taken */
  restore(id: number, token: NewToken): Promise<void>
  /**
   * Replaces a pair of tokens, and deletes the tokens that were exchanged from the pair. Exactly one of several
   * concurrent callers succeeds.
   * @returns false if the pair was already replaced or the authorization was revoked
   * @throws UniqueViolation if a random value is taken
   */
  rotate(rotation: Rotation): Promise<boolean>
  /** Finds a personal token. Inside a transaction, locks its row until the end. Former values are not found. */
  personal(id: number, now: number): Promise<PersonalTokenRow | undefined>
  /**
   * Lists the active authorizations of a user for these clients: at most `limit` for each client, the latest first.
   * `count` is the number of active authorizations for the client, counted up to `countLimit`.
   */
  authorizedOf(
    userId: UserId,
    clientIds: readonly string[],
    now: number,
    limits: { readonly limit: number; readonly countLimit: number },
  ): Promise<readonly (AuthorizedTokenRow & { readonly count: number })[]>
  authorized(id: number, now: number): Promise<AuthorizedTokenRow | undefined>
  /** Replaces the scopes, the expiry and the secret of a token. */
  rewrite(id: number, token: NewToken): Promise<void>
  /** Stores each use that is later than the stored use of its token. Skips locked tokens. */
  touch(uses: ReadonlyMap<number, TokenUse>): Promise<void>
  /**
   * Adds scopes to `usedScopes` of tokens. Must run in a transaction. Skips tokens that another transaction has locked.
   * @returns the IDs of the existing tokens that were not skipped
   */
  noteScopes(scopes: ReadonlyMap<number, readonly string[]>): Promise<readonly number[]>
}

/**
 * The owner of rows whose number is limited: an authorization, whose rotated refresh tokens are also surplus if they were
 * rotated up to `before`; a client with its `client_credentials` tokens (RFC 6749 §4.4); or a token with the tokens that
 * were exchanged from it.
 */
export type SurplusOwner =
  | { readonly authorizationId: number; readonly before: number }
  | Pick<TokenFields, 'clientKey' | 'userId'>
  | { readonly parentId: number }

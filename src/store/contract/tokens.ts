import type { Digest } from '../../crypto/digest.ts'
import type { Sealed } from '../../crypto/sealed.ts'
import type { Authorization } from '../../model/authorization.ts'
import type { TokenFields } from '../../model/token.ts'
import type { UserId } from '../../model/user.ts'
import type { Cursor, Page } from './page.ts'
import type { StoredUser } from './users.ts'

/** A token row: the record, and its secrets as digests to look up and sealed to read again. */
export interface StoredToken {
  readonly fields: TokenFields
  readonly accessDigest: Digest
  readonly accessToken: Sealed
  readonly refreshDigest: Digest | null
  readonly refreshToken: Sealed | null
  /** When it was used last, and from where; null: never, or not written yet. */
  readonly lastUse: TokenUse | null
  /** The token that took the place of this personal one, which ends soon. */
  readonly successorId: number | null
}

/** Milliseconds since the epoch, and the address of who used it. */
export interface TokenUse {
  readonly at: number
  readonly address: string
}

export type NewToken = Omit<StoredToken, 'fields' | 'lastUse'> & {
  readonly fields: Omit<TokenFields, 'id'>
}

/** A personal token with the name of the client behind it, and until when its former value is valid. */
export interface PersonalTokenRow extends StoredToken {
  readonly name: string
  readonly previousExpires: number | null
}

/** A token with the authorization that it hangs from: an application on one device. */
export interface AuthorizedTokenRow extends StoredToken {
  readonly authorization: Pick<Authorization, 'scopes' | 'userAgent' | 'createdAt'>
}

/** Any token, as an administrator lists it. */
export interface TokenWithNames extends StoredToken {
  readonly clientName: string
  readonly userEmail: string | null
}

/** A token and all that decides whether it counts, read in one query. */
export interface TokenWithState extends StoredToken {
  readonly user: StoredUser | null
  readonly client: {
    readonly clientKey: number
    readonly clientId: string
    readonly name: string
    readonly ownerId: UserId | null
    readonly ownerActive: boolean
    readonly isDisabled: boolean
    /** The limit of the client as it stands now; null: none. */
    readonly allowedScopes: readonly string[] | null
    /** Proves all of that but for the state of the owner. */
    readonly stateSeal: Sealed
  }
}

/** A refresh token's row with the authorization that it can restore. */
export interface RefreshTokenWithState extends TokenWithState {
  readonly authorization: Pick<Authorization, 'scopes' | 'resources' | 'createdAt'>
}

/** A refresh token that was rotated: who presents it again is retrying, or has stolen it. */
export interface RotatedRefreshToken {
  readonly digest: Digest
  readonly authorizationId: number
  readonly successor: Digest
  /** The digest of the parameters with which it was redeemed. */
  readonly parameters: string
  readonly rotatedAt: number
}

export interface StoredRotation extends RotatedRefreshToken {
  readonly seal: Sealed
}

/** A refresh token gives place to the next. */
export interface Rotation {
  /** Of the token's row. */
  readonly id: number
  readonly next: NewToken
  /** What stays of the refresh token that was presented. */
  readonly rotated: StoredRotation
  /** Whether others may be narrowing tokens from it at this moment, which end with it. */
  readonly isNarrowed: boolean
  /** The authorization ends then at the earliest; never nearer, where something older still needs the tombstone. */
  readonly endsAt: number
}

export interface TokenStore {
  findByAccess(digest: Digest): Promise<TokenWithState | undefined>
  findByRefresh(digest: Digest): Promise<RefreshTokenWithState | undefined>
  find(id: number): Promise<StoredToken | undefined>
  /** The same; in a transaction it stays as it is until that ends. */
  hold(id: number): Promise<StoredToken | undefined>
  /** Undefined where one of the random values is taken: try again with others. */
  insert(token: NewToken): Promise<number | undefined>
  /**
   * Replaces a pair, if its refresh token is still the rotated one, in one step with all that hangs from it.
   * Of concurrent callers, exactly one wins.
   * @throws UniqueViolation
   */
  rotate(rotation: Rotation): Promise<boolean>
  findRotated(digest: Digest): Promise<StoredRotation | undefined>
  /** The current pair of an authorization. */
  ofAuthorization(authorizationId: number): Promise<StoredToken | undefined>
  ofClient(clientId: string): Promise<readonly StoredToken[]>
  /** A user's personal tokens, but for internal ones and values that were replaced. */
  personalOf(userId: UserId, now: number, cursor: Cursor): Promise<Page<PersonalTokenRow>>
  personal(id: number, now: number): Promise<PersonalTokenRow | undefined>
  /** How many personal tokens a user has, counted up to `most`, but for internal ones and values that were replaced. */
  countPersonalOf(userId: UserId, most: number): Promise<number>
  /** Deletes the tokens that were narrowed from this one. */
  deleteChildren(parentId: number): Promise<void>
  /** Deletes the former values of a personal token. */
  deletePrevious(successorId: number): Promise<void>
  /**
   * The live authorizations of a user for these clients: at most `limit` each, latest first, and how many there are,
   * counted up to `countLimit`.
   */
  authorizedOf(
    userId: UserId,
    clientIds: readonly string[],
    now: number,
    limits: { readonly limit: number; readonly countLimit: number },
  ): Promise<readonly (AuthorizedTokenRow & { readonly count: number })[]>
  authorized(id: number, now: number): Promise<AuthorizedTokenRow | undefined>
  /** Every token; of a user's e-mail address, a client's id or a token's own id where a text is given. */
  search(text: string, cursor: Cursor): Promise<Page<TokenWithNames>>
  /** Replaces what a token is: its scopes, its expiry, its secret. */
  rewrite(id: number, token: NewToken): Promise<void>
  /** Writes when tokens were used, where that is news. */
  touch(uses: ReadonlyMap<number, TokenUse>): Promise<void>
  /** The ids of a user's personal tokens of that name. */
  personalNamed(userId: UserId, name: string): Promise<readonly number[]>
  delete(id: number): Promise<boolean>
  /**
   * Deletes at most `limit` tokens that neither work nor can be refreshed, personal ones with their client.
   * @returns how many; 0 alone says that there are no more
   */
  deleteExpired(now: number, limit: number): Promise<number>
  /** Deletes at most `limit` tombstones of an authorization: those from before that time, and all but the latest `keep`. */
  deleteRotated(
    authorizationId: number,
    which: Beyond & { readonly before: number },
  ): Promise<number>
  /** Deletes at most `limit` tokens that a client got for itself (RFC 6749 §4.4): all but about the latest `keep`. */
  deleteOldestOwn(of: Pick<TokenFields, 'clientKey' | 'userId'>, which: Beyond): Promise<number>
  /** Deletes at most `limit` of the tokens that were narrowed from this one: all but the latest `keep`. */
  deleteOldestChildren(parentId: number, which: Beyond): Promise<number>
}

/** The oldest rows beyond a bound. */
export interface Beyond {
  readonly keep: number
  readonly limit: number
}

import type { Digest } from '../crypto/digest.ts'
import type { Sealed } from '../crypto/sealed.ts'
import type { AuditRecord, SealedAuditEvent } from '../model/audit-event.ts'
import type { AuditValues } from '../model/audit-values.ts'
import type { Authorization, Consent } from '../model/authorization.ts'
import type { ClientFields } from '../model/client.ts'
import type { TokenFields } from '../model/token.ts'
import type { User, UserId } from '../model/user.ts'
import type { UserKeyType, UserTable } from '../model/user-table.ts'

/**
 * The store cannot be reached or cannot write. It answers 503 everywhere and is never mistaken for a
 * verdict on a credential.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** A value that must be unique is taken. Random values are simply drawn again. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation'
}

/** What a row was to hang from is gone: deleted, or under another id, since it was read. */
export class ReferenceNotFound extends Error {
  override readonly name = 'ReferenceNotFound'
}

/** Users that belong to the application are created, changed and deleted by the application. */
export class NotOurUsers extends Error {
  override readonly name = 'NotOurUsers'
  constructor() {
    super(
      'The users belong to the application: change them there, and call users.deleted(id) after a deletion.',
    )
  }
}

/** The store is there, but not one that this version can use. The message says what to do. */
export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable'
}

/** A newer version has migrated the store: this one can use it, since migrations only add, but not migrate it. */
export class NewerSchema extends StoreUnusable {}

/** A page of a list, newest first. */
export interface Page<T> {
  readonly items: readonly T[]
  /** The cursor of the next page; null: this is the last page. */
  readonly next: string | null
}

/** Asks for one page of a list: at most `limit` items after `after`, the `next` of an earlier page. */
export interface Cursor {
  /** Null: from the beginning. An unknown cursor starts there too. */
  readonly after: string | null
  readonly limit: number
}

export interface SealedClient {
  readonly fields: ClientFields
  /** Proves that the row is as we wrote it. */
  readonly seal: Sealed
  /** The same for what a token lookup reads of it. */
  readonly stateSeal: Sealed
}

export interface ClientWithOwner extends SealedClient {
  readonly owner: StoredUser | null
}

export interface ClientStore {
  find(clientId: string): Promise<ClientWithOwner | undefined>
  /** The client that has this secret, or had it before: expired or not. */
  findBySecret(digest: Digest): Promise<ClientWithOwner | undefined>
  /** False where the id or the secret is taken: try again with other random values. */
  insert(client: SealedClient): Promise<boolean>
  /**
   * Replaces every field of the client that has this id; the id may change too. With another key, it is another client
   * of that id: whatever belongs to the former is absent from then on, and listed to be removed. False: taken.
   */
  update(clientId: string, client: SealedClient, now: number): Promise<boolean>
  /**
   * Deletes the client: whatever belongs to it is absent from then on, and listed to be removed. In a transaction.
   * False where there was none.
   */
  delete(clientId: string, now: number): Promise<boolean>
  /** Ends the tokens that the client got for itself (RFC 6749 §4.4), and what was narrowed from them. */
  endOwnTokens(clientId: string): Promise<void>
  /**
   * Deletes at most `limit` unused clients that registered themselves before that time: those that act for nobody, without
   * a token, an authorization or a consent. One that may act for itself (`client_credentials`) is never unused.
   */
  deleteUnused(before: number, limit: number): Promise<number>
  /** The number of unused clients that registered themselves, before that time where one is given, as far as `most`. */
  countUnused(most: number, before?: number): Promise<number>
  /** How many applications a user registered, counted up to `most`: neither internal ones nor those behind a personal token. */
  countOfOwner(userId: UserId, most: number): Promise<number>
  /** The number of its tokens that are neither personal nor internal, counted up to `most`. */
  countUsers(clientId: string, most: number): Promise<number>
  /** The same for several clients, in one query. */
  countUsersOf(clientIds: readonly string[], most: number): Promise<ReadonlyMap<string, number>>
  /** The applications that a user registered: neither internal ones nor those behind a personal token. */
  ofOwner(userId: UserId, cursor: Cursor): Promise<Page<ClientWithOwner>>
  /** Applications whose name, id or owner's e-mail address contains the text; all of them without one. */
  search(text: string, cursor: Cursor): Promise<Page<ClientWithOwner>>
  /** The applications that act for a user: by consent, or by an authorization that lives. */
  authorizedBy(userId: UserId, now: number, cursor: Cursor): Promise<Page<ClientWithOwner>>
}

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

export type NewAuthorization = Omit<Authorization, 'id' | 'clientId' | 'revokedAt'> & {
  /** Unique: whoever inserts it has redeemed the code. */
  readonly codeDigest: Digest | null
}

export interface AuthorizationStore {
  /** Undefined where the code was redeemed before. Of concurrent callers, exactly one gets the id. */
  insertOnce(authorization: NewAuthorization): Promise<number | undefined>
  find(id: number): Promise<Authorization | undefined>
  findByCode(digest: Digest): Promise<Authorization | undefined>
  /** Those of a user for a client that are not revoked, but for so many, the latest: at most 100. */
  beyond(userId: UserId, clientId: string, keep: number): Promise<readonly number[]>
  /** Marks it and deletes its tokens. False where it was revoked before. */
  revoke(id: number, now: number): Promise<boolean>
  /**
   * Marks at most `limit` of a user's authorizations that have tokens, of one client or of all, and deletes their
   * tokens. @returns how many were marked; 0 once nothing is left
   */
  revokeOfUser(userId: UserId, clientId: string | null, now: number, limit: number): Promise<number>
  /**
   * Deletes at most `limit` tombstones of expired authorizations, and if there were fewer, the authorizations.
   * @returns the number of rows; only 0 means that none are left
   */
  deleteExpired(now: number, limit: number): Promise<number>
}

export interface SealedConsent {
  readonly consent: Consent
  readonly seal: Sealed
}

export interface ConsentStore {
  /**
   * In a transaction nobody else changes it until the end.
   * @param options.isShared the caller does not change it either: others who say so need not wait
   */
  find(
    userId: UserId,
    clientId: string,
    options?: { readonly isShared?: boolean },
  ): Promise<SealedConsent | undefined>
  /** False where the user has one to the client already. Of concurrent callers, exactly one inserts. */
  insert(consent: SealedConsent): Promise<boolean>
  /** Inserts or replaces the user's consent to the client. */
  put(consent: SealedConsent): Promise<void>
  delete(userId: UserId, clientId: string): Promise<boolean>
  deleteOfUser(userId: UserId): Promise<void>
  ofUser(userId: UserId, clientIds: readonly string[]): Promise<readonly SealedConsent[]>
}

/** A user as the store reads it. */
export interface StoredUser extends User {
  /** Proves that the row is as we wrote it; empty for users of the application, whose table we do not write. */
  readonly seal: string
}

/** A user with the hash of the password, which never leaves the records. */
export interface UserWithPassword extends StoredUser {
  readonly passwordHash: string | null
}

export type NewUser = UserWithPassword & { readonly createdAt: number }

export interface UserStore {
  find(id: UserId): Promise<UserWithPassword | undefined>
  findByEmail(email: string): Promise<UserWithPassword | undefined>
  /**
   * False where the e-mail address is taken.
   * @throws UniqueViolation where the id is
   */
  insert(user: NewUser): Promise<boolean>
  /** Writes what changes of a user, with the seal of the whole row. */
  update(user: Pick<StoredUser, 'id' | 'active' | 'isAdmin' | 'seal'>): Promise<boolean>
  setPassword(id: UserId, passwordHash: string): Promise<boolean>
  /** Deletes the user: whatever belongs to them is absent from then on, and listed to be removed. In a transaction. */
  delete(id: UserId, now: number): Promise<boolean>
}

/** A signed-in browser. The identifier in its cookie is kept as a digest. */
export interface StoredSession {
  readonly id: Digest
  readonly userId: UserId
  readonly address: string
  readonly userAgent: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly lastSeenAt: number
  readonly seal: Sealed
}

export interface SessionStore {
  find(
    id: Digest,
  ): Promise<{ readonly session: StoredSession; readonly user: StoredUser | null } | undefined>
  /** False where the identifier is taken. */
  insert(session: StoredSession): Promise<boolean>
  touch(session: Pick<StoredSession, 'id' | 'lastSeenAt' | 'seal'>): Promise<void>
  /** A user's sessions, latest first. */
  ofUser(userId: UserId, cursor: Cursor): Promise<Page<StoredSession>>
  delete(id: Digest): Promise<boolean>
  deleteOfUser(userId: UserId, except?: Digest): Promise<number>
  /** Deletes all of a user but so many, the latest. */
  deleteOldest(userId: UserId, keep: number): Promise<void>
  deleteExpired(now: number, idleSince: number, limit: number): Promise<number>
}

/** Short-lived values: codes, pending requests. Keys carry their kind, values are sealed by the caller. */
export interface Transients {
  /** False where the key is taken. */
  put(key: string, value: string, expiresAt: number, now: number): Promise<boolean>
  /** Keeps the value in the place of what is there. */
  set(key: string, value: string, expiresAt: number, now: number): Promise<void>
  get(key: string, now: number): Promise<string | undefined>
  /** Returns the values of several keys, in their order, in one round trip. */
  getMany(keys: readonly string[], now: number): Promise<readonly (string | undefined)[]>
  /** Removes and returns the value; of concurrent callers, exactly one receives it. */
  take(key: string, now: number): Promise<string | undefined>
  /** Counts up and returns the new count; every caller gets another number. */
  increment(key: string, expiresAt: number, now: number): Promise<number>
  delete(key: string): Promise<void>
  deleteExpired(now: number, limit: number): Promise<number>
}

/** Short-lived values that are kept beside the database. */
export interface OpenTransients extends Transients {
  /** @throws StoreUnavailable where they do not answer */
  ping(): Promise<void>
  close(): Promise<void>
}

/** How to open a keeper of short-lived values: what `redis(url)` returns. */
export interface TransientsOpener {
  readonly description: string
  /** @throws StoreUnavailable where it is away for now, StoreUnusable where it does not let us in */
  open(): Promise<OpenTransients>
}

/** The secret keys that rows were sealed under, by their ids. */
export interface SecretKeyStore {
  ids(): Promise<readonly string[]>
  add(id: string, now: number): Promise<void>
  delete(id: string): Promise<void>
}

/** A key pair with which tokens are signed, as it is stored. */
export interface StoredSigningKey {
  /** Its `kid` (RFC 7517 §4.5). */
  readonly id: string
  readonly algorithm: string
  /** JSON (RFC 7517). */
  readonly publicKey: string
  readonly privateKey: Sealed
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

export interface SigningKeyStore {
  /** The youngest first. */
  all(): Promise<readonly StoredSigningKey[]>
  /** False where the id is taken: of several nodes, one makes the next key. */
  insert(key: StoredSigningKey): Promise<boolean>
  delete(id: string): Promise<void>
}

/** The primary key of a row. */
export type RowKey = readonly (string | number)[]

/** A row with its sealed values as they were read. */
export interface SealedRow<Row> {
  readonly key: RowKey
  readonly sealed: readonly (Sealed | null)[]
  readonly row: Row
}

/** The sealed values that a row is to have, in the order of those that it had. */
export interface ResealedRow {
  readonly before: Pick<SealedRow<unknown>, 'key' | 'sealed'>
  readonly sealed: readonly (Sealed | null)[]
}

/** The rows of one table that carry sealed values. */
export interface SealedRows<Row> {
  /** The name of the table. */
  readonly table: string
  /**
   * Those among the next `limit` rows that hold a value under another key than this one, from the greatest
   * primary key down. `next` is where to go on; null: this was the last page.
   */
  notUnder(
    keyId: string,
    after: RowKey | null,
    limit: number,
  ): Promise<{ readonly rows: readonly SealedRow<Row>[]; readonly next: RowKey | null }>
  /**
   * Writes the values of each row that still is as it was read, and leaves out what somebody else is
   * writing: it waits for nobody. @returns how many rows were written
   */
  reseal(rows: readonly ResealedRow[]): Promise<number>
  /** How many of the first `limit` rows hold a value under this key, and whether there are no more. */
  countUnder(
    keyId: string,
    limit: number,
  ): Promise<{ readonly rows: number; readonly isAll: boolean }>
}

/** Every kind of row that is sealed, with what its seal claims. Transient values end by themselves. */
export interface SealedStore {
  readonly tokens: SealedRows<
    StoredToken & { readonly granted: Pick<Authorization, 'scopes' | 'resources' | 'createdAt'> }
  >
  readonly rotations: SealedRows<StoredRotation>
  readonly clients: SealedRows<SealedClient>
  readonly consents: SealedRows<SealedConsent>
  readonly sessions: SealedRows<StoredSession>
  readonly users: SealedRows<User>
  readonly signingKeys: SealedRows<StoredSigningKey>
  readonly auditCheckpoints: SealedRows<AuditCheckpoint>
}

/** Which events are looked for; what is left out says nothing. */
export interface AuditFilter {
  readonly event?: string | undefined
  /** Whose account they are about. */
  readonly userId?: UserId | undefined
  readonly clientId?: string | undefined
  /** Only what people do, of the user that is looked for. */
  readonly withoutRoutine?: boolean
  /** Milliseconds since the epoch; the first that is looked for. */
  readonly since?: number | undefined
  /** The first that is not looked for any more. */
  readonly until?: number | undefined
}

/** A row of the audit log as it is stored; its seal is not verified yet. */
export interface StoredAuditRow {
  readonly id: number
  readonly values: AuditValues
  readonly seal: string
}

/** Rows that no writer will add to: see `settledUpTo`. */
export interface AuditMark {
  readonly id: number
  /** Whether the database would have given the ids of earlier rows again. */
  readonly wasSetBack: boolean
  /** The transactions that were writing audit rows when the mark was made. */
  readonly writers: readonly string[]
}

/** Written once, never changed; removed by their age alone. */
export interface AuditStore {
  add(event: SealedAuditEvent): Promise<void>
  /** All or none of many, where no request has to wait for them. */
  addMany(events: readonly SealedAuditEvent[]): Promise<void>
  /** The latest first. */
  latest(filter: AuditFilter, cursor: Cursor): Promise<Page<AuditRecord>>
  /** The earliest first. */
  earliest(filter: AuditFilter, cursor: Cursor): Promise<Page<AuditRecord>>
  /** At most `limit` rows with an id above `after`, and up to `until` where it is given, by their ids. */
  rows(
    range: { readonly after: number | null; readonly until?: number },
    limit: number,
  ): Promise<readonly StoredAuditRow[]>
  /**
   * The greatest id in this range, and who may still commit a row with a smaller one. Rows that are added from now on
   * have greater ids, whatever ids the existing rows were given by hand.
   */
  mark(range: { readonly after: number; readonly until: number }): Promise<AuditMark>
  /** Whether every row up to the mark is committed, or never will be. */
  isSettled(mark: AuditMark): Promise<boolean>
  /** The ids in this range whose rows have the time and the seal of a row with a smaller id. */
  copies(range: { readonly after: number; readonly until: number }): Promise<readonly number[]>
  /** Deletes at most `limit` rows up to that id. @returns how many */
  deleteUpTo(id: number, limit: number): Promise<number>
}

/** What a checkpoint of the audit log says. */
export interface AuditCheckpoint {
  readonly number: number
  readonly at: number
  /** It covers every row with an id above this one… */
  readonly afterId: number
  /** … up to this one. */
  readonly lastId: number
  /** The ids of these rows: `3-7,9`. */
  readonly ids: string
  /** The digest of these rows. */
  readonly rowsDigest: string
  /** The greatest `at` of these rows; 0 without rows. */
  readonly latestAt: number
  /** Those of the ids whose rows nobody had sealed. */
  readonly forged: string
  /** Rows and checkpoints are removed up to this checkpoint, which is kept; 0: none. */
  readonly removedUpTo: number
  /** The digest of the checkpoint before. */
  readonly previous: string
}

export type SealedCheckpoint = AuditCheckpoint & { readonly seal: Sealed }

export interface AuditCheckpointStore {
  /** False where the number is taken: of several nodes, one makes the next checkpoint. */
  insert(checkpoint: SealedCheckpoint): Promise<boolean>
  /** At most `limit` with a number above `after`, by their numbers. */
  list(after: number, limit: number): Promise<readonly SealedCheckpoint[]>
  /** At most `limit`, the latest first, with a number below `before` where it is given. */
  latest(limit: number, before?: number): Promise<readonly SealedCheckpoint[]>
  /** Deletes at most `limit` with a number below. @returns how many */
  deleteBelow(number: number, limit: number): Promise<number>
}

export interface MigrationResult {
  readonly name: string
  readonly direction: 'up' | 'down'
}

/** What hangs from users, for users that no foreign key guards. */
export interface UserDataStore {
  /** At most `limit` ids of users that something hangs from, in order, those after `after`. */
  idsInUse(after: UserId | null, limit: number): Promise<readonly UserId[]>
  /**
   * Deletes about `limit` rows that belong to a user: sessions, tokens, authorizations, consents, clients.
   * @returns how many; 0 once nothing is left
   */
  deleteSome(userId: UserId, limit: number): Promise<number>
}

/** A client or a built-in user that was deleted: the rows that belonged to it are dead, and have to be removed. */
export interface Removal {
  readonly kind: 'client' | 'user'
  readonly key: number
  /** When it was deleted; milliseconds since the epoch. */
  readonly at: number
}

export interface RemovalStore {
  /** At most `limit` of them, in one order, those after `after`. */
  list(after: Removal | null, limit: number): Promise<readonly Removal[]>
  /** Removes about `limit` rows. @returns how many; 0 once nothing is left */
  removeSome(removal: Pick<Removal, 'kind' | 'key'>, limit: number): Promise<number>
  delete(removal: Removal): Promise<void>
  /** Adds deleted clients to the list, unless they are listed. */
  addClients(keys: readonly number[], at: number): Promise<void>
  /**
   * Finds the clients that a foreign key of the application's user table has deleted: looks at about `limit` client keys
   * of each table after `after`. `last` is the last key that it looked at; null at the end.
   */
  findOrphans(
    after: number,
    limit: number,
  ): Promise<{ readonly keys: readonly number[]; readonly last: number | null }>
}

/** What the sweeper remembers between two runs: since when a user is missing, when the clock was last read. */
export type SweeperNoteKind = 'missing user' | 'last sweep'

export interface SweeperNote {
  readonly key: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

export interface SweeperNoteStore {
  find(kind: SweeperNoteKind, keys: readonly string[]): Promise<readonly SweeperNote[]>
  /** At most `limit` notes from that time or earlier, the oldest first. */
  until(kind: SweeperNoteKind, at: number, limit: number): Promise<readonly SweeperNote[]>
  /** Writes a note, or replaces it. */
  put(kind: SweeperNoteKind, note: SweeperNote): Promise<void>
  delete(kind: SweeperNoteKind, keys: readonly string[]): Promise<void>
}

/** The times by which one run of the sweeper judges, in milliseconds since the epoch; null: nothing of the kind is removed. */
export interface SweepTimes {
  readonly now: number
  /** Sessions that were not used since are removed. */
  readonly idleSince: number
  readonly auditBefore: number | null
  readonly unusedClientsBefore: number | null
}

/** Counts what the sweeper would remove. */
export interface ExpiredStore {
  /** The number of rows of each kind, counted up to `most`. */
  count(times: SweepTimes, most: number): Promise<ExpiredCounts>
}

export interface ExpiredCounts {
  readonly tokens: number
  readonly authorizations: number
  readonly sessions: number
  readonly transients: number
  readonly auditEvents: number
}

/** All that is kept. Every operation stands alone, or inside the `transaction` whose store it belongs to. */
export interface Store {
  readonly clients: ClientStore
  readonly tokens: TokenStore
  readonly authorizations: AuthorizationStore
  readonly consents: ConsentStore
  readonly users: UserStore
  readonly sessions: SessionStore
  readonly userData: UserDataStore
  readonly removals: RemovalStore
  readonly sweeperNotes: SweeperNoteStore
  readonly expired: ExpiredStore
  readonly transients: Transients
  readonly secretKeys: SecretKeyStore
  readonly signingKeys: SigningKeyStore
  readonly sealed: SealedStore
  readonly audit: AuditStore
  readonly auditCheckpoints: AuditCheckpointStore
  /** All or nothing. Inside a transaction, a savepoint. */
  transaction<T>(work: (tx: Store) => Promise<T>): Promise<T>
}

/** The connections of a pool. */
export interface PoolStats {
  /** Those that are open, in use or not. */
  readonly total: number
  readonly idle: number
  /** Callers that wait for one. */
  readonly waiting: number
}

export interface OpenStore extends Store {
  /**
   * Brings the schema up to date, or to the migration of that name.
   * @throws NewerSchema for a database of a newer version that has all this one needs; StoreUnusable where it lacks some
   */
  migrate(options?: {
    readonly to?: string
    readonly dryRun?: boolean
    /** Called once where it waits for another node that migrates, or for whoever uses the tables. */
    readonly onWait?: () => void
  }): Promise<readonly MigrationResult[]>
  /** @throws StoreUnavailable where the store does not answer, or takes no writes */
  ping(): Promise<void>
  /** The time of the database server, where it has a clock of its own: milliseconds since the epoch. */
  now?(): Promise<number>
  /** Where the store has a pool of connections. */
  poolStats?(): PoolStats
  close(): Promise<void>
}

/** How to open a store: what `sqlite(path)` returns. */
export interface StoreOpener {
  readonly description: string
  /** @throws StoreUnusable where it cannot be opened */
  open(users?: UserTable | 'built-in' | 'elsewhere', keyType?: UserKeyType): Promise<OpenStore>
}

export interface StoreOperation {
  /** For instance `tokens.rotate`. */
  readonly name: string
}

/** Runs around every store operation: the seam by which tests pause, fail or kill. */
export type AroundStore = <T>(operation: StoreOperation, run: () => Promise<T>) => Promise<T>

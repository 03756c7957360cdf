import type { Digest } from '../crypto/digest.ts'
import type { StoredRotation } from '../model/entities/rotated-token.ts'
import type { SecretKey } from '../model/entities/secret-key.ts'
import type { StoredSigningKey } from '../model/entities/signing-key.ts'
import type { UserKeyType, UsersLocation } from '../model/user-table.ts'
import type { AuditCheckpointStore, AuditStore } from './contract/audit.ts'
import type { AuditCountStore } from './contract/audit-counts.ts'
import type { AuthorizationStore, ConsentStore } from './contract/authorizations.ts'
import type { ClientLoginStore } from './contract/client-logins.ts'
import type { ClientLogoStore } from './contract/client-logos.ts'
import type { ClientStore, RecalledClient } from './contract/clients.ts'
import type { Expiring } from './contract/expiring.ts'
import type { LogoutNoticeStore } from './contract/logout-notices.ts'
import type { Reads, Rows } from './contract/rows.ts'
import type { SealedStore } from './contract/sealed.ts'
import type { SessionStore } from './contract/sessions.ts'
import type { RemovalStore, SweeperNoteStore } from './contract/sweeper.ts'
import type { TokenStore } from './contract/tokens.ts'
import type { Transients } from './contract/transients.ts'
import type { UserStore } from './contract/users.ts'

export interface MigrationResult {
  readonly name: string
  readonly direction: 'up' | 'down'
}

/** The operations on all stored data. */
export interface Store {
  readonly clients: ClientStore
  readonly tokens: TokenStore
  /** The rotated refresh tokens, which `tokens.rotate` inserts. */
  readonly rotatedTokens: Pick<Reads<StoredRotation, StoredRotation, Digest>, 'find'>
  readonly authorizations: AuthorizationStore
  readonly consents: ConsentStore
  readonly users: UserStore
  readonly sessions: SessionStore
  readonly clientLogins: ClientLoginStore
  readonly logoutNotices: LogoutNoticeStore
  readonly clientLogos: ClientLogoStore
  readonly removals: RemovalStore
  readonly sweeperNotes: SweeperNoteStore
  readonly transients: Transients
  /** The short-lived values in the database, even if `transients` is another store. */
  readonly transientRows: Expiring
  readonly secretKeys: Rows<SecretKey>
  readonly signingKeys: Rows<StoredSigningKey>
  readonly sealed: SealedStore
  readonly audit: AuditStore
  readonly auditCheckpoints: AuditCheckpointStore
  readonly auditCounts: AuditCountStore
  /**
   * Returns the cached row of a client; undefined if this process has no cached row. The row may be outdated, so the
   * caller must pass the version of the row to `tokens.insert`. The function is missing if the store cannot compare
   * versions.
   */
  readonly recallClient?: ((clientId: string) => RecalledClient | undefined) | undefined
  /** Runs work in a transaction, or in a savepoint of the open transaction. The work must use the store `tx`. */
  transaction<T>(work: (tx: Store) => Promise<T>): Promise<T>
}

/** The numbers of connections of a pool. */
export interface PoolStats {
  /** Open connections, in use or idle. */
  readonly total: number
  readonly idle: number
  /** The number of callers that wait for a connection. */
  readonly waiting: number
}

/** A client of the driver `pg`: a `Client`, or a client of a `Pool`. */
export interface PostgresClient {
  /** Runs a statement with its parameters. */
  query(statement: {
    readonly text: string
    readonly values: unknown[]
    readonly name?: string
    readonly types?: object
  }): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>
}

/** A connection pool of the driver `pg` that belongs to the application. */
export interface PostgresPool {
  /** Calls `callback` with a connected client, which the caller must release. */
  connect(
    callback: (error: Error | undefined, client: PostgresPoolClient | undefined) => void,
  ): void
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
  readonly options?: { readonly max?: number | undefined }
}

/** A client of a pool of the driver `pg`. */
export interface PostgresPoolClient extends PostgresClient {
  /** @param destroy whether to close the connection instead of returning it to the pool */
  release(destroy?: boolean): void
  /** Adds a listener for errors of the connection. */
  on(event: 'error', listener: () => void): unknown
  /** Removes a listener. */
  off(event: 'error', listener: () => void): unknown
}

/** The result of work in a transaction of the application. The transaction may still be open. */
export interface HostTransaction<T> {
  readonly result: T
  /** Returns whether the transaction was committed or rolled back; undefined while it is open. */
  outcome(): Promise<'committed' | 'aborted' | undefined>
}

export interface OpenStore extends Store {
  /**
   * Runs work in a savepoint of a transaction that the application has begun on its own client.
   * @throws TypeError if no transaction is open, or if the client is connected to another database
   */
  within?<T>(client: PostgresClient, work: (tx: Store) => Promise<T>): Promise<HostTransaction<T>>
  /**
   * Migrates the schema to the latest migration, or to the migration `to`.
   * @throws NewerSchema if a newer version has migrated the database and this version can use it
   * @throws StoreUnusable if this version cannot use the database
   */
  migrate(options?: {
    readonly to?: string
    readonly dryRun?: boolean
    /** Called once if the migration waits for the migration of another node, or for locked tables. */
    readonly onWait?: () => void
  }): Promise<readonly MigrationResult[]>
  /** Returns whether a new user of the application could inherit the rows of a deleted user with the same ID. */
  mayInheritRows(): Promise<boolean>
  /** @throws StoreUnavailable if the store does not respond, or does not accept writes */
  ping(): Promise<void>
  /**
   * Returns the time of the database server in milliseconds since the epoch. Missing if the database is embedded.
   */
  now?(): Promise<number>
  /** Returns the state of the connection pool, if the store has one. */
  poolStats?(): PoolStats
  close(): Promise<void>
}

/** Opens a store. `sqlite(path)` and `postgres(url)` return an opener. */
export interface StoreOpener {
  readonly description: string
  /** @throws StoreUnusable if the store cannot be opened */
  open(users?: UsersLocation, keyType?: UserKeyType): Promise<OpenStore>
}

/** An operation of the store. */
export interface StoreOperation {
  /** For instance `tokens.rotate`. */
  readonly name: string
}

/** Wraps a store operation. For instance, telemetry measures the operation, and tests delay the operation. */
export type AroundStore = <T>(operation: StoreOperation, run: () => Promise<T>) => Promise<T>

import type { UserKeyType, UserTable } from '../model/user-table.ts'
import type { AuditCheckpointStore, AuditStore } from './contract/audit.ts'
import type { AuthorizationStore, ConsentStore } from './contract/authorizations.ts'
import type { ClientStore } from './contract/clients.ts'
import type { SecretKeyStore, SigningKeyStore } from './contract/keys.ts'
import type { SealedStore } from './contract/sealed.ts'
import type { SessionStore } from './contract/sessions.ts'
import type { ExpiredStore, RemovalStore, SweeperNoteStore } from './contract/sweeper.ts'
import type { TokenStore } from './contract/tokens.ts'
import type { Transients } from './contract/transients.ts'
import type { UserDataStore, UserStore } from './contract/users.ts'

export interface MigrationResult {
  readonly name: string
  readonly direction: 'up' | 'down'
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
    /** Called once if it waits for another node that migrates, or for transactions that use the tables. */
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

import type { Sealed } from '../../crypto/sealed.ts'
import type { Authorization } from '../../model/authorization.ts'
import type { User } from '../../model/user.ts'
import type { AuditCheckpoint } from './audit.ts'
import type { SealedConsent } from './authorizations.ts'
import type { SealedClient } from './clients.ts'
import type { StoredSigningKey } from './keys.ts'
import type { StoredSession } from './sessions.ts'
import type { StoredRotation, StoredToken } from './tokens.ts'

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

import type { Sealed } from '../../crypto/sealed.ts'
import type { AuditCheckpoint } from '../../model/entities/audit-checkpoint.ts'
import type { Authorization } from '../../model/entities/authorization.ts'
import type { SealedClient } from '../../model/entities/client.ts'
import type { SealedConsent } from '../../model/entities/consent.ts'
import type { StoredRotation } from '../../model/entities/rotated-token.ts'
import type { StoredSession } from '../../model/entities/session.ts'
import type { StoredSigningKey } from '../../model/entities/signing-key.ts'
import type { User } from '../../model/user.ts'
import type { StoredToken } from './tokens.ts'

/** The primary key of a row. */
export type RowKey = readonly (string | number)[]

/** A row with its sealed values, in the state in which the row was read. */
export interface SealedRow<Row> {
  readonly key: RowKey
  readonly sealed: readonly (Sealed | null)[]
  readonly row: Row
}

/** The new sealed values of a row, in the order of the former values. */
export interface ResealedRow {
  readonly before: Pick<SealedRow<unknown>, 'key' | 'sealed'>
  readonly sealed: readonly (Sealed | null)[]
}

/** The rows of one table with sealed values. */
export interface SealedRows<Row> {
  /** The name of the table. */
  readonly table: string
  /**
   * Reads the next `limit` rows after `after`, in descending order of the primary key. Returns the rows that contain a
   * value sealed under a key other than `keyId`. `next` is the cursor of the next page, or null after the last page.
   */
  notUnder(
    keyId: string,
    after: RowKey | null,
    limit: number,
  ): Promise<{ readonly rows: readonly SealedRow<Row>[]; readonly next: RowKey | null }>
  /**
   * Writes the new sealed values. Skips locked rows, and rows that have changed since they were read.
   * @returns the number of written rows
   */
  reseal(rows: readonly ResealedRow[]): Promise<number>
  /**
   * Counts the rows that contain a value sealed under this key, among the first `limit` rows of the table. `isAll` is
   * true if the table has fewer than `limit` rows.
   */
  countUnder(
    keyId: string,
    limit: number,
  ): Promise<{ readonly rows: number; readonly isAll: boolean }>
}

/**
 * The rows that must be sealed again after a rotation of the secret key. Transient values are not included, because
 * they expire soon. Rows of the audit log are not included, because sealed checkpoints cover them.
 */
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

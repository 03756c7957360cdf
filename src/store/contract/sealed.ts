import type { Sealed } from '../../crypto/sealed.ts'
import type { SealedKind } from '../../model/entities/all.ts'

/** The primary key of a row. */
export type RowKey = readonly (string | number)[]

/** A row with its sealed values, in the state in which the row was read. */
export interface SealedRow {
  readonly key: RowKey
  readonly sealed: readonly (Sealed | null)[]
  /** The record of the row. */
  readonly row: object
}

/** The new sealed values of a row, in the order of the former values. */
export interface ResealedRow {
  readonly before: Pick<SealedRow, 'key' | 'sealed'>
  readonly sealed: readonly (Sealed | null)[]
}

/** The rows of one table with sealed values. */
export interface SealedRows {
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
  ): Promise<{ readonly rows: readonly SealedRow[]; readonly next: RowKey | null }>
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
export type SealedStore = Readonly<Record<SealedKind, SealedRows>>

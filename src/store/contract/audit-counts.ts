import type { RoutineCount } from '../../model/routine-count.ts'
import type { AuditFilter } from './audit.ts'
import type { Cursor, Page } from './page.ts'

/** The total of one process. */
export interface WrittenCount extends RoutineCount {
  /** A random number of the process. */
  readonly writer: number
}

/** The sum over several hours and users. */
export type RoutineTotal = Pick<RoutineCount, 'event' | 'grantType' | 'clientId' | 'count'>

/** Stores the numbers of routine events. */
export interface AuditCountStore {
  /** Writes totals. Replaces the count of a row that the same process wrote earlier. */
  put(counts: readonly WrittenCount[]): Promise<void>
  /** Returns a page of the sums over all processes, the earliest hour first. */
  list(filter: AuditFilter, cursor: Cursor): Promise<Page<RoutineCount>>
  /** Returns the greatest sums over hours and users. On a large table, it reads only the latest rows. */
  totals(filter: AuditFilter, limit: number): Promise<readonly RoutineTotal[]>
  /** Deletes at most `limit` rows of earlier hours. @returns the number of deleted rows */
  deleteBefore(at: number, limit: number): Promise<number>
}

import type { RoutineCount } from '../../model/routine-count.ts'
import type { AuditFilter } from './audit.ts'
import type { Expiring } from './expiring.ts'
import type { Cursor, Page } from './page.ts'

/** The number of routine events that one process counted in one hour. */
export interface WrittenCount extends RoutineCount {
  /** A random number that identifies the process. */
  readonly writer: number
}

/** The number of routine events of one kind, summed over hours and users. */
export type RoutineTotal = Pick<RoutineCount, 'event' | 'grantType' | 'clientId' | 'count'>

/** Stores how many routine events occurred in each hour. */
export interface AuditCountStore extends Expiring {
  /** Writes counts. Replaces an earlier count with the same writer, hour, event, grant type, client and user. */
  put(counts: readonly WrittenCount[]): Promise<void>
  /** Returns a page of counts, summed over all processes, the earliest hour first. */
  list(filter: AuditFilter, cursor: Cursor): Promise<Page<RoutineCount>>
  /**
   * Sums the matching counts over hours and users, and returns the `limit` greatest sums. If more than 50,000 rows
   * match, sums only the latest 50,000 rows.
   */
  totals(filter: AuditFilter, limit: number): Promise<readonly RoutineTotal[]>
}

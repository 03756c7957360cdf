import type { Sealed } from '../../crypto/sealed.ts'
import type { AuditRecord, SealedAuditEvent } from '../../model/audit-event.ts'
import type { AuditValues } from '../../model/audit-values.ts'
import type { UserId } from '../../model/user.ts'
import type { Cursor, Page } from './page.ts'

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

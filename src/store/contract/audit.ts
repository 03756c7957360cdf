import type { AuditRecord, SealedAuditEvent } from '../../model/audit-event.ts'
import type { SealedCheckpoint } from '../../model/entities/audit-checkpoint.ts'
import type { AuditValues } from '../../model/entities/audit-event.ts'
import type { UserId } from '../../model/user.ts'
import type { Expiring } from './expiring.ts'
import type { List, Listed } from './page.ts'
import type { Rows } from './rows.ts'

/** Conditions for events. A missing condition matches every event. */
export interface AuditFilter {
  readonly event?: string | undefined
  /** The user whose account the events are about. */
  readonly userId?: UserId | undefined
  readonly clientId?: string | undefined
  /** The ID of a token's row. */
  readonly tokenId?: number | undefined
  /** The IP address of the request. */
  readonly address?: string | undefined
  /** Whether to omit routine events, such as refreshes. */
  readonly withoutRoutine?: boolean
  /** The earliest time, in milliseconds since the epoch. */
  readonly since?: number | undefined
  /** The end of the period in milliseconds since the epoch, exclusive. */
  readonly until?: number | undefined
}

/** A stored row of the audit log, whose seal has not been verified yet. */
export interface StoredAuditRow {
  readonly id: number
  readonly values: AuditValues
  readonly seal: string
}

/** The end of a range of rows. The range is complete when all transactions in `writers` have ended. */
export interface AuditMark {
  readonly id: number
  /** Whether `mark` had to advance the sequence of IDs, for instance because an attacker had set the sequence back. */
  readonly wasSetBack: boolean
  /** The transactions that were writing audit rows when the mark was set. */
  readonly writers: readonly string[]
}

/** The lists of events in the order of their times. */
export interface AuditLists {
  readonly latest: List<AuditFilter, AuditRecord, never>
  /** The earliest event is first. */
  readonly earliest: List<AuditFilter, AuditRecord, never>
}

/**
 * Stores audit events. Events are never changed, and old events are deleted: a sealed checkpoint declares which event is
 * the last one to delete. Expired events are counted by their times.
 */
export interface AuditStore
  extends Pick<Listed<AuditLists>, 'list'>,
    Pick<Rows<StoredAuditRow, Pick<StoredAuditRow, 'id'>>, 'select'>,
    Pick<Expiring<{ readonly lastId: number }>, 'deleteExpired'>,
    Pick<Expiring, 'countExpired'> {
  add(event: SealedAuditEvent): Promise<void>
  /** Adds either all events or no event. */
  addMany(events: readonly SealedAuditEvent[]): Promise<void>
  /**
   * Returns the greatest ID up to `until`, and the transactions that may still commit a row with a smaller ID. Advances
   * the sequence of IDs if necessary: the next row gets an ID above the returned ID and above `after`.
   */
  mark(range: { readonly after: number; readonly until: number }): Promise<AuditMark>
  /** Returns whether all transactions in `mark.writers` have ended. */
  isSettled(mark: AuditMark): Promise<boolean>
  /** Returns the IDs of rows in this range whose time and seal equal those of a row with a smaller ID. */
  copies(range: { readonly after: number; readonly until: number }): Promise<readonly number[]>
}

/**
 * The checkpoints in the order of their numbers. Only one of several nodes can insert the next checkpoint. A checkpoint
 * expires up to a number.
 */
export interface AuditCheckpointStore extends Rows<SealedCheckpoint>, Expiring {}

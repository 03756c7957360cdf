import type { AuditEvent } from '../../model/audit-event.ts'
import type { LogSink } from '../../model/log.ts'
import type { WrittenCount } from '../../store/contract/audit-counts.ts'
import type { Store } from '../../store/store.ts'
import { LateWriter } from '../late-writer.ts'

const hour = 3_600_000
/** Milliseconds for which events are counted before the counts are written together. */
const flushDelay = 1_000
/** The maximum number of counts in memory. At this number, the process starts new rows with a new writer ID. */
const maxCounts = 10_000
/** The maximum number of counts that wait while the store is unavailable. */
const maxWaiting = 20_000
/** The number of counts per statement. The number is small, because a statement blocks other writers of SQLite. */
const batchSize = 200

/**
 * Returns whether the server counts this event, and stores the event itself only if `auditRoutine` is set. These events
 * change no permissions: refreshed tokens, exchanged tokens, and tokens that clients request for themselves.
 */
export const isCounted = ({ event, isRoutine }: AuditEvent): boolean =>
  isRoutine && (event === 'token.issued' || event === 'token.refreshed')

type Counting = { -readonly [Name in keyof WrittenCount]: WrittenCount[Name] }

/**
 * Counts routine events in memory, and writes the counts once a second. Each process writes totals to separate rows.
 * Therefore, a process can repeat a write, and does not wait for the locks of other processes.
 */
export class AuditCounts extends LateWriter {
  readonly #store: Pick<Store, 'auditCounts'>
  readonly #log: LogSink
  readonly #newWriter: () => number
  #writer: number
  #hour = 0
  #counts = new Map<string, Counting>()
  #changed = new Set<Counting>()
  #lost = 0

  /** @param newWriter returns a random writer ID, which distinguishes the rows of this process */
  constructor(store: Pick<Store, 'auditCounts'>, log: LogSink, newWriter: () => number) {
    super(flushDelay)
    this.#store = store
    this.#log = log
    this.#newWriter = newWriter
    this.#writer = newWriter()
  }

  /** Counts an event. Ignores events that are not routine events of clients. */
  add(event: AuditEvent): void {
    if (!isCounted(event)) return
    this.later()
    const counting = this.#countOf(event)
    if (this.#changed.size >= maxWaiting && !this.#changed.has(counting)) {
      this.#lost += 1
      return
    }
    counting.count += 1
    this.#changed.add(counting)
  }

  #countOf(event: AuditEvent): Counting {
    const at = event.at - (event.at % hour)
    // The new counts start at 0. With the former writer ID, these counts would replace stored counts of the same hour.
    if (at !== this.#hour || this.#counts.size >= maxCounts) {
      this.#hour = at
      this.#counts = new Map()
      this.#writer = this.#newWriter()
    }
    const { event: name, clientId, userId } = event
    const grantType = grantOf(event)
    const key = JSON.stringify([name, grantType, clientId, userId])
    const counting = this.#counts.get(key) ?? {
      at,
      event: name,
      grantType,
      clientId: clientId ?? '',
      userId,
      writer: this.#writer,
      count: 0,
    }
    this.#counts.set(key, counting)
    return counting
  }

  protected override async write(): Promise<void> {
    const counts = [...this.#changed]
    this.#changed = new Set()
    for (let first = 0; first < counts.length; first += batchSize) {
      try {
        await this.#store.auditCounts.put(counts.slice(first, first + batchSize))
      } catch (error) {
        for (const counting of counts.slice(first)) this.#changed.add(counting)
        this.later()
        this.#report(error)
        return
      }
    }
    if (this.#lost > 0) this.#report()
  }

  #report(failure?: unknown): void {
    const lost = this.#lost
    this.#lost = 0
    this.#log({
      level: 'warn',
      event: 'audit.late',
      message: 'Counts of routine events were lost, or could not be written yet.',
      lost,
      ...(failure !== undefined && { error: failure }),
    })
  }
}

const grantOf = (event: AuditEvent): string => {
  if (event.event === 'token.refreshed') return 'refresh_token'
  return event.event === 'token.issued' ? (event.details.grant ?? '') : ''
}

import type { SealedAuditEvent } from '../../model/audit-event.ts'
import type { LogSink } from '../../model/log.ts'
import type { Store } from '../../store/store.ts'
import { LateWriter } from '../late-writer.ts'

/** Milliseconds for which events are collected before they are written together. */
const flushDelay = 1_000
/** The maximum number of waiting events. Events in a write that is in progress are not counted. */
const maxEvents = 20_000
/** The number of events per statement. The number is small, because a statement blocks other writers of SQLite. */
const batchSize = 200

/**
 * Writes failed logins in batches, without delaying the requests that cause them. With the setting `auditRoutine`, also
 * writes routine events. If the process is killed, the waiting events are lost, usually those of the last second. The
 * log reports how many events may be missing.
 */
export class AuditQueue extends LateWriter {
  readonly #store: Pick<Store, 'audit'>
  readonly #log: LogSink
  #waiting: SealedAuditEvent[] = []
  #lost = 0

  constructor(store: Pick<Store, 'audit'>, log: LogSink) {
    super(flushDelay)
    this.#store = store
    this.#log = log
  }

  add(event: SealedAuditEvent): void {
    this.later()
    if (this.#waiting.length >= maxEvents) this.#lost += 1
    else this.#waiting.push(event)
  }

  /** Writes the waiting events for the last time. Events that the store rejects are lost. The promise never rejects. */
  override async close(): Promise<void> {
    await super.close()
    this.#lost += this.#waiting.length
    this.#waiting = []
    try {
      this.#report()
    } catch {
      // An error of the log function must not prevent the server from closing.
    }
  }

  protected override async write(): Promise<void> {
    const events = this.#waiting
    this.#waiting = []
    for (let first = 0; first < events.length; first += batchSize) {
      const part = events.slice(first, first + batchSize)
      try {
        await this.#store.audit.addMany(part)
      } catch (error) {
        // Do not retry these events, because the store may have written them although its response was lost. Retry only
        // the later events.
        this.#lost += part.length
        this.#waiting = [...events.slice(first + batchSize), ...this.#waiting]
        if (this.#waiting.length > 0) this.later()
        this.#report(error)
        return
      }
    }
    this.#report()
  }

  #report(failure?: unknown): void {
    if (this.#lost === 0) return
    const lost = this.#lost
    this.#lost = 0
    this.#log({
      level: 'warn',
      event: 'audit.lost',
      message: 'Audit events may be lost, because too many events were waiting or a write failed.',
      lost,
      ...(failure !== undefined && { error: failure }),
    })
  }
}

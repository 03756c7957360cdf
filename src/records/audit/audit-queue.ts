import { setTimeout as pause } from 'node:timers/promises'
import type { SealedAuditEvent } from '../../model/audit-event.ts'
import type { LogSink } from '../../model/log.ts'
import type { Store } from '../../store/store.ts'

/** Milliseconds for which events are collected before they are written together. */
const flushDelay = 1_000
/** The maximum number of waiting events. Events in a write that is in progress are not counted. */
const maxEvents = 20_000
/** The number of events per statement. The number is small, because a statement blocks other writers of SQLite. */
const batchSize = 200
/** The maximum time in milliseconds for which a page waits until the events are written. */
const maxPageWait = 20

/**
 * Writes failed logins in batches, without delaying the requests that cause them. With the setting `auditRoutine`, also
 * writes routine events. If the process is killed, the waiting events are lost, usually those of the last second. The
 * log reports how many events may be missing.
 */
export class AuditQueue {
  readonly #store: Pick<Store, 'audit'>
  readonly #log: LogSink
  #waiting: SealedAuditEvent[] = []
  #lost = 0
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  constructor(store: Pick<Store, 'audit'>, log: LogSink) {
    this.#store = store
    this.#log = log
  }

  add(event: SealedAuditEvent): void {
    this.#later()
    if (this.#waiting.length >= maxEvents) this.#lost += 1
    else this.#waiting.push(event)
  }

  /** Waits for a write in progress, and then writes the waiting events. The promise never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    // An error of the log function must not end the process or block the next write.
    this.#writing = this.#writing.then(() => this.#write()).catch(() => undefined)
    return this.#writing
  }

  /** Writes the waiting events before a page reads them. Stops waiting after `maxPageWait`. */
  async flushBriefly(): Promise<void> {
    if (this.#waiting.length > 0) await Promise.race([this.flush(), pause(maxPageWait)])
  }

  /** Writes the waiting events for the last time. Events that the store rejects are lost. The promise never rejects. */
  async close(): Promise<void> {
    await this.flush()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#lost += this.#waiting.length
    this.#waiting = []
    try {
      this.#report()
    } catch {
      // An error of the log function must not prevent the server from closing.
    }
  }

  #later(): void {
    this.#timer ??= setTimeout(() => void this.flush(), flushDelay).unref()
  }

  async #write(): Promise<void> {
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
        if (this.#waiting.length > 0) this.#later()
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

import { setTimeout as pause } from 'node:timers/promises'
import type { SealedAuditEvent } from '../../model/audit-event.ts'
import type { LogSink } from '../../model/log.ts'
import type { Store } from '../../store/store.ts'

/** Milliseconds that events are gathered before they are written together. */
const gathered = 1_000
/** Events that wait at most, written ones not counted. */
const mostEvents = 20_000
/** Events of one statement: nobody else writes to SQLite meanwhile. */
const atOnce = 200
/** Milliseconds that a page waits for what others do. */
const moment = 20

/**
 * Writes what many requests cause and none waits for: routine events, and failed logins. A killed process
 * loses a second of them at most; what could not be kept is counted in the log, never passed over.
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
    if (this.#waiting.length >= mostEvents) this.#lost += 1
    else this.#waiting.push(event)
  }

  /** Writes what waits, and what is being written already. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    // A log that fails ends neither the process nor what is written next.
    this.#writing = this.#writing.then(() => this.#write()).catch(() => undefined)
    return this.#writing
  }

  /** The same for a page, which waits a moment for it at most. */
  async flushBriefly(): Promise<void> {
    if (this.#waiting.length > 0) await Promise.race([this.flush(), pause(moment)])
  }

  /** Writes what waits, for the last time: what the store does not take now is lost. Never rejects. */
  async close(): Promise<void> {
    await this.flush()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#lost += this.#waiting.length
    this.#waiting = []
    try {
      this.#report()
    } catch {
      // A log that fails does not keep the server open.
    }
  }

  #later(): void {
    this.#timer ??= setTimeout(() => void this.flush(), gathered).unref()
  }

  async #write(): Promise<void> {
    const events = this.#waiting
    this.#waiting = []
    for (let first = 0; first < events.length; first += atOnce) {
      const part = events.slice(first, first + atOnce)
      try {
        await this.#store.audit.addMany(part)
      } catch (error) {
        // Perhaps it was written and the answer was lost, so it is not tried again. What comes behind it is.
        this.#lost += part.length
        this.#waiting = [...events.slice(first + atOnce), ...this.#waiting]
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
      message: 'Events were not recorded: too many at once, or the store was away.',
      lost,
      ...(failure !== undefined && { error: failure }),
    })
  }
}

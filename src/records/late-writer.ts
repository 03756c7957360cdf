import { setTimeout as pause } from 'node:timers/promises'

/** The maximum time in milliseconds for which a page waits until the collected values are written. */
const maxPageWait = 20

/** Collects values in memory and writes them together, some time after the first. No request waits for the write. */
export abstract class LateWriter {
  readonly #delay: number
  #writing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  /** @param delay milliseconds for which values are collected */
  constructor(delay: number) {
    this.#delay = delay
  }

  /** Writes the collected values. */
  protected abstract write(): Promise<void>

  /** Must be called with each collected value. */
  protected later(): void {
    this.#timer ??= setTimeout(() => void this.flush(), this.#delay).unref()
  }

  /** Waits for a write in progress, and then writes the collected values. The promise never rejects. */
  flush(): Promise<void> {
    this.#cancel()
    const write = async () => this.write()
    // An error of the log function must not end the process or block the next write.
    const writing = (this.#writing?.then(write) ?? write()).catch(() => undefined)
    this.#writing = writing
    void writing.then(() => {
      if (this.#writing === writing) this.#writing = undefined
    })
    return writing
  }

  /** Writes the collected values before a page reads them. Stops waiting after `maxPageWait`. */
  async flushBriefly(): Promise<void> {
    if (this.#timer !== undefined) await Promise.race([this.flush(), pause(maxPageWait)])
  }

  /** Writes the collected values for the last time. The promise never rejects. */
  async close(): Promise<void> {
    await this.flush()
    // Do not repeat a failed write.
    this.#cancel()
  }

  #cancel(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

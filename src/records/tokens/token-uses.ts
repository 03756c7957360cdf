import { setTimeout as pause } from 'node:timers/promises'
import type { LogSink } from '../../model/log.ts'
import type { FoundToken } from '../../model/token.ts'
import type { TokenUse } from '../../store/contract/tokens.ts'
import type { Store } from '../../store/store.ts'

/** A use is written once a minute per token at most, in milliseconds. */
const written = 60_000
/** Milliseconds that uses are gathered before they are written together. */
const gathered = 5_000
/** Milliseconds that a page waits for what other users' tokens did. */
const moment = 20
/** So many tokens are remembered until then; of more, the use is not news enough. */
const mostTokens = 10_000
const never = Number.NEGATIVE_INFINITY

/**
 * When tokens were used last, and from where. A bearer check only notes it in memory; what was noted
 * is written later, in one transaction. What is lost with a process is a few seconds of it.
 */
export class TokenUses {
  readonly #store: Store
  readonly #log: LogSink
  readonly #noted = new Map<number, TokenUse>()
  #latest: ReadonlyMap<number, TokenUse> = new Map()
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  constructor(store: Store, log: LogSink) {
    this.#store = store
    this.#log = log
  }

  note({ token, lastUsedAt }: FoundToken, at: number, address: string): void {
    // Who looked the token up before the latest uses were written does not know of them.
    const known = Math.max(lastUsedAt ?? never, this.#latest.get(token.id)?.at ?? never)
    if (at - known < written) return
    if (this.#noted.size >= mostTokens && !this.#noted.has(token.id)) return
    this.#noted.set(token.id, { at, address })
    this.#timer ??= setTimeout(() => void this.flush(), gathered).unref()
  }

  /** Writes what was noted. A failure is logged: nobody's request depends on it. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    // A caller also waits for the write that is already running.
    const before = this.#writing
    this.#writing = this.#write()
    await Promise.all([before, this.#writing])
  }

  /** Flushes for a page, which waits only briefly. */
  async flushBriefly(): Promise<void> {
    if (this.#noted.size > 0) await Promise.race([this.flush(), pause(moment)])
  }

  async #write(): Promise<void> {
    if (this.#noted.size === 0) return
    const uses = new Map(this.#noted)
    this.#noted.clear()
    this.#latest = uses
    try {
      await this.#store.transaction((tx) => tx.tokens.touch(uses))
    } catch (error) {
      this.#latest = new Map()
      this.#log({
        level: 'warn',
        event: 'token_uses.lost',
        message: 'When tokens were used last could not be written.',
        error,
      })
    }
  }
}

import type { Client } from '../../model/client.ts'
import type { LogSink } from '../../model/log.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { TransientValues } from '../transient-values.ts'

/** The maximum number of stored refusals of a client. */
const maxRefusals = 20
/** The maximum number of clients with refusals in memory. Refusals of further clients are dropped. */
const maxClients = 1_000
/** Milliseconds for which refusals are collected before they are written. */
const flushDelay = 5_000
/** Milliseconds for which the refusals of a client are stored after the latest. */
const life = 7 * 86_400_000
const maxText = 300

/**
 * Records why the latest requests of each client were refused, for its owner. A refused request only records the reason
 * in memory. Later, one value for each client is written, so a flood of wrong requests writes no more than a few of
 * them. There are no refusals of unknown clients: an attacker could create any number of them.
 */
export class ClientRefusals {
  readonly #stored: TransientValues<readonly Refusal[]>
  readonly #clock: () => number
  readonly #log: LogSink
  readonly #pending = new Map<string, Refusal[]>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(
    stored: TransientValues<readonly Refusal[]>,
    { clock, log }: { readonly clock: () => number; readonly log: LogSink },
  ) {
    this.#stored = stored
    this.#clock = clock
    this.#log = log
  }

  /** Records a refusal in memory. Ignores clients without an owner, because nobody could read it. */
  note(
    { clientId, userId }: Pick<Client, 'clientId' | 'userId'>,
    { error, description, redirectUri }: Omit<Refusal, 'at'>,
  ): void {
    if (userId === null) return
    const pending = this.#pending.get(clientId) ?? []
    if (pending.length === 0 && this.#pending.size >= maxClients) return
    const refusal = {
      at: this.#clock(),
      error,
      description: description.slice(0, maxText),
      ...(redirectUri !== undefined && { redirectUri: redirectUri.slice(0, maxText) }),
    }
    this.#pending.set(clientId, [refusal, ...pending].slice(0, maxRefusals))
    this.#timer ??= setTimeout(() => void this.flush(), flushDelay).unref()
  }

  /** Lists the refusals of the last seven days, the latest first. */
  async list(clientId: string): Promise<readonly Refusal[]> {
    await this.flush()
    return this.#recent((await this.#stored.get(clientId)) ?? [])
  }

  /** Writes the recorded refusals. A failure is only logged, since no request depends on the write. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    const pending = [...this.#pending]
    this.#pending.clear()
    try {
      for (const [clientId, refusals] of pending) {
        const before = (await this.#stored.get(clientId)) ?? []
        const all = this.#recent([...refusals, ...before]).slice(0, maxRefusals)
        await this.#stored.set(clientId, all, this.#clock() + life)
      }
    } catch (error) {
      this.#log({
        level: 'warn',
        event: 'client_refusals.lost',
        message: 'The last refusals of clients could not be written.',
        error,
      })
    }
  }

  #recent(refusals: readonly Refusal[]): readonly Refusal[] {
    return refusals.filter(({ at }) => at > this.#clock() - life)
  }
}

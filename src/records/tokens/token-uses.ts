import { BoundedMap } from '../../model/bounded-map.ts'
import type { LogSink } from '../../model/log.ts'
import type { FoundToken } from '../../model/token.ts'
import type { TokenUse } from '../../store/contract/tokens.ts'
import type { Store } from '../../store/store.ts'
import { LateWriter } from '../late-writer.ts'

/** The minimum interval between two recorded uses of a token, in milliseconds. */
const minInterval = 60_000
/** Milliseconds for which uses are collected before they are written in one transaction. */
const flushDelay = 5_000
/** The maximum number of tokens in memory. Uses of further tokens are dropped. */
const maxTokens = 10_000
const never = Number.NEGATIVE_INFINITY

/**
 * Records the last use of each token: time and IP address. The check of a token only records the use in memory, and one
 * transaction writes many uses later. If the process is killed, the uses of a few seconds are lost.
 */
export class TokenUses extends LateWriter {
  readonly #store: Store
  readonly #log: LogSink
  readonly #pending = new Map<number, TokenUse>()
  #latest: ReadonlyMap<number, TokenUse> = new Map()
  /** The required scopes that are not written yet, by the ID of the token. */
  readonly #scopes = new Map<number, Set<string>>()
  /** The scopes that this process has stored, by the ID of the token. */
  readonly #stored = new BoundedMap<ReadonlySet<string>>(maxTokens)

  constructor(store: Store, log: LogSink) {
    super(flushDelay)
    this.#store = store
    this.#log = log
  }

  /** Records a use of a token in memory, if the last known use is at least a minute old. */
  note({ token, lastUsedAt }: FoundToken, at: number, address: string): void {
    // `lastUsedAt` may be outdated, because the token may have been looked up before its latest use was written.
    const known = Math.max(lastUsedAt ?? never, this.#latest.get(token.id)?.at ?? never)
    if (at - known < minInterval) return
    if (this.#pending.size >= maxTokens && !this.#pending.has(token.id)) return
    this.#pending.set(token.id, { at, address })
    this.later()
  }

  /**
   * Records scopes that a guard required from a personal token. Ignores scopes that this process has stored already.
   */
  noteScopes(tokenId: number, scopes: readonly string[]): void {
    const stored = this.#stored.get(String(tokenId))
    if (stored && scopes.every((scope) => stored.has(scope))) return
    const noted = this.#scopes.get(tokenId)
    if (!noted && this.#scopes.size >= maxTokens) return
    this.#scopes.set(tokenId, new Set([...(noted ?? []), ...scopes]))
    this.later()
  }

  // After a failure, do not retry: the next use of a token records its scopes again.
  protected override async write(): Promise<void> {
    const uses = new Map(this.#pending)
    const scopes = new Map([...this.#scopes].map(([id, noted]) => [id, [...noted]]))
    this.#pending.clear()
    this.#scopes.clear()
    if (uses.size > 0) this.#latest = uses
    await Promise.all([
      uses.size > 0 &&
        this.#store
          .transaction((tx) => tx.tokens.touch(uses))
          .catch((error: unknown) => {
            this.#latest = new Map()
            this.#lost(error)
          }),
      scopes.size > 0 && this.#writeScopes(scopes).catch((error: unknown) => this.#lost(error)),
    ])
  }

  async #writeScopes(scopes: ReadonlyMap<number, readonly string[]>): Promise<void> {
    const ids = await this.#store.transaction((tx) => tx.tokens.noteScopes(scopes))
    for (const id of ids) {
      const before = this.#stored.get(String(id)) ?? []
      this.#stored.set(String(id), new Set([...before, ...(scopes.get(id) ?? [])]))
    }
  }

  // A failure is only logged, because no request depends on the write.
  #lost(error: unknown): void {
    this.#log({
      level: 'warn',
      event: 'token_uses.lost',
      message: 'The last uses of tokens could not be written.',
      error,
    })
  }
}

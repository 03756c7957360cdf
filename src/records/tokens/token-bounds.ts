import { setTimeout as delay } from 'node:timers/promises'
import type { LogSink } from '../../model/log.ts'
import type { TokenFields } from '../../model/token.ts'
import type { Settings } from '../../settings/settings.ts'
import { StoreUnavailable } from '../../store/contract/errors.ts'
import type { Store } from '../../store/store.ts'

/** Used refresh tokens of one authorization that are remembered at most. */
export const rotatedPerAuthorization = 1_000
/** Live tokens that were narrowed from one token at most. A rotation of that token deletes them in one statement. */
export const childrenPerToken = 1_000

/** About one of so many rotations is followed by a look at the authorization. */
const rotationsPerLook = 64
/** About one of so many new tokens is followed by a look at the client, or at the parent. */
const tokensPerLook = 1_000
const childrenPerLook = 100
/** Rows of one statement at most. */
const partSize = 100
/** How many times as long as a statement the rest after it is. */
const restShare = 1

/** Draws about one of so many, not in a fixed rhythm, which clients that take turns would share. */
export const oneOf = (many: number): (() => boolean) => {
  let draws = 0
  const next = () => {
    draws += 1
    return Math.ceil(many / 2 + many * ((draws * 0.618_033_988_75) % 1))
  }
  let left = next()
  return () => {
    left -= 1
    if (left > 0) return false
    left = next()
    return true
  }
}

/** Deletes about so many rows. @returns how many it deleted: fewer than that, and there are no more */
type Part = (limit: number) => Promise<number>

/**
 * Keeps the rows of one client and of one authorization within bounds, beside the requests that write them: the
 * oldest rows end, in parts. Bounds hold about: only some of the writes are followed by a look.
 */
export class TokenBounds {
  readonly #context: {
    readonly store: Store
    readonly settings: Settings
    readonly clock: () => number
    readonly log: LogSink
  }
  readonly #isRotationDue = oneOf(rotationsPerLook)
  readonly #isTokenDue = oneOf(tokensPerLook)
  readonly #isChildDue = oneOf(childrenPerLook)
  readonly #stopping = new AbortController()
  #underWay: Promise<void> | undefined

  constructor(context: {
    readonly store: Store
    readonly settings: Settings
    readonly clock: () => number
    readonly log: LogSink
  }) {
    this.#context = context
  }

  /** A refresh token of the authorization was rotated. */
  rotated(authorizationId: number): void {
    if (!this.#isRotationDue()) return
    const { store, settings, clock } = this.#context
    const before = clock() - settings.refreshTokenExpiresIn * 1000
    this.#trim((limit) =>
      store.tokens.deleteRotated(authorizationId, {
        before,
        keep: rotatedPerAuthorization,
        limit,
      }),
    )
  }

  /** A client got a token for itself. */
  issued(token: Pick<TokenFields, 'clientKey' | 'userId'>): void {
    if (!this.#isTokenDue()) return
    const { store, settings } = this.#context
    this.#trim((limit) =>
      store.tokens.deleteOldestOwn(token, { keep: settings.tokensPerClient, limit }),
    )
  }

  /** A token was narrowed from this one. */
  narrowed(parentId: number): void {
    if (!this.#isChildDue()) return
    const { store } = this.#context
    this.#trim((limit) =>
      store.tokens.deleteOldestChildren(parentId, { keep: childrenPerToken, limit }),
    )
  }

  /** Waits for the statement that runs, and runs no other. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#underWay
  }

  // One at a time: what is left out now is looked at again soon, since it grows by many.
  #trim(part: Part): void {
    if (this.#stopping.signal.aborted) return
    this.#underWay ??= this.#toEnd(part)
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#underWay = undefined
      })
  }

  async #toEnd(part: Part): Promise<void> {
    const { signal } = this.#stopping
    for (let rows = partSize; rows >= partSize && !signal.aborted; ) {
      const begun = performance.now()
      rows = await part(partSize)
      const rest = (performance.now() - begun) * restShare
      await delay(rest, undefined, { signal }).catch(() => undefined)
    }
  }

  #failed(error: unknown): void {
    this.#context.log({
      level: error instanceof StoreUnavailable ? 'warn' : 'error',
      event: 'sweeper.failed',
      message: 'The oldest tokens beyond a bound were not removed; the next attempt follows.',
      error,
    })
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import type { TokenFields } from '../../model/entities/token.ts'
import type { LogSink } from '../../model/log.ts'
import type { Settings } from '../../settings/settings.ts'
import { StoreUnavailable } from '../../store/contract/errors.ts'
import type { SurplusOwner } from '../../store/contract/tokens.ts'
import type { Store } from '../../store/store.ts'

/** The maximum number of stored rotated refresh tokens of one authorization. */
const rotatedPerAuthorization = 1_000
/** The maximum number of valid children of one token. A rotation of the token deletes all children in one statement. */
const childrenPerToken = 1_000

/** The average number of rotations until the process checks the authorization of the latest rotation. */
const rotationsPerCheck = 64
/** The average number of new tokens until the process checks the client of the latest token. */
const tokensPerCheck = 1_000
/** The average number of new children until the process checks the parent of the latest child. */
const childrenPerCheck = 100
/** The maximum number of rows that one statement deletes. */
const batchSize = 100
/** The pause after a statement, as a multiple of its duration. */
const pauseFactor = 1

/**
 * Returns a function that returns true for about one of `many` calls, at varying intervals. With a fixed interval and
 * several clients that take turns, all checks could concern the same client.
 */
export const oneOf = (many: number): (() => boolean) => {
  let draws = 0
  const next = () => {
    draws += 1
    // The multiples of the golden ratio modulo 1 are spread evenly.
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

interface Context {
  readonly store: Store
  readonly settings: Settings
  readonly clock: () => number
  readonly log: LogSink
}

/**
 * Limits the number of rows of one client, authorization or parent token. Deletes the oldest rows in batches in the
 * background. The limits are approximate, because only some writes trigger a check.
 */
export class TokenBounds {
  readonly #context: Context
  readonly #isRotationDue = oneOf(rotationsPerCheck)
  readonly #isTokenDue = oneOf(tokensPerCheck)
  readonly #isChildDue = oneOf(childrenPerCheck)
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(context: Context) {
    this.#context = context
  }

  /** Must be called after a rotation of a refresh token of this authorization. */
  rotated(authorizationId: number): void {
    if (!this.#isRotationDue()) return
    const { settings, clock } = this.#context
    const before = clock() - settings.refreshTokenExpiresIn * 1000
    this.#trim({ authorizationId, before }, rotatedPerAuthorization)
  }

  /** Must be called after a client received a token of `client_credentials`. */
  issued({ clientKey, userId }: Pick<TokenFields, 'clientKey' | 'userId'>): void {
    if (!this.#isTokenDue()) return
    this.#trim({ clientKey, userId }, this.#context.settings.tokensPerClient)
  }

  /** Must be called after a child of this token was created. */
  narrowed(parentId: number): void {
    if (this.#isChildDue()) this.#trim({ parentId }, childrenPerToken)
  }

  /** Stops the removals, and waits for the running statement. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  // Run one removal at a time. A removal may be skipped, because further writes trigger the removal again.
  #trim(owner: SurplusOwner, keep: number): void {
    if (this.#stopping.signal.aborted) return
    this.#running ??= this.#deleteSurplus(owner, keep).finally(() => {
      this.#running = undefined
    })
  }

  async #deleteSurplus(owner: SurplusOwner, keep: number): Promise<void> {
    const { signal } = this.#stopping
    const { store, log } = this.#context
    try {
      for (let rows = batchSize; rows >= batchSize && !signal.aborted; ) {
        const begun = performance.now()
        rows = await store.tokens.deleteSurplus(owner, { keep, limit: batchSize })
        const rest = (performance.now() - begun) * pauseFactor
        await delay(rest, undefined, { signal }).catch(() => undefined)
      }
    } catch (error) {
      log({
        level: error instanceof StoreUnavailable ? 'warn' : 'error',
        event: 'sweeper.failed',
        message:
          'The oldest tokens above a maximum number could not be removed. A later request retries the removal.',
        error,
      })
    }
  }
}

import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { sha256 } from '../crypto/digest.ts'
import { BoundedMap } from '../model/bounded-map.ts'
import type { LogSink } from '../model/log.ts'
import { networkOf, siteNetworkOf } from '../model/network.ts'
import { OAuthError } from '../model/oauth-error.ts'
import {
  type Limit,
  type LimitName,
  type LimitNumbers,
  limitTable,
} from '../settings/limit-table.ts'
import { StoreUnavailable } from '../store/contract/errors.ts'
import type { Transients } from '../store/contract/transients.ts'

export interface LimitsOptions {
  /** Other numbers than those of the table. */
  readonly numbers?: LimitNumbers
  /** Whether the limits of the table are not kept. */
  readonly isOff?: boolean
  readonly log?: LogSink
}

/** A limit for one address, or one target, or one target from one address. */
interface Counter extends Limit {
  readonly network: string
  /** What the memory of a node knows it by, and nobody else. */
  readonly key: string
}

/** A try that may fail, at one limit. */
export interface Try {
  readonly limit: Limit | LimitName
  readonly address: string
  readonly target?: string
}

/** What was counted, and milliseconds until it is forgotten. */
interface Count {
  readonly count: number
  readonly wait: number
  readonly isShared: boolean
}

/** Until when a node refuses from memory, and when the first place comes free. */
interface Refused {
  readonly until: number
  readonly earliest: number
}

/** How many of those who reached a limit a node remembers. */
const mostRemembered = 10_000
/** A node tells the others of its failures in so many parts of a limit, so that a flood writes little. */
const parts = 20
/** Characters; what is longer is remembered by its digest. */
const longestTarget = 100
/**
 * Milliseconds after which somebody may try again where too many are under way, and places that were full are read
 * again.
 */
const aSecond = 1_000

/**
 * Counts what happens too often, for all nodes together; where the counters are away, each node counts alone.
 * Every limit is named by the table, or given as it is; it is kept for an address, of which the network counts,
 * and for a target: an account, a client.
 */
export class Limits {
  readonly #transients: Transients
  readonly #clock: () => number
  readonly #options: LimitsOptions
  /** Who has reached a limit, and until when: known without asking anybody. */
  readonly #over = new BoundedMap<number>(mostRemembered)
  #hasWarned = false
  /** Until when anybody has: most of the time, nobody. */
  #overUntil = 0
  readonly #reported = new BoundedMap<number>(mostRemembered)
  /** Limits of which all places are taken, and until when this node does not read them again. */
  readonly #full = new BoundedMap<Refused>(mostRemembered)
  /** Tries that are being judged, by their counter. */
  readonly #underWay = new Map<string, number>()
  readonly #alone = new Map<string, RateLimiterMemory>()
  /** Counts attempts, to spread them over the free places. */
  #attempts = 0

  constructor(transients: Transients, clock: () => number, options: LimitsOptions = {}) {
    this.#transients = transients
    this.#clock = clock
    this.#options = options
  }

  /**
   * Refuses a caller who has reached a limit, as far as this node knows. Counts, reads and waits for nothing.
   * @throws OAuthError 429 with `Retry-After`
   */
  check(limit: Limit | LimitName, address: string, target = ''): void {
    if (this.#isOff(limit, address, target)) return
    if (this.#overUntil > this.#clock()) this.#refuseOver(this.#counter(limit, address, target))
  }

  /**
   * Counts one more.
   * @throws OAuthError 429 with `Retry-After`, once the limit is reached
   */
  async consume(limit: Limit | LimitName, address: string, target = ''): Promise<void> {
    if (this.#isOff(limit, address, target)) return
    const counter = this.#counter(limit, address, target)
    this.#refuseOver(counter)
    const { count, wait } = await this.#shared(counter).catch(ifAway(() => this.#here(counter)))
    if (count <= counter.points) return
    this.#reached(counter, wait, { isFirst: count === counter.points + 1 })
    throw tooMany(wait)
  }

  /**
   * Counts a failure, for `check` to refuse the next try once there are too many. Of a great limit, each node may
   * let a twentieth more pass.
   */
  async countFailure(limit: Limit | LimitName, address: string, target = ''): Promise<void> {
    if (this.#isOff(limit, address, target)) return
    const counter = this.#counter(limit, address, target)
    const { points } = counter
    const part = Math.max(1, Math.floor(points / parts))
    const here = await this.#here(counter)
    if (here.count % part !== 0) return
    const { count, wait, isShared } = await this.#shared(counter).catch(ifAway(() => here))
    const reachedAt = isShared ? Math.ceil(points / part) : points
    if (count >= reachedAt)
      this.#reached(counter, wait, { isFirst: count < reachedAt + (isShared ? 1 : part) })
  }

  /**
   * Begins a try that may become a failure, so that no more of them are under way at once than may fail.
   * @returns what ends it
   * @throws OAuthError 429 with `Retry-After`, where the limit is reached, or so many are under way on this node
   */
  begin(limit: LimitName, address: string): () => void {
    if (this.#isOff(limit, address, '')) return () => undefined
    const counter = this.#counter(limit, address, '')
    this.#refuseOver(counter)
    return this.#enter([counter])
  }

  /** @throws OAuthError 429 where as many as a limit has points are under way on this node */
  #enter(counters: readonly Counter[]): () => void {
    for (const counter of counters) {
      if ((this.#underWay.get(counter.key) ?? 0) < counter.points) continue
      this.#tellOnce(counter, this.#clock() + aSecond)
      throw tooMany(aSecond)
    }
    for (const { key } of counters) this.#underWay.set(key, (this.#underWay.get(key) ?? 0) + 1)
    return () => {
      for (const { key } of counters) {
        const left = (this.#underWay.get(key) ?? 1) - 1
        if (left > 0) this.#underWay.set(key, left)
        else this.#underWay.delete(key)
      }
    }
  }

  /**
   * Takes one of so many places for a try, before it is known whether it is right. A wrong one keeps its
   * place for the seconds of the limit, however many right ones come between; a right one gives it back.
   * @returns what gives it back
   * @throws OAuthError 429 with `Retry-After`, where all are taken
   */
  attempt(limit: Limit | LimitName, address: string, target = ''): Promise<() => Promise<void>> {
    return this.attemptAll([{ limit, address, target }])
  }

  /** The same for several limits: a place of each, or of none. */
  async attemptAll(tries: readonly Try[]): Promise<() => Promise<void>> {
    const counters = tries
      .filter(({ limit, address, target = '' }) => !this.#isOff(limit, address, target))
      .map(({ limit, address, target = '' }) => this.#counter(limit, address, target))
    if (counters.length === 0) return async () => undefined
    this.#refuseFull(counters)
    // More at once than there are places would only compete for them.
    const leave = this.#enter(counters)
    const giveBack = await this.#places(counters)
      .catch(ifAway(() => this.#placesHere(counters)))
      .finally(leave)
    return giveBack
  }

  async #places(counters: readonly Counter[]): Promise<() => Promise<void>> {
    const now = this.#clock()
    const asked = counters.map(placesOf)
    // One read for all places: a refused attempt writes nothing.
    const values = await this.#transients.getMany(asked.flat(), now)
    const known = new Map(asked.flat().map((place, index) => [place, values[index]]))
    const all = counters.map((counter, index) => {
      const places = asked[index] ?? []
      return { counter, places, taken: places.map((place) => known.get(place)) }
    })
    for (const { counter, taken } of all)
      if (!taken.includes(undefined)) this.#refuseTaken(counter, taken, now)
    const mine: string[] = []
    const giveBack = async () => {
      for (const place of mine) await this.#transients.delete(place).catch(ifAway(() => undefined))
    }
    for (const { counter, places, taken } of all) {
      const place = await this.#free(counter, places, taken, now)
      if (place === undefined) {
        await giveBack()
        this.#refuseTaken(counter, taken, now)
      } else mine.push(place)
    }
    return giveBack
  }

  /** Takes one of the free places. Concurrent tries begin at different places, so that they rarely collide. */
  async #free(
    { seconds }: Counter,
    places: readonly string[],
    taken: readonly (string | undefined)[],
    now: number,
  ): Promise<string | undefined> {
    const ends = now + seconds * 1000
    const free = places.filter((_, index) => taken[index] === undefined)
    this.#attempts += 1
    const first = this.#attempts % free.length
    for (const place of [...free.slice(first), ...free.slice(0, first)])
      if (await this.#transients.put(place, String(ends), ends, now)) return place
    return undefined
  }

  #refuseTaken(counter: Counter, taken: readonly (string | undefined)[], now: number): never {
    const ends = now + counter.seconds * 1000
    const earliest = Math.min(...taken.map((until) => Number(until ?? ends)))
    this.#tellOnce(counter, earliest)
    if (!taken.includes(undefined))
      this.#full.set(counter.key, { until: Math.min(earliest, now + aSecond), earliest })
    throw tooMany(earliest - now)
  }

  // A right password on another node may give a place back, so this is believed for a second only.
  #refuseFull(counters: readonly Counter[]): void {
    const now = this.#clock()
    for (const { key } of counters) {
      const full = this.#full.get(key)
      if (full && full.until > now) throw tooMany(full.earliest - now)
    }
  }

  async #placesHere(counters: readonly Counter[]): Promise<() => Promise<void>> {
    const mine: Counter[] = []
    const giveBack = async () => {
      for (const counter of mine) await this.#memoryOf(counter).reward(folded(counter))
    }
    for (const counter of counters) {
      const { count, wait } = await this.#here(counter)
      mine.push(counter)
      if (count <= counter.points) continue
      await giveBack()
      this.#tellOnce(counter, this.#clock() + wait)
      throw tooMany(wait)
    }
    return giveBack
  }

  async #shared(limited: Counter): Promise<Count> {
    const { name, seconds } = limited
    const now = this.#clock()
    const window = Math.floor(now / (seconds * 1000))
    const ends = (window + 1) * seconds * 1000
    const counter = `limit:${name}:${window}:${keptKey(limited)}`
    const count = await this.#transients.increment(counter, ends, now)
    return { count, wait: ends - now, isShared: true }
  }

  async #here(counter: Counter): Promise<Count> {
    const memory = this.#memoryOf(counter)
    const counted: RateLimiterRes = await memory.penalty(folded(counter))
    return { count: counted.consumedPoints, wait: counted.msBeforeNext, isShared: false }
  }

  #memoryOf({ name, points, seconds }: Counter): RateLimiterMemory {
    const known = this.#alone.get(name)
    if (known) return known
    const memory = new RateLimiterMemory({ points, duration: seconds, keyPrefix: name })
    this.#alone.set(name, memory)
    return memory
  }

  #counter(limit: Limit | LimitName, address: string, target: string): Counter {
    const { name, points, seconds } =
      typeof limit === 'string'
        ? { ...limitTable[limit], ...this.#options.numbers?.[limit], name: limit }
        : limit
    const network = perOf(limit).startsWith('network') ? siteNetworkOf(address) : networkOf(address)
    const short = target.length > longestTarget ? sha256(target) : target
    return { name, points, seconds, network, key: `${name} ${network} ${short}` }
  }

  #isOff(limit: Limit | LimitName, address: string, target: string): boolean {
    if (this.#options.isOff === true && typeof limit === 'string') return true
    if (address !== '' || !isOfAddress(limit, target)) return false
    this.#warnOnce()
    // Nobody says whose request it is: counted together, a few strangers would keep everybody out.
    return target === ''
  }

  #warnOnce(): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    const { log = () => undefined } = this.#options
    log({
      level: 'warn',
      event: 'address.missing',
      message:
        'Requests come without an address: limits for each address are off. Behind a Unix socket, add unix to trustedProxies; with fetch, pass remoteAddress.',
    })
  }

  #refuseOver(counter: Counter): void {
    const until = this.#over.get(counter.key)
    if (until === undefined) return
    const wait = until - this.#clock()
    if (wait > 0) throw tooMany(wait)
    this.#over.delete(counter.key)
  }

  #reached(counter: Counter, wait: number, { isFirst }: { readonly isFirst: boolean }): void {
    const until = this.#clock() + wait
    this.#over.set(counter.key, until)
    this.#overUntil = Math.max(this.#overUntil, until)
    if (isFirst) this.#report(counter)
  }

  // A place may come free at any time, so all of them are read again; but it is said once.
  #tellOnce(counter: Counter, until: number): void {
    if ((this.#reported.get(counter.key) ?? 0) > this.#clock()) return
    this.#reported.set(counter.key, until)
    this.#report(counter)
  }

  #report({ name, network }: Counter): void {
    const { log = () => undefined } = this.#options
    log({
      level: 'warn',
      event: 'limit.reached',
      message: 'A limit was reached: further requests of this kind are answered by 429.',
      limit: name,
      ...(network === '' ? {} : { address: network }),
    })
  }
}

/** Whether it is counted for an address, with or without a target. */
const isOfAddress = (limit: Limit | LimitName, target: string): boolean =>
  typeof limit === 'string' ? /^(?:address|network)/.test(perOf(limit)) : target === ''

const perOf = (limit: Limit | LimitName): string =>
  typeof limit === 'string' ? limitTable[limit].per : ''

/** Runs instead of an operation while the store is unavailable. */
const ifAway =
  <T>(otherwise: () => T | Promise<T>) =>
  (error: unknown): T | Promise<T> => {
    if (error instanceof StoreUnavailable) return otherwise()
    throw error
  }

const placesOf = (counter: Counter): readonly string[] =>
  Array.from(
    { length: counter.points },
    (_, place) => `limit:${counter.name}:${place}:${keptKey(counter)}`,
  )

// An address is nobody's business who reads the database, nor is an account.
const keptKey = ({ key }: Counter): string => sha256(key)

// One of 65,536: no memory is filled by these counters, however many addresses somebody has.
const folded = (counter: Counter): string =>
  String(Buffer.from(keptKey(counter).slice(0, 4), 'base64url').readUInt16BE())

/** @param milliseconds after which the sender may try again */
export const tooMany = (milliseconds: number): OAuthError =>
  new OAuthError('temporarily_unavailable', 'Too many requests. Try again later.', {
    status: 429,
    headers: { 'retry-after': String(Math.max(1, Math.ceil(milliseconds / 1000))) },
  })

import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { sha256 } from '../crypto/digest.ts'
import { BoundedMap } from '../model/bounded-map.ts'
import type { LogSink } from '../model/log.ts'
import { networkOf, siteNetworkOf } from '../model/network.ts'
import { OAuthError } from '../model/oauth-error.ts'
import { FairQueue } from '../queues/fair-queue.ts'
import {
  type Limit,
  type LimitName,
  type LimitNumbers,
  limitTable,
  type OwnLimitName,
} from '../settings/limit-table.ts'
import { StoreUnavailable } from '../store/contract/errors.ts'
import type { Transient, Transients } from '../store/contract/transients.ts'

/** The options of the rate limits. */
export interface LimitsOptions {
  /** Numbers that replace the numbers of the limit table, and of the limits of extensions. */
  readonly numbers?: LimitNumbers
  /** Whether all limits of the limit table and of extensions are disabled. */
  readonly isOff?: boolean
  readonly log?: LogSink
}

/** A limit for one network and one target, such as an account. Events with equal keys are counted together. */
interface Counter extends Limit {
  readonly network: string
  /** The key in the memory of this process. */
  readonly key: string
}

/** An attempt that counts towards a limit only if it fails. */
export interface Try {
  readonly limit: Limit | LimitName
  readonly address: string
  readonly target?: string
}

interface Count {
  readonly count: number
  /** Milliseconds until the count expires. */
  readonly wait: number
  /** Whether all nodes share the count. */
  readonly isShared: boolean
}

/** A limit whose places are all taken (see `attempt`). Times are in milliseconds since the epoch. */
interface Refused {
  /** Before this time, the process refuses attempts without reading the places again. */
  readonly until: number
  /** The time at which the first place expires. */
  readonly earliest: number
}

/** A counter of attempts. All attempts in it expire together, after the last of them. */
interface Place {
  readonly key: string
  /** The maximum number of attempts. */
  readonly capacity: number
}

/** A place with its count; without a count if the place is empty. */
interface FoundPlace extends Place, Partial<Omit<Transient, 'value'>> {}

/** The maximum number of reached limits in the memory of this process. */
const maxEntries = 10_000
/**
 * The number of parts into which a limit is divided. A process increments the shared counter once per part instead of
 * once per failure, so that many failures cause few writes. Also the maximum number of places of a limit.
 */
const parts = 20
/** The maximum number of characters of a target. A longer target is replaced with its digest. */
const maxTargetLength = 100
/**
 * The delay in milliseconds before a process reads taken places again. Also the `Retry-After` of a sender who has too
 * many attempts in progress.
 */
const oneSecond = 1_000

/**
 * Enforces rate limits for all nodes together. While the shared counters are unavailable, each node counts separately.
 * A limit is passed as an object, or by its name in the limit table. A limit applies to the network of an IP address,
 * to a target, or to the combination of network and target. A target is for instance an account or a client.
 */
export class Limits {
  readonly #transients: Transients
  readonly #clock: () => number
  readonly #options: LimitsOptions
  /** The expiry of each reached limit, for checks without a store operation. */
  readonly #reachedUntil = new BoundedMap<number>(maxEntries)
  #hasWarned = false
  /** The latest expiry of all reached limits. After this time, `check` skips the look-up. */
  #anyReachedUntil = 0
  readonly #reported = new BoundedMap<number>(maxEntries)
  /** The limits whose places are all taken. */
  readonly #full = new BoundedMap<Refused>(maxEntries)
  /** The number of attempts in progress, by counter. */
  readonly #inProgress = new Map<string, number>()
  readonly #localLimiters = new Map<string, RateLimiterMemory>()
  /** The number of attempts so far, from which each attempt derives the first place that it tries to take. */
  #attempts = 0
  /** Runs the increments of a counter one by one, because in PostgreSQL, each waiting increment would hold a connection. */
  readonly #increments = new FairQueue({ maxRunningOfLane: 1 })

  constructor(transients: Transients, clock: () => number, options: LimitsOptions = {}) {
    this.#transients = transients
    this.#clock = clock
    this.#options = options
  }

  /**
   * Refuses a caller if this process knows that a limit is reached. Neither counts the call nor uses the store.
   * @throws OAuthError 429 with `Retry-After`
   */
  check(limit: Limit | LimitName, address: string, target = ''): void {
    if (this.#isOff(limit, address, target)) return
    if (this.#anyReachedUntil > this.#clock())
      this.#refuseIfReached(this.#counter(limit, address, target))
  }

  /**
   * Counts an event.
   * @throws OAuthError 429 with `Retry-After` if the limit is exceeded
   */
  async consume(limit: Limit | LimitName, address: string, target = ''): Promise<void> {
    await this.spend(limit, address, target)
  }

  /**
   * Counts an event like `consume`.
   * @returns the number of events that are still accepted, and the milliseconds until the count expires; undefined if
   * the limit is disabled
   * @throws OAuthError 429 with `Retry-After` if the limit is exceeded
   */
  async spend(
    limit: Limit | LimitName,
    address: string,
    target = '',
  ): Promise<{ readonly left: number; readonly wait: number } | undefined> {
    if (this.#isOff(limit, address, target)) return undefined
    const counter = this.#counter(limit, address, target)
    this.#refuseIfReached(counter)
    const { count, wait } = await this.#countShared(counter).catch(
      ifStoreUnavailable(() => this.#countLocally(counter)),
    )
    if (count <= counter.points) return { left: counter.points - count, wait }
    this.#reached(counter, wait, { isFirst: count === counter.points + 1 })
    throw tooMany(wait)
  }

  /**
   * Counts a failure. After too many failures, `check` refuses further attempts. A node adds its failures to the shared
   * counter in parts of a twentieth of the limit. Therefore, each node may allow up to one part more than the limit.
   */
  async countFailure(limit: Limit | LimitName, address: string, target = ''): Promise<void> {
    if (this.#isOff(limit, address, target)) return
    const counter = this.#counter(limit, address, target)
    const { points } = counter
    const part = Math.max(1, Math.floor(points / parts))
    const here = await this.#countLocally(counter)
    if (here.count % part !== 0) return
    const { count, wait, isShared } = await this.#countShared(counter).catch(
      ifStoreUnavailable(() => here),
    )
    const reachedAt = isShared ? Math.ceil(points / part) : points
    if (count >= reachedAt)
      this.#reached(counter, wait, { isFirst: count < reachedAt + (isShared ? 1 : part) })
  }

  /**
   * Begins an attempt. In this process, the number of attempts in progress cannot exceed the number of failures that
   * the limit allows.
   * @returns a function that ends the attempt
   * @throws OAuthError 429 with `Retry-After` if the limit is reached, or if too many attempts are in progress
   */
  begin(limit: LimitName, address: string): () => void {
    if (this.#isOff(limit, address, '')) return () => undefined
    const counter = this.#counter(limit, address, '')
    this.#refuseIfReached(counter)
    return this.#enter([counter])
  }

  /**
   * Counts attempts in progress.
   * @throws OAuthError 429 if a limit allows no further attempts in progress
   */
  #enter(counters: readonly Counter[]): () => void {
    for (const counter of counters) {
      if ((this.#inProgress.get(counter.key) ?? 0) < counter.points) continue
      this.#reportOnce(counter, this.#clock() + oneSecond)
      throw tooMany(oneSecond)
    }
    for (const { key } of counters) this.#inProgress.set(key, (this.#inProgress.get(key) ?? 0) + 1)
    return () => {
      for (const { key } of counters) {
        const left = (this.#inProgress.get(key) ?? 1) - 1
        if (left > 0) this.#inProgress.set(key, left)
        else this.#inProgress.delete(key)
      }
    }
  }

  /**
   * Takes room for an attempt in one of the places of a limit. All places together have room for `points` attempts.
   * After a successful attempt, the caller releases the room. Otherwise, the room of a limit of up to `parts` points is
   * free after `seconds`. The room of a larger limit is free after `seconds` without a further attempt in its place.
   * @returns a function that releases the room
   * @throws OAuthError 429 with `Retry-After` if all places are taken, or if too many attempts are in progress
   */
  attempt(limit: Limit | LimitName, address: string, target = ''): Promise<() => Promise<void>> {
    return this.attemptAll([{ limit, address, target }])
  }

  /**
   * Takes one place of each limit. If one of the limits has no free place, takes no place and throws like `attempt`.
   */
  async attemptAll(tries: readonly Try[]): Promise<() => Promise<void>> {
    const counters = tries
      .filter(({ limit, address, target = '' }) => !this.#isOff(limit, address, target))
      .map(({ limit, address, target = '' }) => this.#counter(limit, address, target))
    if (counters.length === 0) return async () => undefined
    this.#refuseIfFull(counters)
    // Limit the concurrent attempts to the number of places, because further attempts would only compete for places.
    const leave = this.#enter(counters)
    const giveBack = await this.#takePlaces(counters)
      .catch(ifStoreUnavailable(() => this.#takeLocalPlaces(counters)))
      .finally(leave)
    return giveBack
  }

  async #takePlaces(counters: readonly Counter[]): Promise<() => Promise<void>> {
    const now = this.#clock()
    const asked = counters.map(placesOf)
    // Read all places first, so that an attempt writes nothing if one of the limits has no free place.
    const counts = await this.#transients.get(
      asked.flat().map(({ key }) => key),
      now,
    )
    const found = counts.values()
    const all = counters.map((counter, index) => {
      const places = (asked[index] ?? []).map((place) => ({ ...place, ...found.next().value }))
      return { counter, places }
    })
    for (const { counter, places } of all)
      if (!places.some(hasRoom)) this.#refuseTaken(counter, places, now)
    const mine: { readonly place: Place; readonly seconds: number }[] = []
    const giveBack = async () => {
      for (const { place, seconds } of mine)
        await this.#release(place, seconds).catch(ifStoreUnavailable(() => undefined))
    }
    for (const { counter, places } of all) {
      const place = await this.#takeFreePlace(places, counter, now)
      if (place === undefined) {
        await giveBack()
        this.#refuseTaken(counter, places, now)
      } else mine.push({ place, seconds: counter.seconds })
    }
    return giveBack
  }

  /**
   * Takes one of the free places. Concurrent attempts begin at different places, so that they rarely collide. A partly
   * filled place comes first, because it expires after its last attempt.
   */
  async #takeFreePlace(
    places: readonly FoundPlace[],
    { seconds }: Counter,
    now: number,
  ): Promise<Place | undefined> {
    const ends = now + seconds * 1000
    const free = places.filter(hasRoom)
    const filled = free.filter(({ count = 0 }) => count > 0)
    const empty = free.filter(({ count = 0 }) => count <= 0)
    this.#attempts += 1
    const first = this.#attempts % Math.max(1, empty.length)
    for (const place of [...filled, ...empty.slice(first), ...empty.slice(0, first)]) {
      const { key, capacity } = place
      const add = (by: number) =>
        this.#increments.run({ lane: key }, () => this.#transients.increment(key, ends, now, by))
      if ((await add(1)) <= capacity) return place
      // A concurrent attempt took the last room of this place.
      await add(-1)
    }
    return undefined
  }

  // Without other attempts in the place, its counter expires immediately, so that right passwords leave no rows behind.
  async #release({ key, capacity }: Place, seconds: number): Promise<void> {
    const now = this.#clock()
    const ends = capacity === 1 ? now : now + seconds * 1000
    await this.#increments.run({ lane: key }, () => this.#transients.increment(key, ends, now, -1))
  }

  #refuseTaken(counter: Counter, places: readonly FoundPlace[], now: number): never {
    const ends = now + counter.seconds * 1000
    const earliest = Math.min(...places.map(({ expiresAt = ends }) => expiresAt))
    this.#reportOnce(counter, earliest)
    if (!places.some(hasRoom))
      this.#full.set(counter.key, { until: Math.min(earliest, now + oneSecond), earliest })
    throw tooMany(earliest - now)
  }

  // A place may be released before it expires. Therefore, each refusal without a look-up lasts for at most a second.
  #refuseIfFull(counters: readonly Counter[]): void {
    const now = this.#clock()
    for (const { key } of counters) {
      const full = this.#full.get(key)
      if (full && full.until > now) throw tooMany(full.earliest - now)
    }
  }

  async #takeLocalPlaces(counters: readonly Counter[]): Promise<() => Promise<void>> {
    const mine: Counter[] = []
    const giveBack = async () => {
      for (const counter of mine) await this.#memoryOf(counter).reward(foldedKey(counter))
    }
    for (const counter of counters) {
      const { count, wait } = await this.#countLocally(counter)
      mine.push(counter)
      if (count <= counter.points) continue
      await giveBack()
      this.#reportOnce(counter, this.#clock() + wait)
      throw tooMany(wait)
    }
    return giveBack
  }

  async #countShared(limited: Counter): Promise<Count> {
    const { name, seconds } = limited
    const now = this.#clock()
    const window = Math.floor(now / (seconds * 1000))
    const ends = (window + 1) * seconds * 1000
    const counter = `limit:${name}:${window}:${storedKey(limited)}`
    const count = await this.#increments.run({ lane: counter }, () =>
      this.#transients.increment(counter, ends, now),
    )
    return { count, wait: ends - now, isShared: true }
  }

  async #countLocally(counter: Counter): Promise<Count> {
    const memory = this.#memoryOf(counter)
    const counted: RateLimiterRes = await memory.penalty(foldedKey(counter))
    return { count: counted.consumedPoints, wait: counted.msBeforeNext, isShared: false }
  }

  #memoryOf({ name, points, seconds }: Counter): RateLimiterMemory {
    const known = this.#localLimiters.get(name)
    if (known) return known
    const memory = new RateLimiterMemory({ points, duration: seconds, keyPrefix: name })
    this.#localLimiters.set(name, memory)
    return memory
  }

  #counter(limit: Limit | LimitName, address: string, target: string): Counter {
    const { name, points, seconds } =
      typeof limit === 'string'
        ? { ...limitTable[limit], ...this.#options.numbers?.[limit], name: limit }
        : { ...limit, ...(isOwn(limit) && this.#options.numbers?.[limit.name]) }
    const network = perOf(limit).startsWith('network') ? siteNetworkOf(address) : networkOf(address)
    const short = target.length > maxTargetLength ? sha256(target) : target
    return { name, points, seconds, network, key: `${name} ${network} ${short}` }
  }

  #isOff(limit: Limit | LimitName, address: string, target: string): boolean {
    if (this.#options.isOff === true && (typeof limit === 'string' || isOwn(limit))) return true
    if (address !== '' || !isOfAddress(limit, target)) return false
    this.#warnOnce()
    // Without addresses and targets, all senders would share one counter. A few senders could then exclude all others.
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
        'Requests have no IP address, so the limits for IP addresses are disabled. Behind a Unix socket, add unix to trustedProxies; with fetch, pass remoteAddress.',
    })
  }

  #refuseIfReached(counter: Counter): void {
    const until = this.#reachedUntil.get(counter.key)
    if (until === undefined) return
    const wait = until - this.#clock()
    if (wait > 0) throw tooMany(wait)
    this.#reachedUntil.delete(counter.key)
  }

  #reached(counter: Counter, wait: number, { isFirst }: { readonly isFirst: boolean }): void {
    const until = this.#clock() + wait
    this.#reachedUntil.set(counter.key, until)
    this.#anyReachedUntil = Math.max(this.#anyReachedUntil, until)
    if (isFirst) this.#report(counter)
  }

  // Many attempts can find the same limit full. Report the limit only once before its first place expires.
  #reportOnce(counter: Counter, until: number): void {
    if ((this.#reported.get(counter.key) ?? 0) > this.#clock()) return
    this.#reported.set(counter.key, until)
    this.#report(counter)
  }

  #report({ name, network }: Counter): void {
    const { log = () => undefined } = this.#options
    log({
      level: 'warn',
      event: 'limit.reached',
      message:
        'A rate limit was reached. Further requests to which the limit applies fail with 429.',
      limit: name,
      ...(network === '' ? {} : { address: network }),
    })
  }
}

/** Returns whether an extension declares this limit. No built-in name contains a slash. */
const isOwn = (limit: Limit): limit is Limit & { readonly name: OwnLimitName } =>
  limit.name.includes('/')

/** Returns whether a limit applies to IP addresses, with or without a target. */
const isOfAddress = (limit: Limit | LimitName, target: string): boolean =>
  typeof limit === 'string' ? /^(?:address|network)/.test(perOf(limit)) : target === ''

const perOf = (limit: Limit | LimitName): string =>
  typeof limit === 'string' ? limitTable[limit].per : ''

/** Returns an error handler that runs a fallback while the store is unavailable. */
const ifStoreUnavailable =
  <T>(otherwise: () => T | Promise<T>) =>
  (error: unknown): T | Promise<T> => {
    if (error instanceof StoreUnavailable) return otherwise()
    throw error
  }

/**
 * Returns the places of a limit. A limit of more than `parts` points has places with room for several attempts, so that
 * an attempt costs the same for every limit.
 */
const placesOf = (counter: Counter): readonly Place[] => {
  const { name, points } = counter
  const number = Math.min(points, parts)
  return Array.from({ length: number }, (_, index) => ({
    key: `limit:${name}:place ${index}:${storedKey(counter)}`,
    capacity: Math.floor(points / number) + (index < points % number ? 1 : 0),
  }))
}

const hasRoom = ({ count = 0, capacity }: FoundPlace): boolean => count < capacity

// Store a digest, so that the database contains neither IP addresses nor accounts.
const storedKey = ({ key }: Counter): string => sha256(key)

// Maps a counter to one of 65,536 keys, which limits the memory even if an attacker has many IP addresses.
const foldedKey = (counter: Counter): string =>
  String(Buffer.from(storedKey(counter).slice(0, 4), 'base64url').readUInt16BE())

/**
 * Returns a 429 error with `Retry-After`.
 * @param milliseconds the time after which the sender may retry
 */
export const tooMany = (milliseconds: number): OAuthError =>
  new OAuthError('temporarily_unavailable', 'Too many requests. Try again later.', {
    status: 429,
    headers: { 'retry-after': String(Math.max(1, Math.ceil(milliseconds / 1000))) },
  })

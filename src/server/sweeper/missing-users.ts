import { earliestRowOf, type UserId } from '../../model/user.ts'
import type { RecordsContext } from '../../records/context.ts'
import type { RemoveSome } from './sweeper-pace.ts'

/** The kind of the notes. */
const kind = 'missing user'

/** The minimum time between the first and the second failed look-up of a user, in milliseconds. */
export const missingFor = 86_400_000
/** After a run has checked this number of users, the run looks up no further batch. */
const usersPerRun = 200
/** The maximum number of users that one batch looks up. */
const usersPerBatch = 20
/** If a run finds at most this number of missing users, `maxMissingShare` does not apply. */
const alwaysToleratedMissing = 10
/** The maximum share of missing users among the checked users. Above this share, the run removes no rows of users. */
const maxMissingShare = 0.1

/** The users that one run has checked. */
interface Checked {
  readonly ids: Set<UserId>
  readonly missing: UserId[]
  /** The number of times that the run reached the last user, and continued with the first user. */
  wraps: number
}

/** A user who is missing at the second look-up too. */
interface MissingUser {
  readonly id: UserId
  readonly since: number
  /** If a newer user has the ID, only rows created before this time belong to the missing user. Otherwise null. */
  readonly before: number | null
  hasEvent: boolean
}

/**
 * Calls the look-up of the application for the users who own rows. A user is missing if the look-up does not find the
 * user, or finds a newer user with the same ID. Removes the rows of users who are missing at two look-ups, at least a
 * day apart. If so many users are missing that the look-up itself is probably broken, removes no rows of users.
 */
export class MissingUsers {
  readonly #context: RecordsContext
  #lastUser: UserId | null = null
  #recordedAt = Number.NEGATIVE_INFINITY

  constructor(context: RecordsContext) {
    this.#context = context
  }

  /**
   * Returns the function that checks a bounded number of users, and removes the rows of missing users. The next run
   * continues after the last of these users.
   */
  removeSome(now: number): RemoveSome {
    const checked: Checked = { ids: new Set(), missing: [], wraps: 0 }
    let vanished: MissingUser[] | undefined
    return async (limit) => {
      if (vanished === undefined) {
        if (await this.#checkSome(checked)) return 0
        const max = maxMissing(checked.ids.size)
        const isPlausible = checked.missing.length <= max
        vanished = isPlausible ? await this.#findVanished(checked, now, max) : []
        if (!isPlausible) await this.#reportImplausible(checked, now)
      }
      const [user] = vanished
      if (!user) return null
      const rows = await this.#removeSome(user, limit)
      if (rows === 0) vanished.shift()
      return rows
    }
  }

  /**
   * Looks up a batch of users, and deletes the recorded misses of users who are found again.
   * @returns whether the run must check another batch
   */
  async #checkSome(checked: Checked): Promise<boolean> {
    const { store } = this.#context
    const { ids, missing } = checked
    const batch = await store.removals.idsInUse(this.#lastUser, usersPerBatch)
    const isEnd = batch.length < usersPerBatch
    // After the last user, continue with the first user. A small batch at the end would not show whether the share of
    // missing users is plausible.
    this.#lastUser = isEnd ? null : (batch.at(-1) ?? null)
    if (isEnd) checked.wraps += 1
    const added = batch.filter((id) => !ids.has(id))
    const found: string[] = []
    for (const id of added) {
      ids.add(id)
      if ((await this.#formerRows(id)) === undefined) found.push(String(id))
      else missing.push(id)
    }
    if (found.length > 0) await this.#deleteNotes(found)
    const hasCheckedAll = added.length < batch.length || checked.wraps === 2
    return !hasCheckedAll && ids.size < usersPerRun
  }

  async #deleteNotes(keys: readonly string[]): Promise<void> {
    // A read is cheaper than a write, and usually finds no note.
    const { sweeperNotes } = this.#context.store
    const missed = { kind, key: keys } as const
    if ((await sweeperNotes.select(missed)).length > 0) await sweeperNotes.delete(missed)
  }

  /** Records the first miss of each missing user. @returns up to `max` users who are still missing after a day */
  async #findVanished({ missing }: Checked, now: number, max: number): Promise<MissingUser[]> {
    const { users, store } = this.#context
    const { sweeperNotes } = store
    const keys = missing.map(String)
    const notes = await sweeperNotes.select({ kind, key: keys })
    const noted = new Set(notes.map(({ key }) => key))
    for (const key of keys) if (!noted.has(key)) await sweeperNotes.put({ kind, key, at: now })
    const vanished: MissingUser[] = []
    const due = { kind, at: { upTo: now - missingFor } } as const
    for (const { key, at } of await sweeperNotes.select(due, { by: ['at'], limit: max })) {
      // Keep an ID beyond 2^53 as text: as a number, it would be rounded to the ID of another user.
      const isNumber = users.keyType === 'integer' && Number.isSafeInteger(Number(key))
      const id = isNumber ? Number(key) : key
      const former = await this.#formerRows(id)
      if (former === undefined) await sweeperNotes.delete({ kind, key })
      else vanished.push({ id, since: at, hasEvent: false, ...former })
    }
    return vanished
  }

  /**
   * Looks up a user. Returns undefined if the current user owns all rows of the ID. Otherwise, returns `before`: the
   * time before which the rows belong to a former user, or null if the look-up finds no user.
   */
  async #formerRows(id: UserId): Promise<{ readonly before: number | null } | undefined> {
    const { users, store } = this.#context
    const user = await users.find(id, this.#context)
    if (!user) return { before: null }
    const before = earliestRowOf(user)
    return before > 0 && (await store.removals.hasOlder(id, before)) ? { before } : undefined
  }

  async #removeSome(user: MissingUser, limit: number): Promise<number> {
    const { store, audit, log, endLogins } = this.#context
    const { id: userId, since, before } = user
    if (!user.hasEvent && before === null) await endLogins(userId, store)
    const rowsOfUser = { kind: 'user', key: userId, before } as const
    const rows = user.hasEvent
      ? await store.removals.removeSome(rowsOfUser, limit)
      : await store.transaction(async (tx) => {
          const removed = await tx.removals.removeSome(rowsOfUser, limit)
          if (removed > 0) await audit.add(tx, 'user.vanished', { userId, details: { since } })
          return removed
        })
    if (rows > 0 && !user.hasEvent)
      log({
        level: 'warn',
        event: 'user.vanished',
        message:
          before === null
            ? 'Two look-ups, at least a day apart, did not find a user in the application: the rows of the user are removed.'
            : 'The ID of a deleted user belongs to a newer user: the rows of the deleted user are removed.',
        userId,
      })
    user.hasEvent ||= rows > 0
    if (rows === 0) await store.sweeperNotes.delete({ kind, key: String(userId) })
    return rows
  }

  async #reportImplausible({ ids, missing }: Checked, now: number): Promise<void> {
    const { store, audit, log } = this.#context
    const details = { count: missing.length, checked: ids.size }
    log({
      level: 'error',
      event: 'users.missing',
      message: `The application did not find ${missing.length} of ${ids.size} users. The rows of these users are not removed. If the users were deleted, call users.deleted(id) for each user.`,
      ...details,
    })
    // Record the event at most once a day.
    if (now - this.#recordedAt < missingFor) return
    this.#recordedAt = now
    await audit.add(store, 'users.missing', { details })
  }
}

const maxMissing = (checked: number): number =>
  Math.max(alwaysToleratedMissing, Math.floor(checked * maxMissingShare))

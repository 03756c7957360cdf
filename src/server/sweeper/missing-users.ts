import type { LogSink } from '../../model/log.ts'
import type { User, UserId } from '../../model/user.ts'
import type { UserKeyType } from '../../model/user-table.ts'
import type { AuditTrail } from '../../records/audit/audit-trail.ts'
import type { Store } from '../../store/store.ts'
import type { SweeperKind } from './sweeper-kinds.ts'

/** Milliseconds between the two times that a user is not found before anything of theirs is removed. */
export const missingFor = 86_400_000
/** Users that one run asks the application for. */
const usersOfRun = 200
/** Users that one part asks for. */
const usersOfPart = 20
/** Users of a run that may be missing, however few it checks. */
const fewMissing = 10
/** Share of the users of a run that may be missing. */
const shareMissing = 0.1

export interface MissingUsersOptions {
  readonly store: Store
  readonly users: { find(id: UserId): Promise<User | undefined> }
  readonly keyType: UserKeyType
  readonly audit: AuditTrail
  readonly log: LogSink
}

/** What one run knows of the users that it has checked. */
interface Checked {
  readonly ids: Set<UserId>
  readonly missing: UserId[]
  /** How often it has come to the end of all users, and gone on with the first. */
  ends: number
}

/** A user who was not found for the second time. */
interface Vanished {
  readonly id: UserId
  readonly since: number
  hasEvent: boolean
}

/**
 * Asks the application for the users that rows belong to. It removes the rows of users who were not found twice, a day
 * apart, and nothing where so many are missing that the fault is probably in the look-up.
 */
export class MissingUsers {
  readonly #options: MissingUsersOptions
  #lastUser: UserId | null = null
  #recordedAt = Number.NEGATIVE_INFINITY

  constructor(options: MissingUsersOptions) {
    this.#options = options
  }

  /** A bounded number of users for each run; the next run goes on where this one ends. */
  kind(now: number): SweeperKind {
    const checked: Checked = { ids: new Set(), missing: [], ends: 0 }
    let vanished: Vanished[] | undefined
    return {
      name: 'missing users',
      removeSome: async (limit) => {
        if (vanished === undefined) {
          if (await this.#checkSome(checked)) return 0
          const most = mostMissing(checked.ids.size)
          const isPlausible = checked.missing.length <= most
          vanished = isPlausible ? await this.#vanished(checked, now, most) : []
          if (!isPlausible) await this.#refuse(checked, now)
        }
        const [user] = vanished
        if (!user) return null
        const rows = await this.#removeSome(user, limit)
        if (rows === 0) vanished.shift()
        return rows
      },
    }
  }

  /** Asks for a few users, and forgets of those who are there that they were missing. @returns whether there are more */
  async #checkSome(checked: Checked): Promise<boolean> {
    const { store, users } = this.#options
    const { ids, missing } = checked
    const some = await store.userData.idsInUse(this.#lastUser, usersOfPart)
    const isEnd = some.length < usersOfPart
    // From the beginning again: the share of a handful at the end would say nothing.
    this.#lastUser = isEnd ? null : (some.at(-1) ?? null)
    if (isEnd) checked.ends += 1
    const added = some.filter((id) => !ids.has(id))
    const found: string[] = []
    for (const id of added) {
      ids.add(id)
      if (await users.find(id)) found.push(String(id))
      else missing.push(id)
    }
    if (found.length > 0) await this.#forget(found)
    const isAround = added.length < some.length || checked.ends === 2
    return !isAround && ids.size < usersOfRun
  }

  async #forget(keys: readonly string[]): Promise<void> {
    const { sweeperNotes } = this.#options.store
    const noted = await sweeperNotes.find('missing user', keys)
    const known = noted.map(({ key }) => key)
    if (known.length > 0) await sweeperNotes.delete('missing user', known)
  }

  /** Notes who is missing for the first time. @returns who has been for a day: at most `most`, and still is */
  async #vanished({ missing }: Checked, now: number, most: number): Promise<Vanished[]> {
    const { users, keyType, store } = this.#options
    const { sweeperNotes } = store
    const keys = missing.map(String)
    const noted = keys.length === 0 ? [] : await sweeperNotes.find('missing user', keys)
    const known = new Set(noted.map(({ key }) => key))
    for (const key of keys)
      if (!known.has(key)) await sweeperNotes.put('missing user', { key, at: now })
    const vanished: Vanished[] = []
    for (const { key, at } of await sweeperNotes.until('missing user', now - missingFor, most)) {
      // One beyond 2^53 is text: the nearest number is somebody else's.
      const isNumber = keyType === 'integer' && Number.isSafeInteger(Number(key))
      const id = isNumber ? Number(key) : key
      if (await users.find(id)) await sweeperNotes.delete('missing user', [key])
      else vanished.push({ id, since: at, hasEvent: false })
    }
    return vanished
  }

  async #removeSome(user: Vanished, limit: number): Promise<number> {
    const { store, audit, log } = this.#options
    const { id: userId, since } = user
    const rows = user.hasEvent
      ? await store.userData.deleteSome(userId, limit)
      : await store.transaction(async (tx) => {
          const removed = await tx.userData.deleteSome(userId, limit)
          if (removed > 0) await audit.add(tx, 'user.vanished', { userId, details: { since } })
          return removed
        })
    if (rows > 0 && !user.hasEvent)
      log({
        level: 'warn',
        event: 'user.vanished',
        message:
          'The application did not find a user twice, at least a day apart: what was theirs is removed.',
        userId,
      })
    user.hasEvent ||= rows > 0
    if (rows === 0) await store.sweeperNotes.delete('missing user', [String(userId)])
    return rows
  }

  async #refuse({ ids, missing }: Checked, now: number): Promise<void> {
    const { store, audit, log } = this.#options
    const details = { count: missing.length, checked: ids.size }
    log({
      level: 'error',
      event: 'users.missing',
      message: `The application did not find ${missing.length} of ${ids.size} users: nothing of theirs is removed. If they are deleted, call users.deleted(id) for each.`,
      ...details,
    })
    // Once a day, as long as it lasts.
    if (now - this.#recordedAt < missingFor) return
    this.#recordedAt = now
    await audit.add(store, 'users.missing', { details })
  }
}

const mostMissing = (checked: number): number =>
  Math.max(fewMissing, Math.floor(checked * shareMissing))

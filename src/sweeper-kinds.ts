import { setImmediate as nextTurn } from 'node:timers/promises'
import type { UserId, UserSource } from './model/user.ts'
import type { Settings } from './options.ts'
import type { Store, Transients } from './store/store.ts'

/** One kind of what the sweeper removes. */
export interface SweeperKind {
  readonly name: string
  /**
   * Removes about `limit` rows, a number that one statement may delete beside requests.
   * @returns how many rows it removed; null once nothing is left to do in this run
   */
  removeSome(limit: number): Promise<number | null>
}

export interface KindsOptions {
  readonly store: Store
  readonly transients: Transients
  readonly settings: Settings
  /** The keys that sign tokens; retired ones have to go. */
  readonly signingKeys: { deleteRetired(): Promise<number> }
  /** Removes what belongs to deleted users, where no foreign key does. */
  readonly orphans: Orphans | undefined
  /** Removes what belongs to deleted clients and built-in users. */
  readonly removals: { kind(): SweeperKind; orphans(): SweeperKind }
}

/** Everything that a run at this time removes. The sweeper takes turns between these. */
export const sweeperKinds = (
  { store, transients, settings, signingKeys, orphans, removals }: KindsOptions,
  now: number,
): readonly SweeperKind[] => {
  const idleSince = now - settings.sessionIdleExpiresIn * 1000
  const { unusedClientExpiresIn: unused, auditExpiresIn: audited } = settings
  return [
    untilNone('tokens', (limit) => store.tokens.deleteExpired(now, limit)),
    untilNone('authorizations', (limit) => store.authorizations.deleteExpired(now, limit)),
    untilNone('sessions', (limit) => store.sessions.deleteExpired(now, idleSince, limit)),
    untilNone('transients', (limit) => transients.deleteExpired(now, limit)),
    ...(audited === 0
      ? []
      : [untilNone('audit', (limit) => store.audit.deleteBefore(now - audited * 1000, limit))]),
    ...(unused === 0
      ? []
      : [
          untilNone('unused clients', (limit) =>
            store.clients.deleteUnused(now - unused * 1000, limit),
          ),
        ]),
    untilNone('signing keys', () => signingKeys.deleteRetired()),
    removals.orphans(),
    removals.kind(),
    ...(orphans ? [orphans.kind()] : []),
  ]
}

// A part may be smaller than its limit: rows that depend on each other go together.
const untilNone = (name: string, remove: (limit: number) => Promise<number>): SweeperKind => ({
  name,
  removeSome: async (limit) => (await remove(limit)) || null,
})

/** Users that one run asks the application for. */
const usersOfRun = 200
/** Rows of a deleted user that one statement removes. */
const rowsOfPart = 20
/** Users that one part asks for. */
const usersOfPart = 20

/** Asks the application for the users that rows belong to, and removes the rows of deleted users. */
export class Orphans {
  readonly #store: Store
  readonly #users: UserSource
  #lastUser: UserId | null = null

  constructor(store: Store, users: UserSource) {
    this.#store = store
    this.#users = users
  }

  /** A bounded number of users for each run; the next run goes on where this one ends. */
  kind(): SweeperKind {
    let asked = 0
    return {
      name: 'orphans',
      removeSome: async () => {
        const ids = await this.#store.userData.idsInUse(this.#lastUser, usersOfPart)
        for (const id of ids) {
          if (await this.#users.find(id)) continue
          while ((await this.#store.userData.deleteSome(id, rowsOfPart)) > 0) await nextTurn()
        }
        asked += ids.length
        this.#lastUser = ids.length === usersOfPart ? (ids.at(-1) ?? null) : null
        return this.#lastUser === null || asked >= usersOfRun ? null : 0
      },
    }
  }
}

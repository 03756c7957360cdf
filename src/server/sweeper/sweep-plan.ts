import type { Store } from '../../store/store.ts'
import { ClockInDoubt, type ServerClock } from '../clock/server-clock.ts'
import { missingFor } from './missing-users.ts'
import { type Swept, sweepTimes } from './sweeper-kinds.ts'

/** The number at which counting the rows of a kind stops. */
const maxCounted = 10_000
/** The maximum number of missing users, and of deleted clients and users, in the plan. */
const maxListed = 1_000

/** The numbers of rows that a run of the sweeper would remove now, with the reasons, and the missing users. */
export interface SweepPlan {
  /** The reason why this process must not remove anything now; null if the process may remove rows. */
  readonly heldBecause: string | null
  /** The kinds of rows to remove. Counting stops at 10,000 rows of a kind, and at 1,000 deleted clients and users. */
  readonly rows: readonly { readonly what: string; readonly why: string; readonly count: number }[]
  /** Users whom the application did not find, or whose ID belongs to a newer user, in the order of `since`. */
  readonly missingUsers: readonly {
    readonly userId: string
    /** The time of the first look-up that did not find the user, in milliseconds since the epoch. */
    readonly since: number
    /** The earliest time at which the rows of the user may be removed, in milliseconds since the epoch. */
    readonly removedFrom: number
  }[]
}

/** Counts the rows that the sweeper would remove, and lists missing users. Does not change the database. */
export const sweepPlan = async (
  { store, settings, signingKeys, grantTypesOfClients }: Swept,
  clock: ServerClock,
): Promise<SweepPlan> => {
  const heldBecause = await clock.sweepTime(false).then(
    () => null,
    (error: unknown) => {
      if (error instanceof ClockInDoubt) return error.message
      throw error
    },
  )
  const times = sweepTimes(settings, clock.now())
  const { now, auditBefore, unusedClientsBefore: before } = times
  const unused =
    before === null ? 0 : await store.clients.countUnused(maxCounted, grantTypesOfClients, before)
  const listed = await store.removals.select({}, { limit: maxListed })
  const missing = await store.sweeperNotes.select(
    { kind: 'missing user', at: { upTo: now } },
    { by: ['at'], limit: maxListed },
  )
  const rows = [
    {
      what: 'tokens',
      why: 'expired, and cannot be refreshed',
      count: await store.tokens.countExpired(now, maxCounted),
    },
    {
      what: 'authorizations',
      why: 'their last token has expired',
      count: await store.authorizations.countExpired(now, maxCounted),
    },
    {
      what: 'sessions',
      why: 'expired, or not used for long',
      count: await store.sessions.countExpired(times, maxCounted),
    },
    {
      what: 'short-lived values',
      why: 'expired',
      count: await store.transientRows.countExpired(now, maxCounted),
    },
    {
      what: 'audit events',
      why: 'older than auditExpiresIn',
      count: auditBefore === null ? 0 : await store.audit.countExpired(auditBefore - 1, maxCounted),
    },
    { what: 'clients', why: 'registered themselves, and have no tokens', count: unused },
    { what: 'signing keys', why: 'retired', count: (await signingKeys.retired()).length },
    { what: 'clients and users', why: 'deleted, but their rows remain', count: listed.length },
    {
      what: 'clients',
      why: 'deleted through a foreign key, but their rows remain',
      count: await countOrphans(store),
    },
  ]
  return {
    heldBecause,
    rows: rows.filter(({ count }) => count > 0),
    missingUsers: missing.map(({ key, at }) => ({
      userId: key,
      since: at,
      removedFrom: at + missingFor,
    })),
  }
}

const countOrphans = async ({ removals }: Store): Promise<number> => {
  let count = 0
  let after: number | null = 0
  while (after !== null && count < maxCounted) {
    const { keys, last }: Awaited<ReturnType<typeof removals.findOrphans>> =
      await removals.findOrphans(after, maxListed)
    count += keys.length
    after = last
  }
  return count
}

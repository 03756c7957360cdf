import type { Settings } from '../../settings/settings.ts'
import type { Store } from '../../store/store.ts'
import { ClockInDoubt, type ServerClock } from '../clock/server-clock.ts'
import { missingFor } from './missing-users.ts'
import { sweepTimes } from './sweeper-kinds.ts'

/** Rows of each kind are counted so far. */
const mostCounted = 10_000
/** Users and deleted clients that are listed. */
const mostListed = 1_000

/** What a run of the sweeper would remove now, and why. */
export interface SweepPlan {
  /** Why this process may not remove anything now; null: it may. */
  readonly heldBecause: string | null
  /** Kinds of which there is something to remove. A count of 10,000 means at least so many. */
  readonly rows: readonly { readonly what: string; readonly why: string; readonly count: number }[]
  /** Users whom the application did not find, the earliest first. One that is found again leaves this list. */
  readonly missingUsers: readonly {
    readonly userId: string
    /** Milliseconds since the epoch: when they were first not found, and from when on they may be removed. */
    readonly since: number
    readonly removedFrom: number
  }[]
}

export interface SweepPlanOptions {
  readonly store: Store
  readonly settings: Settings
  readonly clock: ServerClock
  readonly signingKeys: { retired(): Promise<readonly unknown[]> }
}

/** Lists what the sweeper would remove, and changes nothing. */
export const sweepPlan = async ({
  store,
  settings,
  clock,
  signingKeys,
}: SweepPlanOptions): Promise<SweepPlan> => {
  const heldBecause = await clock.sweepTime(false).then(
    () => null,
    (error: unknown) => {
      if (error instanceof ClockInDoubt) return error.message
      throw error
    },
  )
  const times = sweepTimes(settings, clock.now())
  const expired = await store.expired.count(times, mostCounted)
  const { unusedClientsBefore: before } = times
  const unused = before === null ? 0 : await store.clients.countUnused(mostCounted, before)
  const listed = await store.removals.list(null, mostListed)
  const missing = await store.sweeperNotes.until('missing user', times.now, mostListed)
  const rows = [
    { what: 'tokens', why: 'expired, and cannot be refreshed', count: expired.tokens },
    { what: 'authorizations', why: 'their last token has ended', count: expired.authorizations },
    { what: 'sessions', why: 'expired, or not used for long', count: expired.sessions },
    { what: 'short-lived values', why: 'expired', count: expired.transients },
    { what: 'audit events', why: 'older than auditExpiresIn', count: expired.auditEvents },
    { what: 'clients', why: 'registered themselves, and were never used', count: unused },
    { what: 'signing keys', why: 'retired', count: (await signingKeys.retired()).length },
    { what: 'clients and users', why: 'deleted; their rows are left', count: listed.length },
    {
      what: 'clients',
      why: 'deleted by a foreign key; their rows are left',
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
  while (after !== null && count < mostCounted) {
    const { keys, last }: Awaited<ReturnType<typeof removals.findOrphans>> =
      await removals.findOrphans(after, mostListed)
    count += keys.length
    after = last
  }
  return count
}

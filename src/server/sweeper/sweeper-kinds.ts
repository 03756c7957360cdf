import type { Settings } from '../../settings/settings.ts'
import type { SweepTimes } from '../../store/contract/sweeper.ts'
import type { Transients } from '../../store/contract/transients.ts'
import type { Store } from '../../store/store.ts'

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
  /** Those in the database, where the others are elsewhere. */
  readonly lasting: Transients | undefined
  readonly settings: Settings
  /** The keys that sign tokens; retired ones have to go. */
  readonly signingKeys: { deleteRetired(): Promise<number> }
  /** Covers the audit log with checkpoints, and removes what has expired of it. */
  readonly auditChain: { coverage(now: number): SweeperKind; retention(): SweeperKind }
  /** Removes what belongs to users whom the application has deleted, where no foreign key does. */
  readonly missingUsers: { kind(now: number): SweeperKind } | undefined
  /** Removes what belongs to deleted clients and built-in users. */
  readonly removals: { kind(): SweeperKind; orphans(): SweeperKind }
}

/** The times by which a run at this time judges. */
export const sweepTimes = (settings: Settings, now: number): SweepTimes => {
  const { auditExpiresIn, unusedClientExpiresIn, sessionIdleExpiresIn } = settings
  return {
    now,
    idleSince: now - sessionIdleExpiresIn * 1000,
    auditBefore: auditExpiresIn === 0 ? null : now - auditExpiresIn * 1000,
    unusedClientsBefore: unusedClientExpiresIn === 0 ? null : now - unusedClientExpiresIn * 1000,
  }
}

/** Everything that a run at this time removes. The sweeper takes turns between these. */
export const sweeperKinds = (
  {
    store,
    transients,
    lasting,
    settings,
    signingKeys,
    auditChain,
    missingUsers,
    removals,
  }: KindsOptions,
  now: number,
): readonly SweeperKind[] => {
  const { idleSince, unusedClientsBefore } = sweepTimes(settings, now)
  return [
    untilNone('tokens', (limit) => store.tokens.deleteExpired(now, limit)),
    untilNone('authorizations', (limit) => store.authorizations.deleteExpired(now, limit)),
    untilNone('sessions', (limit) => store.sessions.deleteExpired(now, idleSince, limit)),
    untilNone('transients', (limit) => transients.deleteExpired(now, limit)),
    ...(lasting
      ? [untilNone('lasting transients', (limit) => lasting.deleteExpired(now, limit))]
      : []),
    auditChain.coverage(now),
    auditChain.retention(),
    ...(unusedClientsBefore === null
      ? []
      : [
          untilNone('unused clients', (limit) =>
            store.clients.deleteUnused(unusedClientsBefore, limit),
          ),
        ]),
    untilNone('signing keys', () => signingKeys.deleteRetired()),
    removals.orphans(),
    removals.kind(),
    ...(missingUsers ? [missingUsers.kind(now)] : []),
  ]
}

// A part may be smaller than its limit: rows that depend on each other go together.
const untilNone = (name: string, remove: (limit: number) => Promise<number>): SweeperKind => ({
  name,
  removeSome: async (limit) => (await remove(limit)) || null,
})

import type { AuditChain } from '../../records/audit/audit-chain.ts'
import type { ClientLogos } from '../../records/clients/client-logos.ts'
import type { SigningKeys } from '../../records/keys/signing-keys.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Transients } from '../../store/contract/transients.ts'
import type { Store } from '../../store/store.ts'

/** Milliseconds for which a leak report recognizes a deleted or restored personal token. */
const noteLifetime = 86_400_000

/** A kind of row that the sweeper removes. */
export interface SweeperKind {
  readonly name: string
  /**
   * Removes about `limit` rows.
   * @returns the number of removed rows; null if this run has nothing more to remove
   */
  removeSome(limit: number): Promise<number | null>
}

/** The parts of the server that the sweeper uses. */
export interface Swept {
  readonly store: Store
  /** The short-lived values in the database; undefined if `store.transients` already uses the database. */
  readonly databaseTransients: Transients | undefined
  readonly settings: Settings
  readonly signingKeys: Pick<SigningKeys, 'deleteRetired' | 'retired'>
  /** Writes checkpoints of the audit log, and removes expired events. */
  readonly auditChain: Pick<AuditChain, 'coverage' | 'retention'>
  /** Removes the rows of users whom the application no longer finds. */
  readonly missingUsers: { kind(now: number): SweeperKind } | undefined
  /** Removes the rows of deleted clients and users. */
  readonly removals: { kind(): SweeperKind; orphans(): SweeperKind }
  /** Fetches the requested logos that no process has fetched. */
  readonly logos: Pick<ClientLogos, 'fetchOverdue'>
  /** Sends the logout notices that are due, also those of ended processes. */
  readonly logouts: { sendDue(): Promise<void> }
  /** The grant types whose clients never count as unused, because their tokens have no authorization. */
  readonly grantTypesOfClients: readonly string[]
}

/** The times of one run, in milliseconds since the epoch. If a time is null, no rows of that kind are removed. */
export interface SweepTimes {
  readonly now: number
  /** Sessions that were not used after this time are removed. */
  readonly idleSince: number
  readonly auditBefore: number | null
  readonly unusedClientsBefore: number | null
}

/** Returns the times by which a run at the time `now` decides which rows have expired. */
export const sweepTimes = (settings: Settings, now: number): SweepTimes => {
  const { auditExpiresIn, unusedClientExpiresIn, sessionIdleExpiresIn } = settings
  return {
    now,
    idleSince: now - sessionIdleExpiresIn * 1000,
    auditBefore: auditExpiresIn === 0 ? null : now - auditExpiresIn * 1000,
    unusedClientsBefore: unusedClientExpiresIn === 0 ? null : now - unusedClientExpiresIn * 1000,
  }
}

/** Returns every kind of row that a run at the time `now` removes. The sweeper alternates between the kinds. */
export const sweeperKinds = (
  {
    store,
    databaseTransients,
    settings,
    signingKeys,
    auditChain,
    missingUsers,
    removals,
    logos,
    logouts,
    grantTypesOfClients,
  }: Swept,
  now: number,
): readonly SweeperKind[] => {
  const { idleSince, unusedClientsBefore, auditBefore } = sweepTimes(settings, now)
  return [
    untilNone('tokens', (limit) => store.tokens.deleteExpired(now, limit)),
    untilNone('authorizations', (limit) => store.authorizations.deleteExpired(now, limit)),
    untilNone('sessions', (limit) => store.sessions.deleteExpired({ now, idleSince }, limit)),
    untilNone('client logins', (limit) => store.clientLogins.deleteExpired(now, limit)),
    untilNone('logout notices', (limit) => store.logoutNotices.deleteExpired(now, limit)),
    untilNone('transients', (limit) => store.transients.deleteExpired(now, limit)),
    ...(databaseTransients
      ? [untilNone('database transients', (limit) => databaseTransients.deleteExpired(now, limit))]
      : []),
    auditChain.coverage(now),
    auditChain.retention(),
    ...(auditBefore === null
      ? []
      : [
          untilNone('audit counts', (limit) =>
            store.auditCounts.deleteExpired(auditBefore - 1, limit),
          ),
        ]),
    ...(unusedClientsBefore === null
      ? []
      : [
          untilNone('unused clients', (limit) =>
            store.clients.deleteUnused(unusedClientsBefore, limit, grantTypesOfClients),
          ),
        ]),
    ...(['deleted token', 'restored token', 'leaked token'] as const).map((kind) =>
      untilNone(`${kind}s`, (limit) =>
        store.sweeperNotes.deleteExpired({ kind, at: now - noteLifetime - 1 }, limit),
      ),
    ),
    untilNone('signing keys', () => signingKeys.deleteRetired()),
    removals.orphans(),
    removals.kind(),
    { name: 'due logout notices', removeSome: () => logouts.sendDue().then(() => null) },
    { name: 'logos', removeSome: () => logos.fetchOverdue().then(() => null) },
    ...(missingUsers ? [missingUsers.kind(now)] : []),
  ]
}

// Continue until a batch is empty: a batch below the limit is not necessarily the last batch.
const untilNone = (name: string, remove: (limit: number) => Promise<number>): SweeperKind => ({
  name,
  removeSome: async (limit) => (await remove(limit)) || null,
})

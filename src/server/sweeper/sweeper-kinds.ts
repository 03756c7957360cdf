import type { AuditChain } from '../../records/audit/audit-chain.ts'
import type { ClientLogos } from '../../records/clients/client-logos.ts'
import type { RecordsContext } from '../../records/context.ts'
import type { SigningKeys } from '../../records/keys/signing-keys.ts'
import type { Expiring } from '../../store/contract/expiring.ts'
import type { Store } from '../../store/store.ts'
import type { MissingUsers } from './missing-users.ts'
import type { Removals } from './removals.ts'
import type { RemoveSome } from './sweeper-pace.ts'

/** Milliseconds for which a leak report recognizes a deleted or restored personal token. */
const noteLifetime = 86_400_000
/** The number at which counting the rows of a kind stops. */
const maxCounted = 10_000
/** The maximum number of missing users, and of deleted clients and users, in the plan. */
export const maxListed = 1_000

/** A kind of row that the sweeper removes. */
export interface SweeperKind {
  readonly removeSome: RemoveSome
  /** The name of the rows, the reason of their removal, and their number; absent if the plan omits the rows. */
  readonly plan?: { readonly what: string; readonly why: string; count(): Promise<number> }
}

/** The parts of the server that the sweeper uses. */
export interface Swept {
  readonly context: RecordsContext
  readonly signingKeys: Pick<SigningKeys, 'deleteRetired' | 'retired'>
  readonly removals: Pick<Removals, 'removeSome' | 'addOrphans'>
  /** Fetches the requested logos that no process has fetched. */
  readonly logos: Pick<ClientLogos, 'fetchOverdue'>
  /** Sends the logout notices that are due, also those of ended processes. */
  readonly logouts: { sendDue(): Promise<void> }
  /** The grant types whose clients never count as unused, because their tokens have no authorization. */
  readonly grantTypesOfClients: readonly string[]
}

/** The parts that the sweeper creates itself. */
export interface OwnParts {
  /** Writes checkpoints of the audit log, and removes expired events. */
  readonly auditChain: AuditChain
  /** Removes the rows of users whom the application no longer finds; undefined with the built-in users. */
  readonly missingUsers: MissingUsers | undefined
}

/**
 * Returns every kind of row that a run at the time `now` removes, in milliseconds since the epoch. The sweeper alternates
 * between the kinds.
 */
export const sweeperKinds = (
  {
    context: { store, settings },
    signingKeys,
    removals,
    logos,
    logouts,
    grantTypesOfClients: inUse,
    auditChain,
    missingUsers,
  }: Swept & OwnParts,
  now: number,
): readonly SweeperKind[] => {
  const before = (seconds: number) => now - seconds * 1000
  const { auditExpiresIn, unusedClientExpiresIn, sessionIdleExpiresIn } = settings
  const idle = { now, idleSince: before(sessionIdleExpiresIn) }
  // 0 stands for rows that do not expire.
  const auditEnd = auditExpiresIn === 0 ? null : before(auditExpiresIn) - 1
  const unused =
    unusedClientExpiresIn === 0 ? null : { before: before(unusedClientExpiresIn), inUse }
  return [
    expired(store.tokens, now, 'tokens', 'expired, and cannot be refreshed'),
    expired(store.authorizations, now, 'authorizations', 'their last token has expired'),
    expired(store.sessions, idle, 'sessions', 'expired, or not used for long'),
    expired(store.clientLogins, now),
    expired(store.logoutNotices, now),
    expired(store.transientRows, now, 'short-lived values', 'expired'),
    // Short-lived values outside of the database.
    untilNone((limit) => store.transients.deleteExpired(now, limit)),
    { removeSome: auditChain.coverage(now) },
    {
      removeSome: auditChain.retention(),
      plan: {
        what: 'audit events',
        why: 'older than auditExpiresIn',
        count: async () => (auditEnd === null ? 0 : store.audit.countExpired(auditEnd, maxCounted)),
      },
    },
    expired(store.auditCounts, auditEnd),
    expired(store.clients, unused, 'clients', 'registered themselves, and have no tokens'),
    ...(['deleted token', 'restored token', 'leaked token'] as const).map((kind) =>
      expired(store.sweeperNotes, { kind, at: now - noteLifetime - 1 }),
    ),
    untilNone(() => signingKeys.deleteRetired(), {
      what: 'signing keys',
      why: 'retired',
      count: async () => (await signingKeys.retired()).length,
    }),
    {
      removeSome: () => removals.addOrphans().then(() => null),
      plan: {
        what: 'clients',
        why: 'deleted through a foreign key, but their rows remain',
        count: () => countOrphans(store),
      },
    },
    {
      removeSome: removals.removeSome(),
      plan: {
        what: 'clients and users',
        why: 'deleted, but their rows remain',
        count: async () => (await store.removals.select({}, { limit: maxListed })).length,
      },
    },
    { removeSome: () => logouts.sendDue().then(() => null) },
    { removeSome: () => logos.fetchOverdue().then(() => null) },
    ...(missingUsers ? [{ removeSome: missingUsers.removeSome(now) }] : []),
  ]
}

// Continue until a batch is empty: a batch below the limit is not necessarily the last batch.
const untilNone = (
  remove: (limit: number) => Promise<number>,
  plan?: SweeperKind['plan'],
): SweeperKind => ({
  removeSome: async (limit) => (await remove(limit)) || null,
  ...(plan && { plan }),
})

/** Returns the rows that expired up to `end`; no rows if `end` is null. */
const expired = <End>(rows: Expiring<End>, end: End | null, what?: string, why = ''): SweeperKind =>
  untilNone(
    async (limit) => (end === null ? 0 : rows.deleteExpired(end, limit)),
    what === undefined
      ? undefined
      : { what, why, count: async () => (end === null ? 0 : rows.countExpired(end, maxCounted)) },
  )

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

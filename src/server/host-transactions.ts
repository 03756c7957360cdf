import { setTimeout as delay } from 'node:timers/promises'
import { bits256, randomString } from '../crypto/random.ts'
import type { AuditEvent } from '../model/audit-event.ts'
import { allRecords, type Records } from '../records/all-records.ts'
import { type RecordsContext, withinTransaction } from '../records/context.ts'
import { notifying } from '../store/notify-after-commit.ts'
import type { HostTransaction, PostgresClient, Store } from '../store/store.ts'
import type { Built } from './build-records.ts'

/** Milliseconds before the first check whether the application has committed. The pause doubles after each check. */
const firstPause = 10
/** The maximum pause between two checks, in milliseconds. */
const longestPause = 1_000
/**
 * The lifetime in milliseconds of the marker that `run` writes in the transaction. If the marker exists after the
 * transaction, the writes of `run` were committed.
 */
const markerLifetime = 86_400_000

/** Runs work in transactions that the application begins and ends on its own client. */
export const hostTransactions = ({ database, observe, hooks, isStored, context }: Built) => {
  const closing = new AbortController()

  const afterCommit = async (
    { outcome, marker }: Begun,
    events: readonly AuditEvent[],
    removals: readonly Removal[],
  ): Promise<void> => {
    if (!(await isCommitted(outcome, closing.signal))) return
    // The transaction was committed, but possibly without the writes of `run`: the application may have rolled back to
    // a savepoint that it set before `run`.
    if ((await database.transients.take(marker, context.clock())) === undefined) return
    for (const event of events) hooks.notify(event)
    for (const removal of removals) await context.removed(removal)
  }

  return {
    async run<T>(client: PostgresClient, work: (tx: Records) => Promise<T>): Promise<T> {
      const { within } = database
      if (!within) throw new TypeError('server.transaction(client, …) needs the store postgres(…).')
      const events: AuditEvent[] = []
      const removals: Removal[] = []
      const marker = `host_transaction:${randomString(bits256, context.random)}`
      let begun: Begun | undefined
      const inHost: Store = {
        ...context.store,
        async transaction(run) {
          const transaction = await within(client, async (tx) => {
            const result = await run(observe(tx))
            const now = context.clock()
            await tx.transients.put(marker, '', now + markerLifetime, now)
            return result
          })
          begun = { ...transaction, marker }
          return transaction.result
        },
      }
      const collector = {
        isListening: true,
        notify: (event: AuditEvent) => void events.push(event),
      }
      const own: RecordsContext = {
        ...context,
        store: notifying(inHost, collector, isStored),
        removed: async (removal) => void removals.push(removal),
        // The sweeper fetches the logo after the commit.
        fetchLogo: () => undefined,
      }
      const result = await withinTransaction(own, (tx) => work(allRecords(tx)))
      const isHeard = (event: AuditEvent) => hooks.isListening || isStored?.(event) === false
      const isNeeded = events.some(isHeard) || removals.length > 0
      // Don't wait for this promise: the application commits after `run` has returned. If the promise rejects, hooks
      // may not have received the events, and the sweeper removes the rows of deleted clients and users.
      if (begun && isNeeded) afterCommit(begun, events, removals).catch(() => undefined)
      return result
    },
    /** Stops waiting for open transactions of the application. */
    stop: () => closing.abort(),
  }
}

interface Begun extends Pick<HostTransaction<unknown>, 'outcome'> {
  /** The key of the marker, a transient value that exists after the commit, but not after a rollback. */
  readonly marker: string
}

type Removal = Parameters<RecordsContext['removed']>[0]

/**
 * Waits until the transaction ends, and returns whether it was committed. If the server closes first, returns false or
 * rejects.
 */
const isCommitted = async (
  outcome: HostTransaction<unknown>['outcome'],
  signal: AbortSignal,
): Promise<boolean> => {
  for (let pause = firstPause; !signal.aborted; pause = Math.min(2 * pause, longestPause)) {
    await delay(pause, undefined, { signal, ref: false })
    // During an outage of the database, repeat the query later.
    const ended = await outcome().catch(() => undefined)
    if (ended) return ended === 'committed'
  }
  return false
}

import type { AuditEvent, SealedAuditEvent } from '../model/audit-event.ts'
import type { Store } from './store.ts'

/** Who hears of events. */
export interface Hearer {
  /** Whether there is anybody to hear of them. */
  readonly isThere: boolean
  tell(event: AuditEvent): void
}

/** What of the events is recorded; all are told of. */
type IsKept = (event: AuditEvent) => boolean

/**
 * The same store, which tells of events once they are committed: never of what was rolled back.
 * @param isKept which of them the store keeps; all, where it is left out
 */
export const telling = <S extends Store>(store: S, hearer: Hearer, isKept?: IsKept): S => ({
  ...store,
  audit: {
    ...partOf(store),
    async add(event: SealedAuditEvent) {
      if (isKept?.(event) ?? true) await store.audit.add(event)
      hearer.tell(event)
    },
  },
  async transaction<T>(work: (tx: Store) => Promise<T>): Promise<T> {
    if (!hearer.isThere && !isKept) return store.transaction(work)
    let events: AuditEvent[] = []
    const result = await store.transaction((tx) => {
      events = []
      return work(gathering(tx, events, isKept))
    })
    for (const event of events) hearer.tell(event)
    return result
  },
})

const gathering = (tx: Store, events: AuditEvent[], isKept: IsKept | undefined): Store => ({
  ...tx,
  audit: {
    ...partOf(tx),
    async add(event) {
      if (isKept?.(event) ?? true) await tx.audit.add(event)
      events.push(event)
    },
  },
  async transaction(work) {
    const inner: AuditEvent[] = []
    const result = await tx.transaction((savepoint) => work(gathering(savepoint, inner, isKept)))
    events.push(...inner)
    return result
  },
})

// One that is decorated has its operations on no object that could be copied.
const partOf = ({ audit }: Store): Store['audit'] => ({
  add: (event) => audit.add(event),
  addMany: (events) => audit.addMany(events),
  latest: (filter, part) => audit.latest(filter, part),
  earliest: (filter, part) => audit.earliest(filter, part),
  rows: (range, limit) => audit.rows(range, limit),
  mark: () => audit.mark(),
  isSettled: (mark) => audit.isSettled(mark),
  copies: (range) => audit.copies(range),
  deleteUpTo: (id, limit) => audit.deleteUpTo(id, limit),
})

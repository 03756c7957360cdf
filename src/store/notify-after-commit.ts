import type { AuditEvent, SealedAuditEvent } from '../model/audit-event.ts'
import type { Store } from './store.ts'

/** Receives events after they are committed. */
export interface Listener {
  /** Whether anything listens: without a listener, events need not be collected. */
  readonly isListening: boolean
  notify(event: AuditEvent): void
}

/** Which events are stored. The listener receives all of them. */
type IsKept = (event: AuditEvent) => boolean

/**
 * Wraps a store so that the listener receives events after the commit, and none that were rolled back.
 * @param isKept selects the events that the store keeps; default: all
 */
export const notifying = <S extends Store>(store: S, listener: Listener, isKept?: IsKept): S => ({
  ...store,
  audit: {
    ...partOf(store),
    async add(event: SealedAuditEvent) {
      if (isKept?.(event) ?? true) await store.audit.add(event)
      listener.notify(event)
    },
  },
  async transaction<T>(work: (tx: Store) => Promise<T>): Promise<T> {
    if (!listener.isListening && !isKept) return store.transaction(work)
    let events: AuditEvent[] = []
    const result = await store.transaction((tx) => {
      events = []
      return work(gathering(tx, events, isKept))
    })
    for (const event of events) listener.notify(event)
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
  mark: (range) => audit.mark(range),
  isSettled: (mark) => audit.isSettled(mark),
  copies: (range) => audit.copies(range),
  deleteUpTo: (id, limit) => audit.deleteUpTo(id, limit),
})

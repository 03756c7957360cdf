import type { AuditEvent, SealedAuditEvent } from '../model/audit-event.ts'
import type { Store } from './store.ts'

/** Receives events after they are committed. */
export interface Listener {
  /** Whether any subscriber receives the events. */
  readonly isListening: boolean
  notify(event: AuditEvent): void
}

/** Selects the events to store. The listener also receives events that are not stored. */
type IsKept = (event: AuditEvent) => boolean

/**
 * Wraps a store, so that the listener receives each event that is passed to `audit.add`. Inside a transaction, the
 * listener receives the events after the commit, and never an event that was rolled back.
 * @param isKept selects the events to store; by default all
 */
export const notifying = <S extends Store>(store: S, listener: Listener, isKept?: IsKept): S => ({
  ...store,
  audit: {
    ...store.audit,
    async add(event: SealedAuditEvent) {
      if (isKept?.(event) ?? true) await store.audit.add(event)
      listener.notify(event)
    },
  },
  async transaction<T>(work: (tx: Store) => Promise<T>): Promise<T> {
    if (!listener.isListening && !isKept) return store.transaction(work)
    let events: AuditEvent[] = []
    const result = await store.transaction((tx) => {
      // The store may roll back and run the work again, so discard the events of the previous attempt.
      events = []
      return work(collecting(tx, events, isKept))
    })
    for (const event of events) listener.notify(event)
    return result
  },
})

const collecting = (tx: Store, events: AuditEvent[], isKept: IsKept | undefined): Store => {
  const own: Pick<Store, 'audit' | 'transaction'> = {
    audit: {
      ...tx.audit,
      async add(event) {
        if (isKept?.(event) ?? true) await tx.audit.add(event)
        events.push(event)
      },
    },
    async transaction(work) {
      const inner: AuditEvent[] = []
      const result = await tx.transaction((savepoint) => work(collecting(savepoint, inner, isKept)))
      events.push(...inner)
      return result
    },
  }
  // Inherit the other parts, because copying them would build all of them.
  return Object.setPrototypeOf(own, tx)
}

import { currentOrigin } from '../http/request-scope.ts'
import type { AuditEvent } from '../model/audit-event.ts'
import { ownEvents } from '../protocol/extension-names.ts'
import { AuditHooks } from '../records/audit/audit-hooks.ts'
import { AuditQueue } from '../records/audit/audit-queue.ts'
import { AuditTrail, sealedEvent } from '../records/audit/audit-trail.ts'
import { FailedLogins } from '../records/users/failed-logins.ts'
import type { Transients } from '../store/contract/transients.ts'
import { decorated } from '../store/decorated.ts'
import { notifying } from '../store/notify-after-commit.ts'
import type { Store } from '../store/store.ts'
import { memoryTransients } from '../store/transients/memory-transients.ts'
import type { OpenedStore } from './open-store.ts'
import type { Prepared } from './prepare.ts'

/** The store for the records, and the audit log. */
export interface ObservedStore {
  /** The store, with measurements, the `aroundStore` of the application, and hooks for committed events. */
  readonly store: Store
  /** Wraps the operations of a store like those of `store`, but notifies no hooks. */
  readonly observe: <S extends Store>(store: S) => S
  /** Selects the events that are stored; undefined if all are. */
  readonly isStored: ((event: AuditEvent) => boolean) | undefined
  /** The short-lived values in the database; undefined if `store` already stores them there. */
  readonly databaseTransients: Transients | undefined
  readonly hooks: AuditHooks
  readonly queue: AuditQueue
  readonly failedLogins: FailedLogins
  readonly audit: AuditTrail
}

/** Wraps the store with measurements, the `aroundStore` of the application, and the notification of hooks. */
export const observeStore = (
  { options, settings, telemetry, aroundStore, keys, log }: Prepared,
  { database, external, serverClock }: OpenedStore,
): ObservedStore => {
  const transients = settings.cacheType === 'memory' ? memoryTransients() : external
  const base = transients ? { ...database, transients } : database
  const observe = <S extends Store>(plain: S): S => {
    const measured = telemetry.aroundStore ? decorated(plain, telemetry.aroundStore) : plain
    return options.aroundStore ? decorated(measured, aroundStore) : measured
  }
  const observed = observe(base)
  const declared = (options.extensions ?? []).flatMap(({ names }) =>
    names ? ownEvents(names) : [],
  )
  const hooks = new AuditHooks(log, declared)
  const isStored = settings.auditRoutine ? undefined : (event: AuditEvent) => !event.isRoutine
  const store = notifying(observed, hooks, isStored)
  const queue = new AuditQueue(observed, log)
  const failedLogins = new FailedLogins((event) => {
    queue.add(sealedEvent(keys, event))
    hooks.notify(event)
  }, log)
  const audit = new AuditTrail({
    root: store,
    keys,
    queue,
    hooks,
    failedLogins,
    keepsRoutine: settings.auditRoutine,
    clock: serverClock.now,
    origin: currentOrigin,
  })
  const databaseTransients = transients && decorated(database, aroundStore).transients
  return { store, observe, isStored, databaseTransients, hooks, queue, failedLogins, audit }
}

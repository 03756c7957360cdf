import { randomNumber, systemRandom } from '../crypto/random.ts'
import { currentOrigin } from '../http/request-scope.ts'
import type { AuditEvent } from '../model/audit-event.ts'
import { ownEvents } from '../protocol/extension-names.ts'
import { AuditCounts, isCounted } from '../records/audit/audit-counts.ts'
import { AuditHooks } from '../records/audit/audit-hooks.ts'
import { AuditQueue } from '../records/audit/audit-queue.ts'
import { AuditTrail, sealedEvent } from '../records/audit/audit-trail.ts'
import { FailedLogins } from '../records/users/failed-logins.ts'
import { decorated } from '../store/decorated.ts'
import { notifying } from '../store/notify-after-commit.ts'
import type { Store } from '../store/store.ts'
import { memoryTransients } from '../store/transients/memory-transients.ts'
import type { Opened } from './open-store.ts'

/** The parts of the server with the store for the records, and the audit log. */
export type Observed = Opened & ReturnType<typeof observeStore>

/** Wraps the store with measurements, the `aroundStore` of the application, and the notification of hooks. */
export const observeStore = ({
  options,
  settings,
  telemetry,
  aroundStore,
  keys,
  log,
  database,
  external,
  serverClock,
}: Opened) => {
  const transients = settings.cacheType === 'memory' ? memoryTransients() : external
  const base = transients ? { ...database, transients } : database
  // Wraps a store with measurements and the `aroundStore` of the application, but without hooks.
  const observe = <S extends Store>(plain: S): S => {
    const measured = telemetry ? decorated(plain, telemetry.aroundStore) : plain
    return options.aroundStore ? decorated(measured, aroundStore) : measured
  }
  const observed = observe(base)
  const declared = (options.extensions ?? []).flatMap(({ names }) =>
    names ? ownEvents(names) : [],
  )
  // Ignore the option `random`: a test may use one source in two processes, and each process needs a different number.
  const counts = new AuditCounts(observed, log, () => randomNumber(systemRandom))
  const hooks = new AuditHooks(log, declared, settings.auditRoutine ? undefined : counts)
  // Whether an event is stored as a row; undefined if every event is stored.
  const isStored = settings.auditRoutine ? undefined : (event: AuditEvent) => !isCounted(event)
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
    listener: hooks,
    failedLogins,
    keepsRoutine: settings.auditRoutine,
    clock: serverClock.now,
    origin: currentOrigin,
  })
  // Undefined if `store.transients` already uses the database.
  const databaseTransients = transients && decorated(database, aroundStore).transients
  return {
    store,
    observe,
    isStored,
    databaseTransients,
    hooks,
    queue,
    counts,
    failedLogins,
    audit,
  }
}

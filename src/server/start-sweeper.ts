import { grantTypesOfClients } from '../protocol/endpoints/token/supported.ts'
import { AuditChain } from '../records/audit/audit-chain.ts'
import type { BuiltRecords } from './build-records.ts'
import type { ObservedStore } from './observe-store.ts'
import type { OpenedStore } from './open-store.ts'
import type { Prepared } from './prepare.ts'
import type { SelectedPlugIns } from './select-plug-ins.ts'
import { MissingUsers } from './sweeper/missing-users.ts'
import { type SweepPlan, sweepPlan } from './sweeper/sweep-plan.ts'
import { Sweeper } from './sweeper/sweeper.ts'
import { type KindsOptions, sweeperKinds } from './sweeper/sweeper-kinds.ts'

export interface StartedSweeper {
  run(): Promise<number>
  plan(): Promise<SweepPlan>
  stop(): Promise<void>
  /**
   * Writes a checkpoint of the latest audit events, so that their removal can be detected. Each sweep also writes
   * a checkpoint.
   */
  coverAuditLog(): Promise<void>
}

/** Starts the sweeper, which removes expired rows of every kind. */
export const startSweeper = (
  { options, settings, keys, users, telemetry, log }: Prepared,
  { serverClock }: OpenedStore,
  { store, audit, databaseTransients }: ObservedStore,
  { records, signingKeys, removals, logos }: BuiltRecords,
  plugIns: SelectedPlugIns,
  logouts: KindsOptions['logouts'],
): StartedSweeper => {
  const { keyType = 'integer' } = options.users ?? {}
  const missingUsers =
    users === 'built-in'
      ? undefined
      : new MissingUsers({
          store,
          users: records.users,
          keyType,
          audit,
          log,
          endLogins: (userId) => removals.endLogins(userId, store),
        })
  const auditChain = new AuditChain({ store, keys, settings, clock: serverClock.now, log })
  const inUse = grantTypesOfClients(plugIns)
  const toSweep = {
    store,
    transients: store.transients,
    databaseTransients,
    settings,
    signingKeys,
    auditChain,
    missingUsers,
    removals,
    logos,
    logouts,
    grantTypesOfClients: inUse,
  }
  const sweeper = new Sweeper({
    kinds: (now) => sweeperKinds(toSweep, now),
    transients: store.transients,
    settings,
    clock: serverClock,
    log,
    aroundRun: telemetry.sweep,
  })
  sweeper.start()
  return {
    run: () => sweeper.run(),
    plan: () =>
      sweepPlan({
        store,
        settings,
        clock: serverClock,
        signingKeys,
        grantTypesOfClients: inUse,
      }),
    stop: () => sweeper.stop(),
    // A process without scheduled sweeps, such as a command, leaves checkpoints to the server. After an error, the next
    // sweep writes the checkpoint.
    async coverAuditLog() {
      if (settings.sweepInterval > 0) await auditChain.coverSome().catch(() => undefined)
    },
  }
}

import { grantTypesOfClients } from '../protocol/endpoints/token/supported.ts'
import type { PlugIns } from '../protocol/server-context.ts'
import { AuditChain } from '../records/audit/audit-chain.ts'
import type { BuiltRecords } from './build-records.ts'
import type { ObservedStore } from './observe-store.ts'
import type { OpenedStore } from './open-store.ts'
import type { Prepared } from './prepare.ts'
import { MissingUsers } from './sweeper/missing-users.ts'
import { sweepPlan } from './sweeper/sweep-plan.ts'
import { Sweeper } from './sweeper/sweeper.ts'
import type { Swept } from './sweeper/sweeper-kinds.ts'

/** Starts the sweeper, which removes expired rows of every kind. */
export const startSweeper = (
  { telemetry, log }: Prepared,
  { serverClock }: OpenedStore,
  { databaseTransients }: ObservedStore,
  { context, signingKeys, removals, logos }: BuiltRecords,
  plugIns: PlugIns,
  logouts: Swept['logouts'],
) => {
  const { store, settings, users } = context
  const auditChain = new AuditChain(context)
  const swept: Swept = {
    store,
    databaseTransients,
    settings,
    signingKeys,
    auditChain,
    missingUsers: users.areBuiltIn ? undefined : new MissingUsers(context),
    removals,
    logos,
    logouts,
    grantTypesOfClients: grantTypesOfClients(plugIns),
  }
  const sweeper = new Sweeper(swept, { clock: serverClock, log, aroundRun: telemetry.sweep })
  sweeper.start()
  return {
    run: () => sweeper.run(),
    plan: () => sweepPlan(swept, serverClock),
    stop: () => sweeper.stop(),
    /**
     * Writes a checkpoint of the latest audit events, so that their removal can be detected. Each sweep also writes a
     * checkpoint. A process without scheduled sweeps, such as a command, leaves checkpoints to the server. After an
     * error, the next sweep writes the checkpoint.
     */
    async coverAuditLog(): Promise<void> {
      if (settings.sweepInterval > 0) await auditChain.coverSome().catch(() => undefined)
    },
  }
}

import type { LogSink } from '../model/log.ts'
import { checkKeys, keepNoted } from '../records/keys/noted-keys.ts'
import { NewerSchema } from '../store/contract/errors.ts'
import type { OpenTransients } from '../store/contract/transients.ts'
import type { OpenStore } from '../store/store.ts'
import { openWithRetry } from '../store/transients/late-transients.ts'
import { DatabaseClock } from './clock/database-clock.ts'
import { MachineClock } from './clock/machine-clock.ts'
import { hostClock, type ServerClock } from './clock/server-clock.ts'
import type { Planned } from './select-plug-ins.ts'

/** The parts of the server after the store is open. */
export type Opened = Planned & Awaited<ReturnType<typeof openStore>>

/**
 * Opens and migrates the store, checks that the secret keys match the rows, and starts the clock.
 * @throws StoreUnusable or StoreUnavailable if the store cannot be used
 */
export const openStore = async (prepared: Planned) => {
  const { options, users, keys, log } = prepared
  const database = await options.store.open(users, options.users?.keyType)
  let serverClock: ServerClock | undefined
  let notedKey: Awaited<ReturnType<typeof keepNoted>> | undefined
  try {
    await migrate(database, log)
    if (await database.mayInheritRows()) warnOfReusableIds(log)
    serverClock = await startClock(prepared, database)
    await checkKeys(database, keys)
    // A background job regularly records which secret key this node uses.
    notedKey = await keepNoted(database, keys, { clock: serverClock.now, log })
    const external = await openTransients(prepared)
    return { database, serverClock, notedKey, external }
  } catch (error) {
    await notedKey?.stop()
    serverClock?.stop()
    await database.close()
    throw error
  }
}

/** Logs that a new user may inherit the rows of a deleted user. */
export const warnOfReusableIds = (log: LogSink): void =>
  log({
    level: 'warn',
    event: 'users.reusable_ids',
    message:
      'A new user may receive the ID of a deleted user, and with it the tokens and clients of that user. Add createdAt to the option users, or call users.deleted(id) before each deletion.',
  })

const migrate = async (database: OpenStore, log: LogSink): Promise<void> => {
  const message =
    'The database needs a migration. The migration waits for another node that is migrating, or for transactions that use the tables.'
  const onWait = () => log({ level: 'info', event: 'migration.waiting', message })
  try {
    await database.migrate({ onWait })
  } catch (error) {
    if (!(error instanceof NewerSchema)) throw error
    // Don't throw: during a rolling upgrade, nodes of the previous version must still be able to restart.
    log({ level: 'warn', event: 'schema.newer', message: error.message })
  }
}

/**
 * Starts the clock of the server: the option `clock`; without this option, the clock of the database. If the database
 * has no clock, starts the clock of the machine.
 */
const startClock = async (
  { options: { clock }, aroundStore, log }: Planned,
  { now, sweeperNotes }: OpenStore,
): Promise<ServerClock> => {
  if (clock) return hostClock(clock)
  const sources = { machine: Date.now, monotonic: () => performance.now() }
  if (now)
    return DatabaseClock.start({
      ...sources,
      database: async () => aroundStore({ name: 'now' }, now),
      log,
    })
  const kind = 'last sweep'
  const lastSweep = {
    read: async () => (await sweeperNotes.select({ kind }))[0]?.at,
    write: (at: number) => sweeperNotes.put({ kind, key: '', at }),
  }
  return new MachineClock({ ...sources, lastSweep })
}

const openTransients = async ({
  options,
  issuer,
  log,
}: Planned): Promise<OpenTransients | undefined> => {
  if (!options.transients) return undefined
  return openWithRetry(options.transients, issuer, (error) =>
    log({ level: 'error', event: 'transients.away', message: error.message }),
  )
}

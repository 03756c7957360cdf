import { AsyncLocalStorage } from 'node:async_hooks'
import type { AroundStore } from 'svc-oauth2server'
import { type Database, type DatabaseKind, makeDatabase } from '../users/databases.ts'
import { startServer, type TestOptions, type TestServer } from './server.ts'

export type Act = () => Promise<unknown>

/**
 * Runs other requests at each step of a request: before each operation of the store. Within a transaction of PostgreSQL,
 * the other request may wait for a lock, so the request continues as soon as the other waits or has ended.
 */
const steps = (kind: DatabaseKind, database: Database) => {
  const inTransaction = new AsyncLocalStorage<true>()
  let beforeStep: Act = async () => undefined
  const aroundStore: AroundStore = async ({ name }, run) => {
    await beforeStep()
    return name === 'transaction' ? inTransaction.run(true, run) : run()
  }

  const isWaiting = async (): Promise<boolean> =>
    (await database.run('select 1 from pg_locks where not granted')).length > 0

  const endedOrWaiting = async (act: Promise<unknown>): Promise<void> => {
    let isEnded = false
    const end = () => {
      isEnded = true
    }
    act.then(end, end)
    while (!isEnded && !(await isWaiting())) await new Promise((next) => setTimeout(next, 1))
  }

  return {
    /** The option of the server whose requests have steps. */
    aroundStore,
    /**
     * Runs `act` before the step of `work` with this number, and `later` before a later step. In SQLite, nobody else can
     * write during a transaction, so its steps are left out. Returns the number of steps.
     */
    async during(
      work: Act,
      at: number,
      act: Act,
      later?: { readonly at: number; readonly act: Act },
    ): Promise<number> {
      let step = -1
      let pending: Promise<unknown> | undefined
      const run = async (next: Act) => {
        if (!inTransaction.getStore()) return void (await next())
        if (kind === 'SQLite') return
        const before = pending
        pending = inTransaction.exit(async () => {
          await before
          await next()
        })
        await endedOrWaiting(pending)
      }
      beforeStep = async () => {
        step += 1
        if (step === at) await run(act)
        else if (step === later?.at) await run(later.act)
      }
      await work()
      beforeStep = async () => undefined
      await pending
      return step + 1
    },
  }
}

/** Two servers on one database. */
export interface ServersWithSteps {
  readonly app: TestServer
  /** The server whose requests have steps. */
  readonly beside: TestServer
  readonly during: ReturnType<typeof steps>['during']
  close(): Promise<void>
}

export const startWithSteps = async (
  kind: DatabaseKind,
  options: TestOptions = {},
): Promise<ServersWithSteps> => {
  const database = await makeDatabase(kind)
  const { aroundStore, during } = steps(kind, database)
  const { store } = database
  const app = await startServer({ ...options, store })
  const beside = await startServer({
    ...options,
    beside: app,
    issuer: app.issuer,
    store,
    aroundStore,
  })
  return {
    app,
    beside,
    during,
    async close() {
      await beside.close()
      await app.close()
      await database.remove()
    },
  }
}

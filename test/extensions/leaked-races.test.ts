import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basicOf } from '../support/form.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'
import { TestClient, UserAgent } from '../support/user-agent.ts'
import { type Database, databaseKinds, makeDatabase } from '../users/databases.ts'

// Runs one request at each step of another request, on another node: before each operation of the store. Within a
// transaction, the second request may wait for a lock, so the first continues as soon as the second waits or has ended.

const options = {
  acceptUnsignedLeakReports: true,
  dangerouslyIgnoreLimits: true,
} as const

type Act = () => Promise<unknown>

describe.each(databaseKinds)('a leak report on %s', (kind) => {
  let database: Database
  let app: TestServer
  let beside: TestServer
  let beforeStep: Act = async () => undefined
  const inTransaction = new AsyncLocalStorage<true>()
  beforeAll(async () => {
    database = await makeDatabase(kind)
    app = await startServer({ ...options, store: database.store })
    beside = await startServer({
      ...options,
      beside: app,
      issuer: app.issuer,
      store: database.store,
      aroundStore: async ({ name }, run) => {
        await beforeStep()
        return name === 'transaction' ? inTransaction.run(true, run) : run()
      },
    })
  })
  afterAll(async () => {
    await beside.close()
    await app.close()
    await database.remove()
  })

  const isWaiting = async (): Promise<boolean> =>
    (await database.run('select 1 from pg_locks where not granted')).length > 0

  /** Waits until an act has ended, or waits for a lock of the transaction that is open. */
  const endedOrWaiting = async (act: Promise<unknown>): Promise<void> => {
    let isEnded = false
    const end = () => {
      isEnded = true
    }
    act.then(end, end)
    while (!isEnded && !(await isWaiting())) await new Promise((next) => setTimeout(next, 1))
  }

  /** Runs `acts` before the steps of `work` with these numbers. Returns the number of the steps of `work`. */
  const during = async (work: Act, acts: ReadonlyMap<number, Act>): Promise<number> => {
    let step = -1
    const pending: Promise<unknown>[] = []
    beforeStep = async () => {
      step += 1
      const act = acts.get(step)
      if (!act) return
      if (!inTransaction.getStore()) return void (await act())
      // In SQLite, nobody else can write during a transaction.
      if (kind === 'SQLite') return
      const done = inTransaction.exit(act)
      pending.push(done)
      await endedOrWaiting(done)
    }
    await work()
    beforeStep = async () => undefined
    await Promise.all(pending)
    return step + 1
  }

  const report = (at: TestServer, token: string) => async (): Promise<void> => {
    const response = await at.server.fetch(
      new Request(`${app.issuer}/oauth/leaked`, {
        method: 'POST',
        body: JSON.stringify([{ token, type: 'test' }]),
        headers: { 'content-type': 'application/json' },
      }),
    )
    expect(await response.json()).toMatchObject([{ label: 'true_positive' }])
  }

  /** A personal token, whose user deletes and restores it. */
  const personal = async (at = app) => {
    const { id, accessToken } = await app.server.tokens.createPersonal('Raced', app.user.id)
    let undo = ''
    return {
      accessToken,
      async delete() {
        undo = (await at.server.endedTokens.end(app.user.id, [id])).undo
      },
      restore: () => at.server.endedTokens.restore(app.user.id, undo, 1_000),
    }
  }

  test('leaves no valid token if its user deletes it at any step of the report, and restores it later [T4261]', async () => {
    for (let at = 0, steps = 1; at < steps; at += 1) {
      const token = await personal()
      steps = await during(report(beside, token.accessToken), new Map([[at, token.delete]]))
      await token.restore()
      expect([at, await statusOf(app, token.accessToken)]).toEqual([at, 401])
    }
  })

  test('leaves no valid token if the report arrives at any step of a deletion and its undo [T4262]', async () => {
    for (let at = 0, steps = 1; at < steps; at += 1) {
      const token = await personal(beside)
      const work = async () => {
        await token.delete()
        await token.restore()
      }
      steps = await during(work, new Map([[at, report(app, token.accessToken)]]))
      await token.restore()
      // In SQLite, a report cannot arrive within a transaction.
      if ((await statusOf(app, token.accessToken)) === 200) {
        expect(kind).toBe('SQLite')
        await report(app, token.accessToken)()
      }
      expect([at, await statusOf(app, token.accessToken)]).toEqual([at, 401])
    }
  })

  /** A code, and its redemption at a node. The result of each redemption must be invalid after a report. */
  const codeOf = async (at: TestServer) => {
    const client = await TestClient.register(app, new UserAgent())
    const code = await client.code()
    const tokens: string[] = []
    const redeem = async () => {
      const response = await at.server.fetch(
        new Request(`${app.issuer}/oauth/token`, {
          method: 'POST',
          body: new URLSearchParams({
            grant_type: 'authorization_code',
            code,
            redirect_uri: client.redirectUri,
            code_verifier: client.pkce.verifier,
          }),
          headers: basicOf(client),
        }),
      )
      const body = (await response.json()) as { readonly access_token?: string }
      if (body.access_token !== undefined) tokens.push(body.access_token)
    }
    return { code, redeem, tokens }
  }

  test('leaves no valid token if the code is redeemed at any step of the report of the code [T4263]', async () => {
    let redeemed = 0
    for (let at = 0, steps = 1; at < steps; at += 1) {
      const { code, redeem, tokens } = await codeOf(app)
      steps = await during(report(beside, code), new Map([[at, redeem]]))
      redeemed += tokens.length
      await redeem()
      for (const token of tokens) expect([at, await statusOf(app, token)]).toEqual([at, 401])
    }
    expect(redeemed).toBeGreaterThan(0)
  })

  test('leaves no valid token if the code is reported at any step of its redemption [T4264]', async () => {
    let redeemed = 0
    for (let at = 0, steps = 1; at < steps; at += 1) {
      const { code, redeem, tokens } = await codeOf(beside)
      let isReported = false
      const act = async () => {
        isReported = true
        await report(app, code)()
      }
      steps = await during(redeem, new Map([[at, act]]))
      if (!isReported) await act()
      redeemed += tokens.length
      await redeem()
      for (const token of tokens) expect([at, await statusOf(app, token)]).toEqual([at, 401])
    }
    expect(redeemed).toBeGreaterThan(0)
  })
})

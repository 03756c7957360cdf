import { Client } from 'pg'
import { postgres } from 'svc-oauth2server/postgres'
import { describe, expect, test, vi } from 'vitest'
import { postForm } from '../support/form.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'
import { TestClient, UserAgent } from '../support/user-agent.ts'

/** The number of concurrent requests, which exceeds the number of connections in the pool. */
const [many, poolSize] = [12, 4]
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'
const each = <T>(make: (index: number) => T): T[] => Array.from({ length: many }, (_, i) => make(i))

/** A kind of request that needs one row, and the statement that locks the row. */
interface Case {
  readonly name: string
  readonly lock: string
  readonly status: number
  prepare(app: TestServer): Promise<readonly (() => Promise<number>)[]>
}

const exchanges = async (app: TestServer) => {
  const fields = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: await app.personalToken(),
    subject_token_type: accessTokenType,
  }
  return each(() => async () => (await postForm(`${app.issuer}/oauth/token`, fields)).status)
}

const cases: readonly Case[] = [
  {
    name: 'token exchanges of one token',
    lock: 'select 1 from oauth2server_token for update',
    status: 200,
    prepare: exchanges,
  },
  {
    name: 'token exchanges of one client',
    lock: 'select 1 from oauth2server_client for update',
    status: 200,
    prepare: exchanges,
  },
  {
    name: 'code redemptions under one consent',
    lock: 'select 1 from oauth2server_consent for update',
    status: 200,
    async prepare(app) {
      const agent = new UserAgent()
      await agent.logIn(app)
      const client = await TestClient.register(app, agent)
      const codes: string[] = []
      while (codes.length < many) codes.push(await client.code())
      return codes.map((code) => async () => (await client.redeem(code)).status)
    },
  },
  {
    name: 'logins of one user',
    lock: 'select 1 from oauth2server_user for update',
    status: 303,
    prepare: async (app) =>
      Promise.all(
        each(async () => {
          const agent = new UserAgent()
          const page = await agent.browse(`${app.issuer}/login?prompt=login`)
          const fields = { email: app.user.email, password: app.password }
          return async () => (await agent.submit(page, fields)).status
        }),
      ),
  },
]

describe.skipIf(await lacks('postgres'))('requests that wait for one locked row', () => {
  test.each(cases)(
    'concurrent $name leave connections of the pool for other requests [T577]',
    async ({ lock, status, prepare }) => {
      const database = await makeDatabase()
      const holder = new Client({ connectionString: database.url })
      await holder.connect()
      try {
        await using app = await startServer({
          store: postgres(database.url, { poolSize }),
          tokenExchange: true,
          // The attempts would exceed the rate limits.
          dangerouslyIgnoreLimits: true,
        })
        const stranger = await app.personalToken()
        const requests = await prepare(app)
        const waitingStatements = async () => {
          const [row] = await database.query(
            `select count(*)::int as n from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
          )
          return Number(row?.n)
        }
        await holder.query('begin')
        await holder.query(lock)
        const responses = Promise.all(requests.map((request) => request()))
        responses.catch(() => undefined)
        await vi.waitFor(async () => expect(await waitingStatements()).toBeGreaterThan(0), {
          timeout: 60_000,
          interval: 20,
        })
        for (let times = 0; times < 5; times += 1) expect(await statusOf(app, stranger)).toBe(200)
        // At most half of the connections serve statements that have found a locked row. The background job that writes
        // the last uses of tokens may wait too.
        expect(await waitingStatements()).toBeLessThanOrEqual(poolSize / 2 + 1)
        await holder.query('rollback')
        const statuses = new Set(await responses)
        // Accept 503, because a slow machine may release the row after more than two seconds.
        statuses.delete(503)
        expect([...statuses]).toEqual([status])
      } finally {
        await holder.end()
        await database.drop()
      }
    },
  )
})

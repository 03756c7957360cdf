import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import type { Client as OauthClient, User } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgres } from '../../src/store/postgres.ts'
import { call } from '../support/load.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase, type TestDatabase } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'

/** Milliseconds for which another connection locks the row. This is longer than the statement timeout. */
const locked = 5_000
/** The number of concurrent requests of each kind that the owner of the locked row sends first. */
const flood = 100
/** Milliseconds between two requests of other users. */
const pace = 10

interface Party {
  readonly user: User
  readonly client: OauthClient
  readonly headers: Readonly<Record<string, string>>
  accessToken: string
  refreshToken: string
}

/** The result of a request: its status and its duration. */
interface HttpResponse {
  readonly kind: string
  readonly status: unknown
  readonly took: number
}

describe.skipIf(await lacks('postgres'))('a row that is locked for a long time', () => {
  let database: TestDatabase
  let app: TestServer
  beforeAll(async () => {
    database = await makeDatabase()
    app = await startServer({
      store: postgres(database.url),
      refreshTokenLeeway: 0,
      authorizationsPerApplication: 10_000,
    })
  })
  afterAll(async () => {
    await app?.close()
    await database?.drop()
  })

  let made = 0
  const newParty = async (): Promise<Party> => {
    made += 1
    const user = await app.newUser({ email: `party-${made}@example.org` })
    const { client, clientSecret } = await app.server.clients.create({
      name: `Client ${made}`,
      userId: user.id,
      redirectUris: ['https://client.example/cb'],
      allowedScopes: ['notes:read'],
    })
    const { accessToken, refreshToken } = await issue(client, user)
    const basic = btoa(`${client.clientId}:${clientSecret}`)
    return {
      user,
      client,
      headers: { authorization: `Basic ${basic}` },
      accessToken,
      refreshToken: refreshToken ?? '',
    }
  }
  const issue = (client: OauthClient, subject: User) =>
    app.server.tokens.issue({
      type: 'user',
      client,
      subject,
      scopes: ['notes:read'],
      refreshable: true,
    })

  const token = ({ headers }: Party, fields: Record<string, string>) =>
    call({ url: `${app.issuer}/oauth/token`, headers, fields })

  const statusOf = (error: unknown) => {
    const { status = 500, headers = {} } = app.server.refusalOf(error) ?? {}
    return { status, headers }
  }
  // Each party sends one request at a time, so that no two requests present the same refresh token.
  const kinds: Readonly<Record<string, (party: Party) => Promise<object>>> = {
    'bearer check': ({ accessToken }) =>
      call({
        url: `${app.issuer}/oauth/ping`,
        headers: { authorization: `Bearer ${accessToken}` },
      }),
    'client credentials': (party) => token(party, { grant_type: 'client_credentials' }),
    // Issues tokens in a transaction of several statements, as redeeming a code does.
    authorization: ({ client, user }) =>
      issue(client, user).then(() => ({ status: 200, headers: {} }), statusOf),
  }
  const refresh = async (party: Party) => {
    const response = await token(party, {
      grant_type: 'refresh_token',
      refresh_token: party.refreshToken,
    })
    if (response.status !== 200) return response
    party.refreshToken = String(response.body.refresh_token)
    party.accessToken = String(response.body.access_token)
    return response
  }

  const measured = async (kind: string, request: () => Promise<object>): Promise<HttpResponse> => {
    const began = performance.now()
    const { status } = (await request()) as { readonly status: unknown }
    return {
      kind,
      status,
      took: performance.now() - began,
    }
  }

  /** Sends requests of users other than the owner of the row, at a constant rate for `duration` milliseconds. */
  const strangers = async (parties: readonly Party[], duration: number) => {
    const responses: Promise<HttpResponse>[] = []
    const until = performance.now() + duration
    const names = [...Object.keys(kinds), 'refresh']
    const busy = new Set<Party>()
    for (let turn = 0; performance.now() < until; turn += 1) {
      const kind = names[turn % names.length] ?? ''
      const party = parties.find((one) => !busy.has(one))
      if (party) {
        busy.add(party)
        const response = measured(kind, () => (kinds[kind] ?? refresh)(party))
        responses.push(response.finally(() => busy.delete(party)))
      }
      await delay(pace)
    }
    return Promise.all(responses)
  }

  const quantile = (responses: readonly HttpResponse[], part: number): number => {
    const all = responses.map(({ took }) => took).toSorted((one, other) => one - other)
    return all[Math.floor(all.length * part)] ?? 0
  }

  /** Runs `work` while another connection locks the row. */
  const whileLocked = async <T>(sql: string, key: unknown, work: () => Promise<T>): Promise<T> => {
    const holder = new Client({ connectionString: database.url })
    await holder.connect()
    try {
      await holder.query('begin')
      await holder.query(sql, [key])
      return await work()
    } finally {
      await holder.end()
    }
  }

  const rows: Readonly<Record<string, [sql: string, key: (party: Party) => unknown]>> = {
    user: ['select 1 from oauth2server_user where id = $1 for update', ({ user }) => user.id],
    client: [
      'select 1 from oauth2server_client where client_id = $1 for update',
      ({ client }) => client.clientId,
    ],
  }

  test.each(Object.keys(rows))(
    'a locked %s row does not delay requests of other users and clients [T576]',
    async (name) => {
      const [sql, key] = rows[name] ?? ['', () => null]
      const victim = await newParty()
      const others = await Promise.all(Array.from({ length: 40 }, newParty))
      await strangers(others, 500)
      const before = await strangers(others, 1_000)
      const [during, victims] = await whileLocked(sql, key(victim), () =>
        Promise.all([
          strangers(others, locked),
          (async () => {
            const responses: Promise<HttpResponse>[] = []
            const until = performance.now() + locked - 3_500
            const ask = (kind: string) =>
              responses.push(measured(kind, () => (kinds[kind] ?? refresh)(victim)))
            for (let count = 0; count < flood; count += 1) {
              ask('authorization')
              ask('client credentials')
            }
            while (performance.now() < until) {
              ask('authorization')
              ask('client credentials')
              await delay(50)
            }
            return Promise.all(responses)
          })(),
        ]),
      )
      const failed = [...before, ...during].filter(({ status }) => status !== 200)
      console.log(
        `locked ${name}: p50 ${quantile(before, 0.5).toFixed(1)} -> ${quantile(during, 0.5).toFixed(1)} ms, p99 ${quantile(before, 0.99).toFixed(1)} -> ${quantile(during, 0.99).toFixed(1)} ms, slowest ${quantile(before, 1 - 1e-9).toFixed(0)} -> ${quantile(during, 1 - 1e-9).toFixed(0)} ms, ${during.length} requests, ${failed.length} failed; of the locked: ${[...new Set(victims.map(({ status }) => status))]}`,
      )
      expect(failed).toEqual([])
      expect(during.length).toBeGreaterThan(locked / pace / 4)
      // A request that waited for the row would last 3,000 ms, the statement timeout.
      expect(Math.max(...during.map(({ took }) => took))).toBeLessThan(2_900)
      // No foreign key refers to these rows (docs/decisions/0017-deletion.md). So the requests of the user and client
      // of the locked row succeed as well.
      expect(victims.filter(({ status }) => status !== 200)).toEqual([])
    },
  )
})

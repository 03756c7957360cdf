import { Client } from 'pg'
import type { Client as OauthClient, User } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgres } from '../../src/store/postgres.ts'
import { call } from '../support/load.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase, type TestDatabase } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'

/** The number of concurrent requests of each kind that the owner of the locked row sends: twice the connections. */
const flood = 20
/** The number of requests of each kind that other users send. */
const each = 40
/**
 * Milliseconds. No request reaches these timeouts on a busy machine. A request that needs the locked row reaches them,
 * because the row remains locked until all requests have ended.
 */
const timeouts = { statementTimeout: 30_000, connectTimeout: 30_000 }

interface Party {
  readonly user: User
  readonly client: OauthClient
  readonly headers: Readonly<Record<string, string>>
  accessToken: string
  refreshToken: string
}

describe.skipIf(await lacks('postgres'))('a row that is locked for a long time', () => {
  let database: TestDatabase
  let app: TestServer
  beforeAll(async () => {
    database = await makeDatabase()
    app = await startServer({
      store: postgres(database.url, timeouts),
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
  const kinds = {
    'bearer check': ({ accessToken }: Party) =>
      call({
        url: `${app.issuer}/oauth/ping`,
        headers: { authorization: `Bearer ${accessToken}` },
      }),
    'client credentials': (party: Party) => token(party, { grant_type: 'client_credentials' }),
    // Issues tokens in a transaction of several statements, as redeeming a code does.
    authorization: ({ client, user }: Party) =>
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

  const statusIn = ({ status }: { readonly status: unknown }): unknown => status

  /** Sends requests of users other than the owner of the row, one at a time for each user. Returns the statuses. */
  const strangers = (parties: readonly Party[]) =>
    Promise.all(
      parties.map(async (party) => {
        const statuses: unknown[] = []
        for (const request of [...Object.values(kinds), refresh])
          statuses.push(statusIn(await request(party)))
        return statuses
      }),
    ).then((all) => all.flat())

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
      const others = await Promise.all(Array.from({ length: each }, newParty))
      // Of the user with many clients, or of the client with many users, because the authorizations of one user for one
      // client wait for each other.
      const authorizations = others.slice(0, flood).map(({ user, client }) => ({
        ...victim,
        ...(name === 'user' ? { client } : { user }),
      }))
      const statuses = (kind: keyof typeof kinds, parties: readonly Party[]) =>
        Promise.all(parties.map(async (party) => statusIn(await kinds[kind](party))))
      const [during, ...victims] = await whileLocked(sql, key(victim), () =>
        Promise.all([
          strangers(others),
          statuses('authorization', authorizations),
          statuses('client credentials', Array<Party>(flood).fill(victim)),
        ]),
      )
      // The row was locked until the last of these requests had ended. So none of them has waited for the row.
      expect(new Set(during)).toEqual(new Set([200]))
      expect(during).toHaveLength(each * (Object.keys(kinds).length + 1))
      // No foreign key refers to these rows (docs/decisions/0017-deletion.md). So the requests of the user and client
      // of the locked row succeed as well.
      expect(new Set(victims.flat())).toEqual(new Set([200]))
    },
  )
})

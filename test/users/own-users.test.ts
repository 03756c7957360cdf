import {
  type AuthorizationServer,
  Scope,
  table,
  type User,
  type UserCallbacks,
  type UserId,
  type UserTable,
} from 'svc-oauth2server'
import { createTestServer, testClock } from 'svc-oauth2server/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { formIn } from '../support/user-agent.ts'
import { type Database, databaseKinds, makeDatabase } from './databases.ts'
import { statusOf } from './status.ts'

// Every kind of own users passes the same tests. `test/cli/configuration` runs the command line and `doctor` over the
// same kinds.

const keys = {
  integer: { type: 'integer', ids: ['7', '8'] },
  text: { type: 'text', ids: ['ada', '8e1'] },
  uuid: {
    type: 'uuid',
    ids: ['3f333df6-90a4-4fda-8dd3-9485d27cee36', '12345678-1234-4234-8234-123456789012'],
  },
} as const
type KeyType = keyof typeof keys

const sources = ['a table with foreign keys', 'a table without foreign keys', 'callbacks'] as const
const cases = databaseKinds.flatMap((kind) =>
  sources.flatMap((source) =>
    (['integer', 'text', 'uuid'] as const).map((keyType) => ({ kind, source, keyType })),
  ),
)

const redirectUri = 'https://client.example/cb'
const hour = 3_600

describe.each(cases)('users from $source with $keyType keys, on $kind', (given) => {
  const { kind, source, keyType } = given
  const { type, ids } = keys[keyType as KeyType]
  const idOf = (index: 0 | 1): UserId => (keyType === 'integer' ? Number(ids[index]) : ids[index])
  const [one, two] = [idOf(0), idOf(1)]
  let database: Database
  let server: AuthorizationServer
  let clock: ReturnType<typeof testClock>
  /** The user who is logged in at the application. */
  let current: UserId | null

  const insert = (id: string, email: string) =>
    database.run(
      `insert into people values ('${id}', '${email}', 1, '${new Date(clock.now()).toISOString()}')`,
    )

  const find = async (condition: string): Promise<User | undefined> => {
    const [row] = await database.run(`select * from people where ${condition}`)
    if (!row) return undefined
    const { id, email, enabled, created } = row
    return {
      id: id as UserId,
      email: String(email),
      emailVerified: true,
      active: enabled === 1,
      isAdmin: false,
      createdAt: new Date(created as string),
    }
  }

  const usersOption = (): UserTable | UserCallbacks =>
    source === 'callbacks'
      ? {
          keyType,
          find: (id) => find(`id = '${id}'`),
          findByEmail: (email) => find(`email = '${email}'`),
        }
      : table('people', {
          id: 'id',
          email: 'email',
          active: 'enabled',
          createdAt: 'created',
          keyType,
          foreignKeys: source === 'a table with foreign keys',
        })

  beforeEach(async () => {
    database = await makeDatabase(kind)
    clock = testClock(Date.UTC(2026, 0, 1))
    current = null
    const time = kind === 'SQLite' ? 'text' : 'timestamptz'
    await database.run(
      `create table people (id ${type} primary key, email text not null, enabled integer not null, created ${time})`,
    )
    await insert(ids[0], 'one@example.org')
    await insert(ids[1], 'two@example.org')
    server = await createTestServer({
      store: database.store,
      users: usersOption(),
      resourceOwner: () => current,
      loginUrl: '/enter',
      scopes: [new Scope('notes:read')],
      clock: clock.now,
    })
  })
  afterEach(async () => {
    await server?.close()
    await database.remove()
  })

  const get = (path: string) => server.fetch(new Request(new URL(path, server.issuer)))
  const pageText = async (path: string): Promise<string> => {
    const page = await get(path)
    expect(page.status).toBe(200)
    return page.text()
  }

  /** Registers a client of the user `one`. Runs the authorization code flow of the user `two`. */
  const authorize = async (email = 'two@example.org') => {
    const { client, clientSecret } = await server.clients.create({
      name: 'Reader',
      userId: one,
      redirectUris: [redirectUri],
    })
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: client.clientId,
      scope: 'notes:read',
    })
    const target = `/oauth/authorize?${query}`
    current = null
    expect((await get(target)).headers.get('location')).toMatch(/^\/enter\?next=/)
    current = two
    const page = await get(target)
    const cookie = page.headers.getSetCookie().map((one) => one.split(';')[0])
    const text = await page.text()
    expect(text).toContain(email)
    const { hidden } = formIn(text)
    const decided = await server.fetch(
      new Request(new URL('/oauth/authorize', server.issuer), {
        method: 'POST',
        body: new URLSearchParams({ ...hidden, confirm: 'yes' }),
        headers: { cookie: cookie.join('; '), origin: new URL(server.issuer).origin },
      }),
    )
    const code = new URL(`${decided.headers.get('location')}`).searchParams.get('code')
    const response = await server.fetch(
      new Request(new URL('/oauth/token', server.issuer), {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'authorization_code', code: `${code}` }),
        headers: { authorization: `Basic ${btoa(`${client.clientId}:${clientSecret}`)}` },
      }),
    )
    const { access_token: accessToken } = (await response.json()) as { access_token: string }
    return { client, accessToken }
  }

  test('can authorize a client, and see it on the settings pages', async () => {
    const { accessToken } = await authorize()
    const found = await server.getToken({ accessToken })
    expect(found?.user).toMatchObject({ id: two, email: 'two@example.org', active: true })
    expect(await statusOf(server, accessToken)).toBe(200)
    expect(await pageText('/account/settings/applications/')).toContain('Reader')
    expect(await pageText('/account/settings/activity/')).toContain('Reader')
    current = one
    expect(await pageText('/account/settings/applications/')).toContain('Reader')
  })

  test('are refused while they are inactive, as users of tokens and as owners of clients', async () => {
    const { accessToken } = await authorize()
    for (const id of ids) {
      await database.run(`update people set enabled = 0 where id = '${id}'`)
      expect(await statusOf(server, accessToken)).toBe(401)
      await database.run(`update people set enabled = 1 where id = '${id}'`)
      expect(await statusOf(server, accessToken)).toBe(200)
    }
  })

  test('leave no rows after users.deleted() [T1067]', async () => {
    await authorize()
    await server.tokens.createPersonal('Laptop', one)
    await database.run('delete from people')
    for (const id of [one, two]) await server.users.deleted(id)
    for (const name of ['client', 'authorization', 'token', 'consent']) {
      const rows = await database.run(`select 1 as x from oauth2server_${name}`)
      expect([name, rows]).toEqual([name, []])
    }
  })

  test('inherit nothing from a deleted user who had the same ID', async () => {
    const { client, accessToken } = await authorize()
    const personal = await server.tokens.createPersonal('Laptop', two)
    clock.advance(hour / 2)
    for (const [index, id] of ids.entries()) {
      await database.run(`delete from people where id = '${id}'`)
      await insert(id, `new-${index}@example.org`)
    }
    expect(await statusOf(server, accessToken)).toBe(401)
    expect(await statusOf(server, personal.accessToken)).toBe(401)
    expect((await server.clients.find(client.clientId))?.isActive ?? false).toBe(false)
    expect(await pageText('/account/settings/applications/')).not.toMatch(/Reader|Laptop/)
    expect(await pageText('/account/settings/activity/')).not.toMatch(/Reader|Laptop/)
    expect((await authorize('new-1@example.org')).client.owner?.email).toBe('new-0@example.org')
  })
})

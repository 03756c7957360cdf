import {
  type AuthorizationServer,
  type LogEntry,
  table,
  type User,
  type UserId,
  type UserTableColumns,
} from 'svc-oauth2server'
import { createTestServer, testClock } from 'svc-oauth2server/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Database, databaseKinds, makeDatabase } from './databases.ts'
import { statusOf } from './status.ts'

// The database assigns the ID of a deleted user to a new user.

const hour = 3_600
const start = Date.UTC(2026, 0, 1)
const login = { resourceOwner: () => null, loginUrl: '/enter' }

/** What a user leaves: a personal token, a client, a token and a consent for another client. */
const useAccount = async (server: AuthorizationServer, userId: number) => {
  const personal = await server.tokens.createPersonal('Laptop', userId)
  const redirectUris = ['https://app.example/cb']
  const { client: own } = await server.clients.create({ name: 'Own', userId, redirectUris })
  const { client: foreign } = await server.clients.create({ name: 'Foreign', redirectUris })
  const { accessToken } = await server.tokens.issue({
    type: 'client',
    client: own,
    subject: null,
    scopes: [],
  })
  await server.consents.grant(userId, foreign.clientId, [])
  return { personal: personal.accessToken, ofClient: accessToken, own, foreign }
}

describe.each(databaseKinds)('a user with the ID of a deleted user, on %s', (kind) => {
  let database: Database
  let server: AuthorizationServer | undefined
  let log: LogEntry[]
  let clock: ReturnType<typeof testClock>

  const open = async (columns: Partial<UserTableColumns>): Promise<AuthorizationServer> => {
    server = await createTestServer({
      store: database.store,
      users: table('people', { id: 'id', email: 'email', ...columns }),
      ...login,
      clock: clock.now,
      log: (entry) => log.push(entry),
    })
    return server
  }
  const iso = () => new Date(clock.now()).toISOString()
  const insert = (email: string) =>
    database.run(`insert into people values (7, '${email}', '${iso()}')`)
  /** Deletes the user 7 an hour later, and inserts another user with this ID. */
  const replaceUser = async () => {
    clock.advance(hour)
    await database.run('delete from people')
    await insert('eve@example.org')
  }
  const count = async (name: string): Promise<number> => {
    const [row] = await database.run(`select count(*) as n from oauth2server_${name}`)
    return Number(row?.n)
  }

  beforeEach(async () => {
    database = await makeDatabase(kind)
    clock = testClock(start)
    log = []
    const type = kind === 'SQLite' ? 'text' : 'timestamptz'
    await database.run(
      `create table people (id integer primary key, email text not null, created ${type})`,
    )
    await insert('ada@example.org')
  })
  afterEach(async () => {
    await server?.close()
    await database.remove()
  })

  test('inherits nothing by default, because the deletion cascades to all rows [T1066]', async () => {
    const server = await open({})
    const { personal, ofClient, own } = await useAccount(server, 7)
    expect(await statusOf(server, personal)).toBe(200)
    await replaceUser()
    expect(await statusOf(server, personal)).toBe(401)
    expect(await statusOf(server, ofClient)).toBe(401)
    expect(await server.clients.find(own.clientId)).toBeUndefined()
    expect([await count('consent'), await count('session')]).toEqual([0, 0])
  })

  test('inherits nothing without foreign keys if the table has creation times', async () => {
    const server = await open({ foreignKeys: false, createdAt: 'created' })
    const { personal, ofClient, own, foreign } = await useAccount(server, 7)
    expect(await statusOf(server, personal)).toBe(200)
    expect(await statusOf(server, ofClient)).toBe(200)
    await replaceUser()
    expect(await count('token')).toBe(2)
    for (const token of [personal, ofClient]) expect(await statusOf(server, token)).toBe(401)
    expect(await server.clients.find(own.clientId)).toBeUndefined()
    expect(await server.consents.find(7, foreign.clientId)).toBeUndefined()
    const page = { after: null, limit: 10 }
    expect((await server.personalTokens.listByUser(7, page)).items).toEqual([])
    expect((await server.authorizedApplications.listByUser(7, page)).items).toEqual([])
    expect((await server.clients.ofOwner(7, page)).items).toEqual([])
    expect((await server.activity.listByUser(7, page)).items).toEqual([])
    // The new user can do everything that the former user did.
    await server.consents.grant(7, foreign.clientId, [])
    expect(await server.consents.find(7, foreign.clientId)).toBeDefined()
    const again = await useAccount(server, 7)
    expect(await statusOf(server, again.personal)).toBe(200)
    expect(await statusOf(server, again.ofClient)).toBe(200)
  })

  test.each([
    ['no warning with foreign keys', 'people', {}, 0],
    ['no warning with createdAt', 'people', { foreignKeys: false, createdAt: 'created' }, 0],
    ['no warning if a sequence assigns the IDs', 'counted', { foreignKeys: false }, 0],
    ['a warning otherwise', 'people', { foreignKeys: false }, 1],
  ] as const)('the start logs %s', async (_, name, columns, expected) => {
    const id =
      kind === 'SQLite'
        ? 'id integer primary key autoincrement'
        : 'id bigint generated by default as identity primary key'
    await database.run(`create table counted (${id}, email text not null)`)
    server = await createTestServer({
      store: database.store,
      users: table(name, { id: 'id', email: 'email', ...columns }),
      ...login,
      log: (entry) => log.push(entry),
    })
    expect(log.filter(({ event }) => event === 'users.reusable_ids')).toHaveLength(expected)
  })

  test('a token that is created in the minute before its user is accepted, because clocks differ', async () => {
    const server = await open({ foreignKeys: false, createdAt: 'created' })
    const { accessToken } = await server.tokens.createPersonal('Laptop', 7)
    const insertedAt = (seconds: number) =>
      database.run(
        `update people set created = '${new Date(start + seconds * 1000).toISOString()}'`,
      )
    await insertedAt(60)
    expect(await statusOf(server, accessToken)).toBe(200)
    await insertedAt(61)
    expect(await statusOf(server, accessToken)).toBe(401)
    await database.run('update people set created = null')
    expect(await statusOf(server, accessToken), 'an unknown time').toBe(200)
  })

  test('the sweeper removes the rows of the former user after a day, but not the rows of the new user', async () => {
    const server = await open({ foreignKeys: false, createdAt: 'created' })
    await useAccount(server, 7)
    await replaceUser()
    const { accessToken } = await server.tokens.createPersonal('Phone', 7)
    await server.sweep()
    expect(await count('token'), 'the token of the client has expired').toBe(2)
    clock.advance(25 * hour)
    await server.sweep()
    expect(await count('token')).toBe(1)
    expect(await count('consent')).toBe(0)
    expect(await statusOf(server, accessToken)).toBe(200)
    expect(log.filter(({ event }) => event === 'user.vanished')).toEqual([
      expect.objectContaining({ userId: 7, message: expect.stringContaining('newer user') }),
    ])
  })

  test('without a unique key or as a view, the table gets no foreign key', async () => {
    await database.run('create view members as select id, email from people')
    server = await createTestServer({
      store: database.store,
      users: table('members', { id: 'id', email: 'email' }),
      ...login,
    })
    await server.tokens.createPersonal('Laptop', 7)
    await database.run('delete from people')
    expect(await count('token')).toBe(1)
  })

  test('the tables of an earlier start keep working without foreign keys', async () => {
    const before = await open({ foreignKeys: false })
    const { accessToken } = await before.tokens.createPersonal('Laptop', 7)
    await before.close()
    const after = await open({})
    expect(await statusOf(after, accessToken)).toBe(200)
    expect(await statusOf(after, (await after.tokens.createPersonal('B', 7)).accessToken)).toBe(200)
  })

  test('refuses to start if the column createdAt contains no times', async () => {
    await expect(open({ createdAt: 'email' })).rejects.toThrow(/createdAt/)
    await expect(open({ createdAt: 'no_such' })).rejects.toThrow(/no column no_such \(createdAt\)/)
    server = undefined
  })
})

describe('a user with the ID of a deleted user, found by callbacks', () => {
  test.each([
    ['a date', (ms: number) => new Date(ms)],
    ['milliseconds', (ms: number) => ms],
    ['seconds', (ms: number) => ms / 1000],
  ] as const)('inherits nothing if createdAt is %s', async (_, made) => {
    const clock = testClock(start)
    const user = { id: 7, emailVerified: true, active: true, isAdmin: false }
    let current: User = { ...user, email: 'ada@example.org', createdAt: made(clock.now()) }
    const server = await createTestServer({
      users: { find: async (id) => (id === 7 ? current : undefined) },
      ...login,
      clock: clock.now,
    })
    const { personal, ofClient, own, foreign } = await useAccount(server, 7)
    for (const token of [personal, ofClient]) expect(await statusOf(server, token)).toBe(200)
    clock.advance(hour)
    current = { ...user, email: 'eve@example.org', createdAt: made(clock.now()) }
    for (const token of [personal, ofClient]) expect(await statusOf(server, token)).toBe(401)
    expect((await server.clients.find(own.clientId))?.owner ?? null).toBeNull()
    expect(await server.consents.find(7, foreign.clientId)).toBeUndefined()
    const page = { after: null, limit: 10 }
    expect((await server.personalTokens.listByUser(7, page)).items).toEqual([])
    expect((await server.authorizedApplications.listByUser(7, page)).items).toEqual([])
    expect((await server.activity.listByUser(7, page)).items).toEqual([])
    const again = await useAccount(server, 7)
    expect(await statusOf(server, again.personal)).toBe(200)
    expect(await server.consents.find(7, again.foreign.clientId)).toBeDefined()
    await server.close()
  })

  test('causes a warning once if find returns no createdAt, unless keyType is uuid', async () => {
    const user = { email: 'ada@example.org', emailVerified: true, active: true, isAdmin: false }
    const warned = async (id: UserId, keyType?: 'uuid', createdAt?: Date) => {
      const log: LogEntry[] = []
      const server = await createTestServer({
        users: {
          ...(keyType && { keyType }),
          find: async () => ({ ...user, id, ...(createdAt && { createdAt }) }),
        },
        ...login,
        log: (entry) => log.push(entry),
      })
      for (let count = 0; count < 2; count += 1) await server.users.find(id)
      await server.close()
      return log.filter(({ event }) => event === 'users.reusable_ids').length
    }
    expect(await warned(7)).toBe(1)
    expect(await warned(7, undefined, new Date())).toBe(0)
    expect(await warned('0b8f6c1e-8c1f-4f0e-9d3a-1f1f1f1f1f1f', 'uuid')).toBe(0)
  })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  Scope,
  table,
  type UserId,
  type UserTable,
} from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { createTestServer, testClock } from 'svc-oauth2server/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { formIn } from '../support/user-agent.ts'
import { statusOf } from './status.ts'

// Users in a table of the application, in the SQLite file of the store.

interface Key {
  readonly keyType: 'integer' | 'text' | 'uuid'
  readonly ids: readonly [UserId, UserId]
}

const keys: readonly Key[] = [
  { keyType: 'integer', ids: [7, 2_000_000_000_000] },
  // SQLite would convert these IDs to numbers in a column that is not text.
  { keyType: 'text', ids: ['007', '1e5'] },
  {
    keyType: 'uuid',
    ids: ['3f333df6-90a4-4fda-8dd3-9485d27cee36', '12345678901234567890123456789e12'],
  },
]
const cases = keys.flatMap((key) => [true, false].map((foreignKeys) => ({ ...key, foreignKeys })))

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oauth2server-users-'))
})
afterEach(() => rm(folder, { recursive: true }))

interface App extends AsyncDisposable {
  readonly server: AuthorizationServer
  readonly clock: ReturnType<typeof testClock>
  readonly db: DatabaseSync
}

/** Starts an application with the users `a@Example.org` and `b@example.org`. */
const start = async (
  { keyType, ids }: Key,
  users: UserTable,
  login: Partial<AuthorizationServerOptions> = { resourceOwner: () => null, loginUrl: '/enter' },
): Promise<App> => {
  const path = join(folder, 'app.sqlite')
  const db = new DatabaseSync(path, { timeout: 2_000 })
  const type = keyType === 'integer' ? 'integer' : 'text'
  db.exec(`
    create table "app people" (
      pk ${type} primary key, mail text not null, "is enabled" integer not null default 1,
      checked integer, boss integer
    ) strict
  `)
  const insert = db.prepare(
    'insert into "app people" (pk, mail, checked, boss) values (?, ?, ?, ?)',
  )
  insert.run(ids[0], 'a@Example.org', 1, 0)
  insert.run(ids[1], 'b@example.org', 0, 1)
  const clock = testClock(Date.UTC(2026, 0, 1))
  const server = await createTestServer({
    clock: clock.now,
    store: sqlite(path),
    users,
    ...login,
    scopes: [new Scope('notes:read')],
  })
  return {
    server,
    clock,
    db,
    async [Symbol.asyncDispose]() {
      await server.close()
      db.close()
    },
  }
}

const people = ({ keyType, foreignKeys = false }: Partial<Key> & { foreignKeys?: boolean }) =>
  table('app people', {
    id: 'pk',
    email: 'mail',
    active: 'is enabled',
    emailVerified: 'checked',
    isAdmin: 'boss',
    ...(keyType === undefined ? {} : { keyType }),
    foreignKeys,
  })

const rowsOf = (db: DatabaseSync, user: UserId): number =>
  ['client', 'authorization', 'token', 'consent', 'session'].reduce((sum, name) => {
    const query = `select count(*) as n from oauth2server_${name} where user_id = ?`
    return sum + Number(db.prepare(query).get(user)?.n)
  }, 0)

describe.each(cases)('$keyType keys, foreign keys: $foreignKeys', (given) => {
  const { ids, foreignKeys } = given
  const [one, two] = ids

  test('finds users by the beginning of their address, and deactivates them with setActive [T1342]', async () => {
    let db: DatabaseSync | undefined
    const users: UserTable = {
      ...people(given),
      setActive: async (id, active) => {
        db?.prepare('update "app people" set "is enabled" = ? where pk = ?').run(Number(active), id)
      },
    }
    await using app = await start(given, users)
    db = app.db
    const page = { after: null, limit: 25 }
    const found = async (text: string) =>
      (await app.server.users.search(text, page)).items.map(({ id }) => id)
    expect(await found('A@Exam')).toEqual([one])
    expect(await found(String(two))).toEqual([two])
    expect((await found('')).toSorted()).toEqual([one, two].toSorted())
    const { accessToken } = await app.server.tokens.createPersonal('Backup', two)
    expect(await app.server.users.setActive(two, false)).toBe(true)
    expect(await statusOf(app.server, accessToken)).toBe(401)
    expect(await app.server.users.setActive(two, true)).toBe(true)
    expect(await statusOf(app.server, accessToken)).toBe(200)
  })

  test('accepts users of the application, with IDs of the application’s type [T729]', async () => {
    await using app = await start(given, people(given))
    const { server } = app
    const user = {
      id: one,
      email: 'a@Example.org',
      emailVerified: true,
      active: true,
      isAdmin: false,
    }
    expect(await server.users.find(one)).toEqual(user)
    expect(await server.users.findByEmail('A@example.org')).toEqual(user)
    const { accessToken, userId } = await server.tokens.createPersonal('Laptop', two)
    expect(userId).toBe(two)
    const found = await server.getToken({ accessToken })
    expect(found?.user).toMatchObject({ id: two, emailVerified: false, isAdmin: true })
    expect(found?.token.userId).toBe(two)
  })

  test('applies deactivation and reactivation to the next request', async () => {
    await using app = await start(given, people(given))
    const { server, db } = app
    const { accessToken } = await server.tokens.createPersonal('Laptop', one)
    const enable = db.prepare('update "app people" set "is enabled" = ? where pk = ?')
    expect(await statusOf(server, accessToken)).toBe(200)
    enable.run(0, one)
    expect(await statusOf(server, accessToken)).toBe(401)
    enable.run(1, one)
    expect(await statusOf(server, accessToken)).toBe(200)
  })

  test('deleting a user in the application revokes the tokens immediately, and all rows are deleted by a sweep a day later at the latest', async () => {
    await using app = await start(given, people(given))
    const { server, db } = app
    const { accessToken } = await server.tokens.createPersonal('Laptop', one)
    const kept = await server.tokens.createPersonal('Laptop', two)
    const { client } = await server.clients.create({ name: 'Client', userId: one })
    const subject = await server.users.find(two)
    if (!subject) throw new Error('The user is missing.')
    // A token of another user for the client of the deleted user.
    const issued = await server.tokens.issue({
      type: 'user',
      client,
      subject,
      scopes: [],
      refreshable: true,
    })
    expect(await statusOf(server, issued.accessToken)).toBe(200)

    db.prepare('delete from "app people" where pk = ?').run(one)
    expect(await statusOf(server, accessToken)).toBe(401)
    expect(await statusOf(server, issued.accessToken)).toBe(401)
    expect(await server.clients.find(client.clientId)).toSatisfy(
      (found?: { isActive: boolean }) => !found?.isActive,
    )
    expect(rowsOf(db, one)).toBe(foreignKeys ? 0 : 3)
    await server.sweep()
    expect(rowsOf(db, one)).toBe(foreignKeys ? 0 : 3)
    app.clock.advance(86_400)
    await server.sweep()
    expect(rowsOf(db, one)).toBe(0)
    expect(await statusOf(server, kept.accessToken)).toBe(200)
    expect(rowsOf(db, two)).toBe(2)
  })

  test('deleted(id) deletes all rows of the user without a sweep', async () => {
    await using app = await start(given, people(given))
    const { server, db } = app
    await server.tokens.createPersonal('Laptop', one)
    await server.tokens.createPersonal('Laptop', two)
    await server.users.deleted(one)
    expect([rowsOf(db, one), rowsOf(db, two)]).toEqual([0, 2])
  })

  test('rejects tokens and clients for unknown users of the application', async () => {
    await using app = await start(given, people(given))
    const { server } = app
    const nobody = given.keyType === 'integer' ? 99 : 'nobody'
    await expect(server.tokens.createPersonal('Laptop', nobody)).rejects.toThrow('no such user')
    await expect(server.clients.create({ name: 'C', userId: nobody })).rejects.toThrow(
      'no such user',
    )
  })
})

test('rejects changes of users, which only the application can make', async () => {
  const given = { keyType: 'integer', ids: [1, 2] } as const
  await using app = await start(given, people(given))
  const { users } = app.server
  for (const change of [
    () => users.create({ email: 'c@example.org', password: null }),
    () => users.setActive(1, false),
    () => users.setAdmin(1, true),
    () => users.setPassword(1, 'a long enough password'),
    () => users.delete(1),
  ])
    await expect(change()).rejects.toThrow('The users belong to the application')
})

test('with withPassword, the built-in login accepts the users of the table', async () => {
  const given = { keyType: 'integer', ids: [1, 2] } as const
  const users = table('app people', {
    id: 'pk',
    email: 'mail',
    active: 'is enabled',
    withPassword: async (email, password) =>
      email === 'b@example.org' && password === 'secret' ? { id: 2 } : undefined,
  })
  await using app = await start(given, users, {})
  const { server, db } = app
  expect((await server.users.withPassword('b@example.org', 'secret'))?.id).toBe(2)
  expect(await server.users.withPassword('b@example.org', 'wrong')).toBeUndefined()
  expect(await server.users.checkPassword(2, 'secret')).toBe(true)
  expect(await server.users.checkPassword(1, 'secret')).toBe(false)
  const logIn = async (password: string) => {
    const page = await server.fetch(new Request(`${server.issuer}/login`))
    const cookie = page.headers
      .getSetCookie()
      .map((value) => value.split(';')[0])
      .join('; ')
    const typed = { email: 'b@example.org', password }
    const body = new URLSearchParams({ ...formIn(await page.text()).hidden, ...typed })
    const headers = { cookie, origin: server.issuer }
    const request = new Request(`${server.issuer}/login`, { method: 'POST', body, headers })
    return (await server.fetch(request)).status
  }
  expect(await logIn('wrong')).toBe(403)
  expect(await logIn('secret')).toBe(303)
  db.exec('update "app people" set "is enabled" = 0')
  expect(await logIn('secret')).toBe(403)
})

test('without withPassword, users.checkPassword reports that only the application checks passwords', async () => {
  const given = { keyType: 'integer', ids: [1, 2] } as const
  await using app = await start(given, people(given))
  await expect(app.server.users.checkPassword(1, 'secret')).rejects.toThrow(
    'add withPassword to the option users',
  )
})

test('users.all lists the users of the table in the order of their IDs', async () => {
  const given = { keyType: 'text', ids: ['b', 'a'] } as const
  await using app = await start(given, people(given))
  const ids: UserId[] = []
  for await (const { id } of app.server.users.all()) ids.push(id)
  expect(ids).toEqual(['a', 'b'])
})

test.each([
  ['table', table('people', { id: 'id', email: 'email' })],
  ['callbacks', { find: async () => undefined }],
])('refuses to start with users from a %s, but without any login', async (_, users) => {
  await expect(createTestServer({ users })).rejects.toThrow(
    'users needs the option resourceOwner, for your own login, or withPassword in users, for the built-in login: without one of them, nobody can log in.',
  )
})

test('without the optional columns, every user is active and unverified, and not an administrator', async () => {
  const given = { keyType: 'integer', ids: [1, 2] } as const
  await using app = await start(given, table('app people', { id: 'pk', email: 'mail' }))
  expect(await app.server.users.find(2)).toEqual({
    id: 2,
    email: 'b@example.org',
    emailVerified: false,
    active: true,
    isAdmin: false,
  })
})

test('a user without an e-mail address can use every page, also as an administrator', async () => {
  const path = join(folder, 'app.sqlite')
  const db = new DatabaseSync(path, { timeout: 2_000 })
  db.exec('create table people (id integer primary key, email text)')
  db.exec('insert into people values (7, null)')
  const server = await createTestServer({
    store: sqlite(path),
    users: table('people', { id: 'id', email: 'email' }),
    resourceOwner: () => null,
    loginUrl: '/enter',
  })
  const user = { id: 7, email: '', emailVerified: false, active: true, isAdmin: false }
  expect(await server.users.find(7)).toEqual(user)
  const { client } = await server.clients.create({ name: 'App', userId: 7 })
  const found = (await server.users.find(7)) ?? user
  await server.administration.actOnClient(client.clientId, 'disable', { user: found, address: '' })
  const { items } = await server.activity.search({ user: '7' }, { after: null, limit: 9 })
  expect(items.map(({ event }) => event)).toEqual(['client.disabled', 'client.created'])
  await server.close()
  db.close()
})

test('checks 200 users in each run of the sweep, and continues with the following users in the next run', async () => {
  const given = { keyType: 'integer', ids: [1, 2] } as const
  await using app = await start(given, people(given))
  const { server, db, clock } = app
  db.exec(`with recursive n(i) as (select 3 union all select i + 1 from n where i <= 500)
    insert into "app people" (pk, mail) select i, i || '@example.org' from n`)
  for (let id = 1; id <= 500; id += 1) await server.tokens.createPersonal('Laptop', id)
  // Deletes 5 of the first 200 users, 5 of the next 200 and 3 of the last 100.
  db.exec('delete from "app people" where pk % 40 = 1')
  const missingUsers = async () => (await server.sweepPlan()).missingUsers.length
  const counts: number[] = []
  for (let run = 0; run < 4; run += 1) {
    await server.sweep()
    counts.push(await missingUsers())
  }
  expect(counts).toEqual([5, 10, 13, 13])
  clock.advance(86_400)
  await server.sweep()
  expect(await missingUsers()).toBe(0)
  const left = Number(db.prepare('select count(*) as n from oauth2server_token').get()?.n)
  expect(left).toBe(487)
})

describe('attributes', () => {
  const given = { keyType: 'integer', ids: [7, 8] } as const

  test('are properties of every user that the server returns, under the names of their columns [T1068]', async () => {
    const users = table('app people', { id: 'pk', email: 'mail', attributes: ['boss', 'checked'] })
    await using app = await start(given, users)
    const { server } = app
    const { accessToken } = await server.tokens.createPersonal('Laptop', 7)
    const expected = { id: 7, email: 'a@Example.org', boss: 0, checked: 1 }
    expect(await server.users.find(7)).toMatchObject(expected)
    expect(await server.users.findByEmail('a@example.org')).toMatchObject(expected)
    const found = await server.getToken({ accessToken })
    expect(found?.user).toMatchObject(expected)
    expect(Reflect.get((await server.users.fromId(7)) ?? {}, 'boss')).toBe(0)
    // The next request returns the current values.
    app.db.exec('update "app people" set boss = 5 where pk = 7')
    expect((await server.getToken({ accessToken }))?.user).toMatchObject({ boss: 5 })
  })

  test('do not replace the columns that the server needs', async () => {
    const users = table('app people', { id: 'pk', email: 'mail', attributes: ['pk', 'mail'] })
    await using app = await start(given, users)
    expect(await app.server.users.find(7)).toMatchObject({ id: 7, pk: 7, mail: 'a@Example.org' })
  })

  test('that the table does not have are an error at start-up', async () => {
    const users = table('app people', { id: 'pk', email: 'mail', attributes: ['bos'] })
    await expect(start(given, users)).rejects.toThrow(/no column bos \(attributes\).*boss/)
  })
})

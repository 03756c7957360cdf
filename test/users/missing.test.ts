import {
  type AuthorizationServer,
  type LogEntry,
  table,
  type User,
  type UserId,
} from 'svc-oauth2server'
import { createTestServer, testClock } from 'svc-oauth2server/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { storeOf } from '../support/internals.ts'
import { each } from '../support/load.ts'
import { type Database, databaseKinds, makeDatabase } from './databases.ts'
import { statusOf } from './status.ts'

// Users that the application does not find, because of an error or because they were deleted.

const hour = 3_600
const day = 24 * hour
describe.each(databaseKinds)('users that the application does not find, on %s', (kind) => {
  let database: Database
  let server: AuthorizationServer
  let log: LogEntry[]
  let clock: ReturnType<typeof testClock>
  /** The personal tokens of the users 1, 2, …: one for each user. */
  let tokens: string[]

  beforeEach(async () => {
    database = await makeDatabase(kind)
    await database.run('create table people (id integer primary key, email text not null)')
    log = []
    clock = testClock(Date.UTC(2026, 0, 1))
    server = await createTestServer({
      store: database.store,
      users: table('people', { id: 'id', email: 'email', foreignKeys: false }),
      resourceOwner: () => null,
      loginUrl: '/enter',
      clock: clock.now,
      log: (entry) => log.push(entry),
    })
    tokens = []
  })
  afterEach(async () => {
    await server.close()
    await database.remove()
  })

  const furnish = async (users: number): Promise<void> => {
    const ids = Array.from({ length: users }, (_, index) => index + 1)
    const rows = ids.map((id) => `(${id}, '${id}@example.org')`)
    await database.run(`insert into people values ${rows.join(', ')}`)
    const made: string[] = []
    // Create three at a time, one per connection: on a slow machine, waiting for a connection could time out.
    await each(ids, 3, async (id, index) => {
      made[index] = (await server.tokens.createPersonal('Laptop', id)).accessToken
    })
    tokens = made
  }
  const usersWithRows = () => storeOf(server).removals.idsInUse(null, 1_000)
  const eventsOf = async (name: string) =>
    (await database.run('select event, user_id, actor, details from oauth2server_audit'))
      .filter(({ event }) => event === name)
      .map(({ details, ...rest }) => ({ ...rest, details: JSON.parse(String(details)) }))
  const logged = (event: string) => log.filter((entry) => entry.event === event)

  test('preserves all rows if the table of users is empty, and reports that once a day in log and audit log [T615]', async () => {
    await furnish(15)
    await database.run('alter table people rename to away')
    await database.run('create table people (id integer primary key, email text not null)')
    for (let run = 0; run < 3; run += 1) {
      expect(await server.sweep()).toBe(0)
      clock.advance(hour)
    }
    expect(await statusOf(server, tokens[0] ?? '')).toBe(401)
    await database.run('drop table people')
    await database.run('alter table away rename to people')
    clock.advance(2 * day)
    expect(await server.sweep()).toBe(0)
    for (const token of tokens) expect(await statusOf(server, token)).toBe(200)
    expect(logged('users.missing')).toHaveLength(3)
    expect(logged('users.missing')[0]).toMatchObject({ level: 'error', count: 15, checked: 15 })
    expect(await eventsOf('users.missing')).toEqual([
      {
        event: 'users.missing',
        user_id: null,
        actor: 'system',
        details: { count: 15, checked: 15 },
      },
    ])
  })

  test('treats a missing user as inactive immediately, and deletes the rows after a second miss a day later [T613]', async () => {
    await furnish(3)
    await database.run('delete from people where id = 2')
    expect(await statusOf(server, tokens[1] ?? '')).toBe(401)
    const since = clock.now()
    await server.sweep()
    clock.advance(day - 1)
    await server.sweep()
    expect(await usersWithRows()).toEqual([1, 2, 3])
    expect(logged('user.vanished')).toEqual([])
    clock.advance(1)
    await server.sweep()
    expect(await usersWithRows()).toEqual([1, 3])
    expect(logged('user.vanished')).toEqual([expect.objectContaining({ level: 'warn', userId: 2 })])
    expect(await eventsOf('user.vanished')).toEqual([
      { event: 'user.vanished', user_id: '2', actor: 'system', details: { since } },
    ])
    expect(await statusOf(server, tokens[2] ?? '')).toBe(200)
    // A further sweep has nothing to record or report.
    await server.sweep()
    expect((await server.sweepPlan()).missingUsers).toEqual([])
    expect(await eventsOf('user.vanished')).toHaveLength(1)
  })

  test('preserves the rows of a user who is found between two misses [T614]', async () => {
    await furnish(2)
    const remove = () => database.run('delete from people where id = 2')
    const restore = () => database.run(`insert into people values (2, '2@example.org')`)
    await remove()
    await server.sweep()
    await restore()
    clock.advance(hour)
    await server.sweep()
    await remove()
    clock.advance(day)
    await server.sweep()
    await restore()
    expect(await statusOf(server, tokens[1] ?? '')).toBe(200)
  })

  test('a user is distinguished from the user whose ID is the nearest representable number [T834]', async () => {
    const [gone, near] = ['9007199254740993', '9007199254740992']
    await database.run('drop table people')
    await database.run('create table people (id bigint primary key, email text not null)')
    for (const id of [gone, near]) {
      await database.run(`insert into people values (${id}, '${id}@example.org')`)
      await server.tokens.createPersonal('Laptop', id)
    }
    const usersLeft = async () =>
      (
        await database.run(
          'select cast(user_id as text) as id from oauth2server_token order by user_id',
        )
      ).map(({ id }) => id)
    await database.run(`delete from people where id = ${gone}`)
    await server.sweep()
    clock.advance(day)
    await database.run(`delete from people where id = ${near}`)
    expect(await usersLeft()).toEqual([near, gone])
    await server.sweep()
    expect(await usersLeft()).toEqual([near])
  })

  test('deletes rows if a tenth of the users is missing, and preserves all rows if one more user is missing [T617]', async () => {
    await furnish(110)
    await database.run('delete from people where id <= 12')
    await server.sweep()
    // The server recorded no miss, because it cannot know which look-ups failed by mistake.
    expect((await server.sweepPlan()).missingUsers).toEqual([])
    await database.run(`insert into people values (12, '12@example.org')`)
    await server.sweep()
    expect((await server.sweepPlan()).missingUsers).toHaveLength(11)
    await database.run('delete from people where id = 12')
    clock.advance(day)
    await server.sweep()
    expect(await usersWithRows()).toHaveLength(110)
    await database.run(`insert into people values (12, '12@example.org')`)
    await server.sweep()
    expect(await usersWithRows()).toHaveLength(99)
  })

  test('deleted(id) deletes the rows of a user and the recorded miss immediately', async () => {
    await furnish(2)
    await database.run('delete from people where id = 2')
    await server.sweep()
    await server.users.deleted(2)
    expect(await usersWithRows()).toEqual([1])
    expect((await server.sweepPlan()).missingUsers).toEqual([])
  })

  test('sweepPlan() lists missing users with the time of their deletion, without deleting rows [T618]', async () => {
    await furnish(2)
    await database.run('delete from people where id = 2')
    const since = clock.now()
    const empty = { heldBecause: null, rows: [], missingUsers: [] }
    expect(await server.sweepPlan()).toEqual(empty)
    await server.sweep()
    clock.advance(2 * day)
    for (let time = 0; time < 2; time += 1)
      expect(await server.sweepPlan()).toEqual({
        ...empty,
        missingUsers: [{ userId: '2', since, removedFrom: since + day * 1000 }],
      })
    expect(await usersWithRows()).toEqual([1, 2])
  })

  test('sweepPlan() counts exactly the rows that the next run deletes', async () => {
    await furnish(3)
    await server.tokens.createPersonal('Short', 1, { expiresIn: hour })
    const [client] = await database.run('select client_key from oauth2server_client')
    expect(client).toBeDefined()
    await storeOf(server).transients.put('x', 'x', clock.now() + 1, clock.now())
    clock.advance(2 * hour)
    const { rows } = await server.sweepPlan()
    expect(rows.map(({ count, what }) => [count, what])).toEqual([
      [1, 'tokens'],
      [1, 'short-lived values'],
    ])
    expect(await server.sweep()).toBe(2)
    expect((await server.sweepPlan()).rows).toEqual([])
  })
})

describe('callbacks', () => {
  const people = new Map<UserId, User>()
  let isEmpty = false
  const clock = testClock(Date.UTC(2026, 0, 1))
  const person = (id: UserId): User => ({
    id,
    email: `${id}@example.org`,
    emailVerified: true,
    active: true,
    isAdmin: false,
  })
  const start = () =>
    createTestServer({
      clock: clock.now,
      users: {
        keyType: 'text',
        find: async (id) => (isEmpty ? undefined : people.get(id)),
        withPassword: async () => undefined,
      },
    })
  afterEach(() => {
    isEmpty = false
    people.clear()
  })

  test('that return undefined for all users do not cause a deletion, even of a few users [T616]', async () => {
    const server = await start()
    const tokens: string[] = []
    for (const id of ['ada', 'bob', 'eve']) {
      people.set(id, person(id))
      tokens.push((await server.tokens.createPersonal('Laptop', id)).accessToken)
    }
    for (let night = 0; night < 3; night += 1) {
      isEmpty = true
      await server.sweep()
      isEmpty = false
      clock.advance(60)
      await server.sweep()
      clock.advance(day)
    }
    for (const token of tokens) expect(await statusOf(server, token)).toBe(200)
    await server.close()
  })

  test('are called again just before a deletion', async () => {
    const server = await start()
    people.set('ada', person('ada'))
    const { accessToken } = await server.tokens.createPersonal('Laptop', 'ada')
    people.delete('ada')
    await server.sweep()
    clock.advance(day)
    people.set('ada', person('ada'))
    await server.sweep()
    expect(await statusOf(server, accessToken)).toBe(200)
    expect((await server.sweepPlan()).missingUsers).toEqual([])
    await server.close()
  })
})

import pg from 'pg'
import { type AuthorizationServerOptions, StoreUnusable, table } from 'svc-oauth2server'
import { fromEnvironment } from 'svc-oauth2server/environment'
import { type PostgresOptions, postgres } from 'svc-oauth2server/postgres'
import { createTestServer } from 'svc-oauth2server/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeDatabase, type TestDatabase } from '../support/postgres.ts'
import { secretKey } from '../support/server.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await makeDatabase()
})
afterEach(() => database.drop())

const start = (options: PostgresOptions = {}, more: Partial<AuthorizationServerOptions> = {}) =>
  createTestServer({ store: postgres(database.url, options), ...more })

const schemasWithTables = async (): Promise<readonly unknown[]> =>
  (
    await database.query(
      `select table_schema as name from information_schema.tables
       where table_name = 'oauth2server_token' order by 1`,
    )
  ).map(({ name }) => name)

describe('the option schema of postgres()', () => {
  test('separates the servers of one database, in any order of their first starts', async () => {
    const one = await start({ schema: 'one' })
    const inPublic = await start()
    const two = await start({ schema: 'two' })
    try {
      expect(await schemasWithTables()).toEqual(['one', 'public', 'two'])
      const servers = [one, inPublic, two]
      const tokens = await Promise.all(
        servers.map(async (server) => {
          const user = await server.users.create({ email: 'ada@example.org', password: null })
          return server.tokens.createPersonal('Laptop', user.id)
        }),
      )
      for (const [index, server] of servers.entries())
        for (const [other, { accessToken }] of tokens.entries()) {
          const found = await server.getToken({ accessToken })
          expect(found !== undefined).toBe(index === other)
        }
    } finally {
      await Promise.all([one, inPublic, two].map((server) => server.close()))
    }
    // A second start finds the existing tables.
    await (await start({ schema: 'one' })).close()
    await (await start()).close()
  })

  test.each<[string, PostgresOptions]>([
    ['a new schema', { schema: 'auth' }],
    ['the schema public', {}],
  ])(
    'eight nodes that first start together create the tables in %s once [T3910]',
    async (_, options) => {
      const nodes = await Promise.allSettled(
        Array.from({ length: 8 }, () => start(options, { openidConnect: true })),
      )
      for (const node of nodes) if (node.status === 'fulfilled') await node.value.close()
      expect(
        nodes.map((node) => (node.status === 'rejected' ? String(node.reason) : 'started')),
      ).toEqual(Array(8).fill('started'))
      expect(await schemasWithTables()).toEqual([options.schema ?? 'public'])
    },
  )

  test.each([
    ['the schema', ['create schema auth']],
    [
      'the table of migrations',
      [
        'create schema auth',
        'commit',
        'begin',
        'create table auth.oauth2server_migration (name varchar(255) not null primary key, timestamp varchar(255) not null)',
      ],
    ],
    [
      'the table of the migration lock',
      [
        'create schema auth',
        'commit',
        'begin',
        'create table auth.oauth2server_migration_lock (id varchar(255) not null primary key, is_locked integer default 0 not null)',
      ],
    ],
  ])('starts if another node creates %s at the same moment [T3917]', async (_, statements) => {
    const other = new pg.Client(database.url)
    await other.connect()
    try {
      await other.query('begin')
      for (const statement of statements) await other.query(statement)
      const node = start({ schema: 'auth' })
      // The statement of this node waits for the transaction of the other node.
      await vi.waitFor(
        async () => {
          const waiting = await database.query('select 1 from pg_locks where not granted')
          expect(waiting.length).toBeGreaterThan(0)
        },
        { timeout: 60_000, interval: 20 },
      )
      await other.query('commit')
      await (await node).close()
    } finally {
      await other.end()
    }
    expect(await schemasWithTables()).toEqual(['auth'])
  })

  test('reads a user table with its schema in the name', async () => {
    await database.query('create table people (id integer primary key, email text not null)')
    await database.query("insert into people values (7, 'ada@example.org')")
    const login = { resourceOwner: () => null, loginUrl: '/enter' }
    const columns = { id: 'id', email: 'email', foreignKeys: true }
    const server = await start(
      { schema: 'auth' },
      { users: table('public.people', columns), ...login },
    )
    expect((await server.users.findByEmail('ada@example.org'))?.id).toBe(7)
    await server.tokens.createPersonal('Laptop', 7)
    await server.close()
    const unqualified = start({ schema: 'auth' }, { users: table('people', columns), ...login })
    await expect(unqualified).rejects.toThrow('the database has no such table')
  })

  test('accepts an existing schema without the privilege to create schemas, and names a missing privilege [T4111]', async () => {
    const role = `tenant_${Date.now()}`
    await database.query(`create role ${role} login password 'tenant'`)
    try {
      await database.query(`create schema tenant authorization ${role}`)
      const url = Object.assign(new URL(database.url), { username: role, password: 'tenant' })
      const store = postgres(url.href, { schema: 'tenant' })
      await (await createTestServer({ store })).close()
      const missing = postgres(url.href, { schema: 'another' })
      await expect(createTestServer({ store: missing })).rejects.toThrow('permission denied')
      // PostgreSQL 15 and later: only the owner of the database may create tables in `public`.
      const inPublic = createTestServer({ store: postgres(url.href) })
      await expect(inPublic).rejects.toThrow(StoreUnusable)
      await expect(inPublic).rejects.toThrow(
        /^The PostgreSQL role may not create the tables \(permission denied .*\)\. Grant /,
      )
    } finally {
      await database.query(`drop owned by ${role}`)
      await database.query(`drop role ${role}`)
    }
  })

  test.each(['user', '_1', 'select'])('accepts the name %j', async (schema) => {
    const server = await start({ schema })
    try {
      expect(await schemasWithTables()).toEqual([schema])
      const user = await server.users.create({ email: 'ada@example.org', password: null })
      const { accessToken } = await server.tokens.createPersonal('Laptop', user.id)
      await server.sweep()
      expect((await server.getToken({ accessToken }))?.user?.id).toBe(user.id)
      expect(await server.users.delete(user.id)).toBe(true)
      expect(await server.getToken({ accessToken })).toBeUndefined()
    } finally {
      await server.close()
    }
  })

  test('the parameter schema of DATABASE_URL selects the schema', async () => {
    const { options } = await fromEnvironment({
      DATABASE_URL: `${database.url}?schema=auth`,
      SECRET_KEY: secretKey,
    })
    await (await createTestServer({ store: options.store })).close()
    expect(await schemasWithTables()).toEqual(['auth'])
  })

  test('a dry run of the migration does not create the schema', async () => {
    const store = await postgres(database.url, { schema: 'auth' }).open()
    try {
      await expect(store.migrate({ dryRun: true })).rejects.toThrow(
        'The PostgreSQL schema of the connection does not exist',
      )
      const rows = await database.query("select 1 from pg_namespace where nspname = 'auth'")
      expect(rows).toEqual([])
    } finally {
      await store.close()
    }
  })

  test.each(['', 'Auth', 'a,public', 'a -c role=x', '"a"', '1a', 'a'.repeat(64)])(
    'refuses the name %j',
    async (schema) => {
      await expect(start({ schema })).rejects.toThrow(
        'schema accepts lower-case letters, digits and _',
      )
    },
  )

  test('refuses prepare: false, because PgBouncer would reject the setting', async () => {
    await expect(start({ schema: 'auth', prepare: false })).rejects.toThrow(
      'schema cannot be combined with prepare: false',
    )
  })

  test('an invalid schema opens no connection', async () => {
    const store = postgres('postgres://nobody@127.0.0.1:1/none', { schema: 'A' })
    await expect(createTestServer({ store })).rejects.toThrow('schema accepts')
  })
})

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type AuthorizationServerOptions, table, type UserTableColumns } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { createTestServer } from 'svc-oauth2server/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeDatabase } from '../support/postgres.ts'
import { temporaryFolder } from '../support/processes.ts'

// The checks of the application's user table, and of existing tables of the server, before the server starts.

interface HostDatabase {
  readonly store: AuthorizationServerOptions['store']
  run(statement: string): Promise<unknown>
  remove(): Promise<void>
}

const databases: Readonly<Record<string, () => Promise<HostDatabase>>> = {
  async SQLite() {
    const folder = await temporaryFolder()
    const path = join(folder.path, 'app.sqlite')
    const db = new DatabaseSync(path, { timeout: 2_000 })
    return {
      store: sqlite(path),
      run: async (statement) => db.exec(statement),
      async remove() {
        db.close()
        await rm(folder.path, { recursive: true })
      },
    }
  },
  async PostgreSQL() {
    const { url, query, drop } = await makeDatabase()
    return { store: postgres(url), run: query, remove: drop }
  },
}

const uuid = '3f333df6-90a4-4fda-8dd3-9485d27cee36'

describe.each(Object.keys(databases))('the start with a user table in %s', (name) => {
  let host: HostDatabase
  beforeEach(async () => {
    host = (await databases[name]?.()) as HostDatabase
  })
  afterEach(() => host.remove())

  const isPostgres = name === 'PostgreSQL'
  const start = async (users?: AuthorizationServerOptions['users']): Promise<string> => {
    try {
      const server = await createTestServer({
        store: host.store,
        ...(users && { users, resourceOwner: () => null, loginUrl: '/enter' }),
      })
      await server.close()
      return 'started'
    } catch (error) {
      expect((error as Error).name).toBe('StoreUnusable')
      return (error as Error).message
    }
  }
  const people = (columns: Partial<UserTableColumns> = {}) =>
    table('people', { id: 'id', email: 'email', ...columns })
  const create = (id: string) =>
    host.run(
      `create table people (id ${id} primary key, email text not null, enabled integer, name text, seen timestamp)`,
    )

  test.each([
    ['integer', 'integer'],
    ['bigint', 'integer'],
    ['text', 'text'],
    ['varchar(36)', 'text'],
    ['uuid', 'uuid'],
  ] as const)('accepts an id of the type %s with keyType %s', async (type, keyType) => {
    await create(type)
    expect(await start(people({ keyType, active: 'enabled' }))).toBe('started')
  })

  test.each([
    ['uuid', 'integer', 'uuid'],
    ['text', 'integer', 'text'],
    ['bigint', 'uuid', 'integer'],
    ['integer', 'text', 'integer'],
  ] as const)(
    'refuses an id of the type %s with keyType %s, and suggests %s',
    async (type, keyType, expected) => {
      await create(type)
      expect(await start(people({ keyType }))).toBe(
        `users: table('people'): the column id has the type ${type}, but keyType is '${keyType}'. Set keyType to '${expected}'.`,
      )
    },
  )

  test('refuses a table that does not exist', async () => {
    expect(await start(people())).toBe(
      "users: table('people'): the database has no such table. Create it before the server starts.",
    )
  })

  test('lists every misspelled column with the likely name', async () => {
    await create('integer')
    const message = await start(people({ email: 'e_mail', active: 'enable', isAdmin: 'boss' }))
    expect(message.split('\n')).toEqual([
      "users: table('people'): the table has no column e_mail (email). Did you mean email?",
      "users: table('people'): the table has no column enable (active). Did you mean enabled?",
      "users: table('people'): the table has no column boss (isAdmin). The table has the columns id, email, enabled, name, seen.",
    ])
  })

  test.each(['active', 'emailVerified', 'isAdmin'] as const)(
    'refuses a text column and a timestamp column for %s',
    async (property) => {
      await create('integer')
      for (const [column, type] of [
        ['name', 'text'],
        ['seen', isPostgres ? 'timestamp without time zone' : 'timestamp'],
      ])
        expect(await start(people({ [property]: column }))).toBe(
          `users: table('people'): the column ${column} (${property}) has the type ${type}. It must be a boolean or an integer; a generated column or a view can convert it.`,
        )
    },
  )

  test('accepts a view with converted columns', async () => {
    await create('integer')
    await host.run(
      'create view members as select id, email, seen is not null as verified from people',
    )
    const users = table('members', { id: 'id', email: 'email', emailVerified: 'verified' })
    expect(await start(users)).toBe('started')
  })

  test('refuses tables that were created for IDs of another type', async () => {
    expect(await start()).toBe('started')
    await create('uuid')
    expect(await start(people({ keyType: 'uuid' }))).toMatch(
      new RegExp(
        `^The tables of this package store user IDs as ${isPostgres ? 'bigint' : 'integer'}, but the configured users need ${isPostgres ? 'uuid' : 'text'} \\(keyType\\)\\. Start the program or the command with the configuration that created the tables \\(--config\\)\\. To delete all clients and tokens instead, drop every table`,
      ),
    )
    await host.run(`insert into people (id, email) values ('${uuid}', 'ada@example.org')`)
  })

  test('refuses callbacks whose keyType differs from the existing tables', async () => {
    expect(await start({ keyType: 'text', find: async () => undefined })).toBe('started')
    expect(await start({ find: async () => undefined })).toMatch(/store user IDs as text/)
  })

  test('refuses the built-in users if the tables were created for users of the application', async () => {
    await create('integer')
    expect(await start(people())).toBe('started')
    expect(await start()).toMatch(
      /^The tables of this package were created for an application with its own users/,
    )
  })

  test('refuses tables without the configured foreign keys, and with foreign keys to another table', async () => {
    await create('integer')
    await host.run('create table members (id integer primary key, email text not null)')
    const keys = { foreignKeys: true }
    expect(await start(table('members', { id: 'id', email: 'email', ...keys }))).toBe('started')
    expect(await start(people(keys))).toMatch(
      /a foreign key to members, but the configuration requires one to people \(foreignKeys\)/,
    )
    expect(await start(people())).toMatch(/a foreign key to members, but .* one to people/)
    expect(await start(people({ foreignKeys: false }))).toMatch(
      /a foreign key to members, but the configuration requires none/,
    )
    expect(await start(table('members', { id: 'id', email: 'email' }))).toBe('started')
  })

  test('refuses tables without foreign keys if the configuration requires them', async () => {
    await create('integer')
    expect(await start(people({ foreignKeys: false }))).toBe('started')
    expect(await start(people({ foreignKeys: true }))).toMatch(
      /no foreign key to users, but the configuration requires one to people \(foreignKeys\)/,
    )
  })

  test('changes nothing in the database if it refuses to start', async () => {
    await create('uuid')
    await start(people())
    expect(await start(people({ keyType: 'uuid' }))).toBe('started')
  })
})

test('refuses a PostgreSQL table that the account of the server may not read', async () => {
  const { url, query, drop } = await makeDatabase()
  const role = `reader_${Date.now()}`
  try {
    await query('create table people (id integer primary key, email text)')
    await query(`create role ${role} login password 'reader'`)
    await query(`grant all on schema public to ${role}`)
    const asReader = Object.assign(new URL(url), { username: role, password: 'reader' }).href
    const users = table('people', { id: 'id', email: 'email' })
    const login = { resourceOwner: () => null, loginUrl: '/enter' }
    const start = createTestServer({ store: postgres(asReader), users, ...login })
    await expect(start).rejects.toThrow(
      "users: table('people'): the table cannot be read (permission denied for table people).",
    )
  } finally {
    await drop()
    await makeDatabase().then(async (other) => {
      await other.query(`drop role ${role}`)
      await other.drop()
    })
  }
})

import { Client, Pool, type PoolClient } from 'pg'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { lacks } from '../support/needs.ts'
import { makeDatabase, type TestDatabase } from '../support/postgres.ts'

const without = await lacks('postgres')

describe.skipIf(without)('the PostgreSQL of the application', () => {
  let database: TestDatabase
  let pool: Pool
  beforeAll(async () => {
    database = await makeDatabase()
    pool = new Pool({ connectionString: database.url, max: 5 })
    pool.on('error', () => undefined)
    // The pool does not wait until its connections are closed, so deleting the database may cut them.
    pool.on('connect', (client) => client.on('error', () => undefined))
    await database.query('create table team (name text primary key)')
  })
  afterAll(async () => {
    await pool?.end()
    await database?.drop()
  })

  type Server = Awaited<ReturnType<typeof createTestServer>>
  const start = (): Promise<Server> => createTestServer({ store: postgres(pool) })

  let people = 0
  const newUser = (server: Server) => {
    people += 1
    return server.users.create({ email: `person-${people}@example.org`, password: null })
  }

  const inTransaction = async (
    end: 'commit' | 'rollback',
    work: (client: PoolClient) => Promise<void>,
  ): Promise<void> => {
    const client = await pool.connect()
    try {
      await client.query('begin')
      await work(client)
      await client.query(end)
    } finally {
      client.release()
    }
  }

  const teams = async (): Promise<readonly unknown[]> =>
    (await database.query('select name from team order by name')).map(({ name }) => name)

  describe('a pool of the application', () => {
    test('stores everything, keeps its own settings, and remains open after the server was closed', async () => {
      const server = await start()
      const user = await newUser(server)
      const { accessToken } = await server.tokens.createPersonal('Laptop', user.id)
      expect(await server.getToken({ accessToken })).toMatchObject({ token: { userId: user.id } })
      await server.close()
      const { rows } = await pool.query(
        `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
          current_setting('enable_seqscan') as scan, 12345678901::bigint as big`,
      )
      // The driver returns 64-bit integers as text, as the application configured it.
      expect(rows).toEqual([{ statement: '0', lock: '0', scan: 'on', big: '12345678901' }])
    })

    test('serves two servers at the same time', async () => {
      const [one, two] = [await start(), await start()]
      try {
        const user = await newUser(one)
        const made = await Promise.all(
          [one, two, one, two].map((server) => server.tokens.createPersonal('Laptop', user.id)),
        )
        for (const { accessToken } of made)
          for (const server of [one, two])
            expect(await server.getToken({ accessToken })).toBeDefined()
      } finally {
        await Promise.all([one.close(), two.close()])
      }
    })

    test('limits the time that a transaction of the server waits for a row', async () => {
      const server = await start()
      const user = await newUser(server)
      const client = await pool.connect()
      try {
        await client.query('begin')
        await client.query('select 1 from oauth2server_user where id = $1 for update', [user.id])
        await expect(server.users.setActive(user.id, false)).rejects.toThrow()
      } finally {
        await client.query('rollback')
        client.release()
        await server.close()
      }
    })

    test('replaces connections that were lost, also while the server uses them', async () => {
      const server = await start()
      const user = await newUser(server)
      const reading = Promise.allSettled(
        Array.from({ length: 200 }, () => server.users.find(user.id)),
      )
      await database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
      )
      await reading
      await vi.waitFor(async () => expect(await server.users.find(user.id)).toBeDefined())
      await server.close()
    })

    test('that was closed makes the start fail with a clear error', async () => {
      const ended = new Pool({ connectionString: database.url })
      await ended.end()
      const started = createTestServer({ store: postgres(ended) })
      await expect(started).rejects.toThrow(/The database of the pool cannot be used \(.*end/)
    })

    test.each([
      ['poolSize', { poolSize: 3 }],
      ['connectTimeout', { connectTimeout: 5 }],
      ['schema', { schema: 'auth' }],
    ])('cannot be combined with the option %s', async (name, options) => {
      const started = createTestServer({ store: postgres(pool, options) })
      await expect(started).rejects.toThrow(new RegExp(`^${name} cannot be combined with a pool`))
    })

    test('is distinguished from other objects', async () => {
      for (const wrong of [null, {}, 7])
        await expect(createTestServer({ store: postgres(wrong as never) })).rejects.toThrow(
          'postgres accepts a URL, or a pool of the package pg.',
        )
    })
  })

  describe('server.transaction(client, work)', () => {
    let server: Server
    beforeAll(async () => {
      server = await start()
    })
    afterAll(() => server?.close())

    test('commits the writes of the application and of the server together', async () => {
      const user = await newUser(server)
      const events: string[] = []
      const stop = server.on('*', ({ event }) => void events.push(event))
      let accessToken = ''
      await inTransaction('commit', async (client) => {
        await client.query("insert into team values ('committed')")
        const made = await server.transaction(client, async (tx) => {
          const { client: registered } = await tx.clients.create({
            name: 'Printer',
            userId: user.id,
            redirectUris: ['https://printer.example/cb'],
          })
          const { accessToken } = await tx.tokens.createPersonal('Laptop', user.id)
          return { accessToken, clientId: registered.clientId }
        })
        accessToken = made.accessToken
        // Nothing is visible before the commit.
        expect(await server.getToken({ accessToken })).toBeUndefined()
        expect(await server.getClient(made.clientId)).toBeUndefined()
        expect(events).toEqual([])
      })
      expect(await server.getToken({ accessToken })).toMatchObject({ token: { userId: user.id } })
      expect(await teams()).toContain('committed')
      await vi.waitFor(() => expect(events).toEqual(['client.created', 'personal_token.created']))
      stop()
    })

    test('rolls all writes back with the transaction of the application, and calls no hook', async () => {
      const user = await newUser(server)
      const events: string[] = []
      const stop = server.on('*', ({ event }) => void events.push(event))
      let accessToken = ''
      await inTransaction('rollback', async (client) => {
        await client.query("insert into team values ('rolled back')")
        const made = await server.transaction(client, (tx) =>
          tx.tokens.createPersonal('Laptop', user.id),
        )
        accessToken = made.accessToken
      })
      expect(await server.getToken({ accessToken })).toBeUndefined()
      expect(await teams()).not.toContain('rolled back')
      // A later event proves that the events of the rollback would have arrived by now.
      await inTransaction('commit', async (client) => {
        await server.transaction(client, (tx) => tx.tokens.createPersonal('Laptop', user.id))
      })
      await vi.waitFor(() => expect(events).toEqual(['personal_token.created']))
      stop()
    })

    test('calls no hook if the application rolls back to its own savepoint', async () => {
      const user = await newUser(server)
      const events: string[] = []
      const stop = server.on('*', ({ event }) => void events.push(event))
      await inTransaction('commit', async (client) => {
        await client.query('savepoint own')
        await server.transaction(client, (tx) => tx.tokens.createPersonal('Laptop', user.id))
        await client.query('rollback to savepoint own')
      })
      await inTransaction('commit', async (client) => {
        await server.transaction(client, (tx) => tx.users.setActive(user.id, false))
      })
      await vi.waitFor(() => expect(events).toEqual(['user.deactivated']))
      stop()
    })

    test('is rejected if the work ends the transaction, or ignores a failed statement', async () => {
      const client = await pool.connect()
      try {
        await client.query('begin')
        const ending = server.transaction(client, async () => void (await client.query('commit')))
        await expect(ending).rejects.toThrow()
        await client.query('begin')
        const ignoring = server.transaction(client, async () => {
          await client.query('select 1 / 0').catch(() => undefined)
        })
        await expect(ignoring).rejects.toThrow()
        // The savepoint has undone the failed statement, so the transaction of the application continues.
        expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
      } finally {
        await client.query('rollback')
        client.release()
      }
    })

    test('rolls back only its own writes if the work throws', async () => {
      const user = await newUser(server)
      await inTransaction('commit', async (client) => {
        await client.query("insert into team values ('kept')")
        const failing = server.transaction(client, async (tx) => {
          await tx.tokens.createPersonal('Laptop', user.id)
          await client.query("insert into team values ('kept')")
        })
        await expect(failing).rejects.toThrow('duplicate key')
        await client.query("insert into team values ('kept too')")
      })
      expect(await teams()).toEqual(expect.arrayContaining(['kept', 'kept too']))
      const { items } = await server.personalTokens.listByUser(user.id, { after: null, limit: 10 })
      expect(items).toEqual([])
    })

    test('deletes a user together with the rows of the application', async () => {
      const user = await newUser(server)
      const { accessToken } = await server.tokens.createPersonal('Laptop', user.id)
      await inTransaction('commit', async (client) => {
        await server.transaction(client, (tx) => tx.users.delete(user.id))
        expect(await server.getToken({ accessToken })).toBeDefined()
      })
      expect(await server.getToken({ accessToken })).toBeUndefined()
      await vi.waitFor(async () =>
        expect(
          await database.query('select 1 from oauth2server_token where user_id = $1', [user.id]),
        ).toEqual([]),
      )
    })

    test('accepts a client outside of the pool, and a second call in the same transaction', async () => {
      const user = await newUser(server)
      const client = new Client({ connectionString: database.url })
      await client.connect()
      try {
        await client.query('begin')
        for (const name of ['One', 'Two'])
          await server.transaction(client, (tx) => tx.tokens.createPersonal(name, user.id))
        await client.query('commit')
      } finally {
        await client.end()
      }
      const { items } = await server.personalTokens.listByUser(user.id, { after: null, limit: 10 })
      expect(items.map(({ name }) => name).toSorted()).toEqual(['One', 'Two'])
    })

    test('two clients work at the same time, and neither sees the writes of the other', async () => {
      const users = [await newUser(server), await newUser(server)]
      await Promise.all(
        users.map(({ id }) =>
          inTransaction('commit', async (client) => {
            await server.transaction(client, async (tx) => {
              await tx.tokens.createPersonal('Laptop', id)
              const { items } = await tx.personalTokens.listByUser(id, { after: null, limit: 10 })
              expect(items).toHaveLength(1)
            })
          }),
        ),
      )
    })

    test('opens a separate transaction if it is called without a client', async () => {
      const user = await newUser(server)
      const { accessToken } = await server.transaction((tx) =>
        tx.tokens.createPersonal('Laptop', user.id),
      )
      expect(await server.getToken({ accessToken })).toBeDefined()
    })

    test('stores no rows if the connection is lost before the commit', async () => {
      const user = await newUser(server)
      const client = new Client({ connectionString: database.url })
      client.on('error', () => undefined)
      await client.connect()
      await client.query('begin')
      const { rows } = await client.query('select pg_backend_pid() as pid')
      const { accessToken } = await server.transaction(client, (tx) =>
        tx.tokens.createPersonal('Laptop', user.id),
      )
      await database.query('select pg_terminate_backend($1)', [rows[0]?.pid])
      await expect(client.query('commit')).rejects.toThrow()
      expect(await server.getToken({ accessToken })).toBeUndefined()
    })

    describe('throws a clear error', () => {
      const nothing = async () => undefined

      test('without an open transaction, and runs nothing', async () => {
        const client = await pool.connect()
        try {
          const calls: string[] = []
          const run = server.transaction(client, async () => void calls.push('work'))
          await expect(run).rejects.toThrow(/open transaction: run begin first/)
          expect(calls).toEqual([])
        } finally {
          client.release()
        }
      })

      test('for a client of another database, and for a search_path without the tables', async () => {
        await using other = await makeDatabase().then((made) => ({
          ...made,
          [Symbol.asyncDispose]: made.drop,
        }))
        const client = new Client({ connectionString: other.url })
        await client.connect()
        try {
          await client.query('begin')
          await expect(server.transaction(client, nothing)).rejects.toThrow(/another database/)
          // The transaction of the application continues.
          expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
        } finally {
          await client.end()
        }
        await inTransaction('rollback', async (inside) => {
          await inside.query('set local search_path = pg_catalog')
          await expect(server.transaction(inside, nothing)).rejects.toThrow(/search_path/)
        })
      })

      test('if it already runs on the client', async () => {
        await inTransaction('commit', async (client) => {
          await server.transaction(client, async () => {
            const inner = server.transaction(client, nothing)
            await expect(inner).rejects.toThrow(/already runs on this client/)
          })
          await server.transaction(client, nothing)
        })
      })

      test('with SQLite', async () => {
        const onFile = await createTestServer({ store: sqlite(':memory:') })
        const client = await pool.connect()
        try {
          await expect(onFile.transaction(client, nothing)).rejects.toThrow(
            /needs the store postgres/,
          )
        } finally {
          client.release()
          await onFile.close()
        }
      })
    })

    test('finds the tables of the option schema, and restores the search_path', async () => {
      const own = await createTestServer({ store: postgres(database.url, { schema: 'auth' }) })
      try {
        const user = await own.users.create({ email: 'ada@example.org', password: null })
        let accessToken = ''
        await inTransaction('commit', async (client) => {
          const path = async () => (await client.query('show search_path')).rows
          const before = await path()
          const made = await own.transaction(client, async (tx) => {
            await client.query("insert into team values ('with a schema')")
            return tx.tokens.createPersonal('Laptop', user.id)
          })
          accessToken = made.accessToken
          expect(await path()).toEqual(before)
        })
        expect(await own.getToken({ accessToken })).toBeDefined()
        expect(await server.getToken({ accessToken })).toBeUndefined()
        expect(await teams()).toContain('with a schema')
      } finally {
        await own.close()
      }
    })
  })
})

import { Kysely, sql } from 'kysely'
import { Client } from 'pg'
import { createAuthorizationServer, type LogEntry, StoreUnavailable } from 'svc-oauth2server'
import { describe, expect, test, vi } from 'vitest'
import { postgres } from '../../src/store/postgres.ts'
import { PostgresDialect } from '../../src/store/sql/postgres/dialect.ts'
import { MigrationAdapter } from '../../src/store/sql/postgres/migrate.ts'
import { pooledConnections } from '../../src/store/sql/postgres/pool.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { secretKey } from '../support/server.ts'
import { storeContract } from './contract.ts'
import { largeKeys } from './large-keys.ts'
import { aClient, aUser, consentRow, sessionRow, tokenRow } from './rows.ts'

describe.skipIf(await lacks('postgres'))('PostgreSQL', () => {
  storeContract(
    'PostgreSQL',
    async () => {
      const database = await makeDatabase()
      return { opener: postgres(database.url), cleanUp: () => database.drop() }
    },
    { isShared: true },
  )

  test('the sweeper does not delete a row whose expiry is extended while the statement waits for the lock', async () => {
    const database = await makeDatabase()
    const store = await postgres(database.url).open()
    const other = new Client({ connectionString: database.url })
    try {
      await store.migrate()
      await other.connect()
      const client = await aClient(store)
      const row = tokenRow({ clientId: client, expires: 5 })
      await store.tokens.insert(row)
      const session = sessionRow({ userId: await aUser(store), expiresAt: 5, lastSeenAt: 5 })
      await store.sessions.insert(session)
      await store.transients.put('key', 'value', 5, 1)
      await other.query('begin')
      await other.query('update oauth2server_token set ends_at = 99')
      await other.query('update oauth2server_session set expires_at = 99')
      await other.query('update oauth2server_transient set expires_at = 99')
      const sweeps = Promise.all([
        store.tokens.deleteExpired(10, 9),
        store.sessions.deleteExpired({ now: 10, idleSince: 0 }, 9),
        store.transients.deleteExpired(10, 9),
      ])
      await vi.waitFor(async () => {
        const [waiting] = await database.query(
          `select count(*)::int as count from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database()`,
        )
        expect(waiting?.count).toBeGreaterThanOrEqual(3)
      })
      await other.query('commit')
      expect(await sweeps).toEqual([0, 0, 0])
    } finally {
      await other.end()
      await store.close()
      await database.drop()
    }
  })

  test('transactions that read a consent do not wait for each other, and a change waits for these transactions', async () => {
    const database = await makeDatabase()
    const store = await postgres(database.url).open()
    try {
      await store.migrate()
      const [userId, clientId] = [await aUser(store), await aClient(store)]
      await store.consents.put(consentRow({ userId, clientId }))
      const order: string[] = []
      let change: Promise<unknown> | undefined
      await store.transaction(async (one) => {
        await one.consents.find({ userId, clientId }, { lock: 'share' })
        await store.transaction((other) =>
          other.consents.find({ userId, clientId }, { lock: 'share' }),
        )
        change = store.consents.delete(userId, clientId).then(() => order.push('deleted'))
        await vi.waitFor(async () => {
          const [waiting] = await database.query(
            `select count(*)::int as count from pg_stat_activity
            where wait_event_type = 'Lock' and datname = current_database()`,
          )
          expect(waiting?.count).toBe(1)
        })
        order.push('read')
      })
      await change
      expect(order).toEqual(['read', 'deleted'])
    } finally {
      await store.close()
      await database.drop()
    }
  })

  test('ping: rejects a read-only database, such as a replica before its promotion', async () => {
    const database = await makeDatabase()
    const [row] = await database.query('select current_database() as name')
    const readOnly = `set default_transaction_read_only`
    const others =
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
    const store = await postgres(database.url).open()
    try {
      await store.ping()
      await database.query(`alter database ${row?.name} ${readOnly} = on`)
      await database.query(others)
      const refused = () => expect(store.ping()).rejects.toThrow(/read-only/)
      await vi.waitFor(refused, { timeout: 60_000 })
      await expect(store.ping()).rejects.toThrow(StoreUnavailable)
      await expect(postgres(database.url).open()).rejects.toThrow(/cannot be used \(.*read-only/)

      await database.query(
        `begin read write; alter database ${row?.name} ${readOnly} = off; commit`,
      )
      await database.query(others)
      await vi.waitFor(() => store.ping(), { timeout: 60_000 })
    } finally {
      await store.close()
      await database.drop()
    }
  })

  test('a user key above 2^53 matches no other user', async () => {
    const database = await makeDatabase()
    try {
      await largeKeys(postgres(database.url), (sql) => database.query(sql))
    } finally {
      await database.drop()
    }
  })

  test('a process that was blocked inside a transaction gets StoreUnavailable, and can then use the database again', async () => {
    await using database = await ownDatabase()
    const store = await postgres(database.url, { statementTimeout: 600 }).open()
    try {
      await store.migrate()
      const stopped = store.transaction(async (tx) => {
        await tx.clients.find('nobody')
        // The process reads nothing while it is blocked, so the next statement receives the timeout error of the
        // server.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
        await tx.clients.find('nobody')
      })
      await expect(stopped).rejects.toThrow(StoreUnavailable)
      expect(await store.clients.find('nobody')).toBeUndefined()
    } finally {
      await store.close()
    }
  })

  test('start-up reports that it waits for another node that migrates', async () => {
    await using database = await ownDatabase()
    const other = new Client({ connectionString: database.url })
    await other.connect()
    // Acquire the same lock as the migration.
    await other.query('select pg_advisory_lock(3853314791062309107)')
    const log: LogEntry[] = []
    const server = await createAuthorizationServer({
      issuer: 'http://localhost:3000',
      secretKeys: [secretKey],
      store: postgres(database.url),
      scopes: [],
      log: (entry) => {
        log.push(entry)
        if (entry.event === 'migration.waiting') void other.end()
      },
    })
    await server.close()
    expect(log.filter(({ event }) => event === 'migration.waiting')).toMatchObject([
      { level: 'info' },
    ])
  })

  test('a migrating node detects a cut connection within half a minute, also outside of a transaction', async () => {
    const adapter = new MigrationAdapter(() => undefined)
    await using database = await ownDatabase()
    const connections = pooledConnections({ connectionString: database.url })
    const dialect = new PostgresDialect(connections, { prepare: false, adapter })
    const db = new Kysely<unknown>({ dialect })
    await db.connection().execute(async (connection) => {
      await adapter.acquireMigrationLock(connection)
      for (const [name, value] of [
        ['idle', '10'],
        ['interval', '5'],
        ['count', '3'],
      ])
        expect((await sql.raw(`show tcp_keepalives_${name}`).execute(connection)).rows).toEqual([
          { [`tcp_keepalives_${name}`]: value },
        ])
    })
    await db.destroy()
  })

  test.each([0, -1, 0.5, Number.NaN, 3_600_001])(
    'rejects a statementTimeout of %d',
    (statementTimeout) => {
      const call = () => postgres('postgres://127.0.0.1:1/none', { statementTimeout })
      expect(call).toThrow(TypeError)
      expect(call).toThrow('statementTimeout must be whole milliseconds from 1 to 3,600,000')
    },
  )
})

const ownDatabase = async () => {
  const database = await makeDatabase()
  return { ...database, [Symbol.asyncDispose]: () => database.drop() }
}

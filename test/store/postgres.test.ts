import { Kysely, sql } from 'kysely'
import { Client } from 'pg'
import {
  createAuthorizationServer,
  type LogEntry,
  StoreUnavailable,
  StoreUnusable,
} from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { postgres } from '../../src/store/postgres.ts'
import { PostgresDialect } from '../../src/store/sql/postgres-dialect.ts'
import { MigrationAdapter } from '../../src/store/sql/postgres-migrate.ts'
import { pooledConnections } from '../../src/store/sql/postgres-pool.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { secretKey } from '../support/server.ts'
import { storeContract } from './contract.ts'
import { largeKeys } from './large-keys.ts'

describe.skipIf(await lacks('postgres'))('PostgreSQL', () => {
  storeContract(
    'PostgreSQL',
    async () => {
      const database = await makeDatabase()
      return { opener: postgres(database.url), cleanUp: () => database.drop() }
    },
    { isShared: true },
  )

  test('a key of a user that is too large for a number is nobody else’s', async () => {
    const database = await makeDatabase()
    try {
      await largeKeys(postgres(database.url), (sql) => database.query(sql))
    } finally {
      await database.drop()
    }
  })

  test('a process that stood still inside a transaction is told of an outage, and works again', async () => {
    await using database = await ownDatabase()
    const store = await postgres(database.url, { statementTimeout: 600 }).open()
    try {
      await store.migrate()
      const stopped = store.transaction(async (tx) => {
        await tx.clients.find('nobody')
        // Nothing is read meanwhile, so what the server says of it is the answer to the next statement.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
        await tx.clients.find('nobody')
      })
      await expect(stopped).rejects.toThrow(StoreUnavailable)
      expect(await store.clients.find('nobody')).toBeUndefined()
    } finally {
      await store.close()
    }
  })

  test('a start that waits for another node that migrates says so', async () => {
    await using database = await ownDatabase()
    const other = new Client({ connectionString: database.url })
    await other.connect()
    // As Kysely takes it.
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

  test('who migrates finds out within half a minute that its node was cut off, also outside of a transaction', async () => {
    const adapter = new MigrationAdapter(() => undefined)
    await using database = await ownDatabase()
    const connections = pooledConnections({ connectionString: database.url })
    const dialect = new PostgresDialect(connections, { prepare: false, adapter })
    const db = new Kysely<unknown>({ dialect })
    await db.connection().execute(async (connection) => {
      await adapter.acquireMigrationLock(connection, {
        lockTable: '',
        lockRowId: '',
      })
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

  test.each([0, -1, 0.5, Number.NaN])(
    'a statementTimeout of %d is refused',
    async (statementTimeout) => {
      const opening = postgres('postgres://127.0.0.1:1/none', { statementTimeout }).open()
      await expect(opening).rejects.toThrow(StoreUnusable)
      await expect(opening).rejects.toThrow('statementTimeout')
    },
  )
})

const ownDatabase = async () => {
  const database = await makeDatabase()
  return { ...database, [Symbol.asyncDispose]: () => database.drop() }
}

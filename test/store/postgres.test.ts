import { Client } from 'pg'
import { StoreUnavailable } from 'svc-oauth2server'
import { describe, expect, test, vi } from 'vitest'
import { postgres } from '../../src/store/postgres.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { storeContract } from './contract.ts'
import { largeKeys } from './large-keys.ts'
import { aClient, aUser, sessionRow, tokenRow } from './rows.ts'

describe.skipIf(await lacks('postgres'))('PostgreSQL', () => {
  storeContract(
    'PostgreSQL',
    async () => {
      const database = await makeDatabase()
      return { opener: postgres(database.url), cleanUp: () => database.drop() }
    },
    { isShared: true },
  )

  test('what is revived while the sweep waits for it stays', async () => {
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
        store.sessions.deleteExpired(10, 0, 9),
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

  test('ping: a database that takes no writes, as before a promotion, is not there', async () => {
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
      await vi.waitFor(refused, { timeout: 10_000 })
      await expect(store.ping()).rejects.toThrow(StoreUnavailable)
      await expect(postgres(database.url).open()).rejects.toThrow(/cannot be used \(.*read-only/)

      await database.query(
        `begin read write; alter database ${row?.name} ${readOnly} = off; commit`,
      )
      await database.query(others)
      await vi.waitFor(() => store.ping(), { timeout: 10_000 })
    } finally {
      await store.close()
      await database.drop()
    }
  })

  test('a key of a user that is too large for a number is nobody else’s', async () => {
    const database = await makeDatabase()
    try {
      await largeKeys(postgres(database.url), (sql) => database.query(sql))
    } finally {
      await database.drop()
    }
  })
})

import { StoreUnavailable } from 'svc-oauth2server'
import { describe, expect, test, vi } from 'vitest'
import { postgres } from '../../src/store/postgres.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
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

import { StoreUnavailable, StoreUnusable } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
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

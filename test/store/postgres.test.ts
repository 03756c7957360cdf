import { describe, test } from 'vitest'
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
})

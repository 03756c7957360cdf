import { table } from 'svc-oauth2server'
import { createTestServer } from 'svc-oauth2server/testing'
import { describe, expect, test } from 'vitest'
import { postgres } from '../../src/store/postgres.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { storeContract } from './contract.ts'

describe.skipIf(await lacks('postgres'))('PostgreSQL', () => {
  storeContract(
    'PostgreSQL',
    async () => {
      const database = await makeDatabase()
      return { opener: postgres(database.url), cleanUp: () => database.drop() }
    },
    { isShared: true },
  )

  // What other systems give out is often that large; 2^53 and 2^53 + 1 are one number in JavaScript.
  test('a key of a user that is too large for a number is nobody else’s', async () => {
    const database = await makeDatabase()
    const [one, two] = ['9007199254740992', '9007199254740993'] as const
    await database.query('create table people (id bigint primary key, email text not null)')
    await database.query(
      `insert into people values (${one}, 'one@example.org'), (${two}, 'two@example.org')`,
    )
    const server = await createTestServer({
      store: postgres(database.url),
      users: table('people', { id: 'id', email: 'email', foreignKeys: true }),
    })
    try {
      for (const [id, email] of [
        [one, 'one@example.org'],
        [two, 'two@example.org'],
      ] as const) {
        expect(await server.users.find(id)).toMatchObject({ id, email })
        const { accessToken, userId } = await server.tokens.createPersonal('Laptop', id)
        expect(userId).toBe(id)
        const found = await server.getToken({ accessToken })
        expect(found).toMatchObject({ token: { userId: id }, user: { id, email } })
      }
    } finally {
      await server.close()
      await database.drop()
    }
  })
})

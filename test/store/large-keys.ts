import { type StoreOpener, table } from 'svc-oauth2server'
import { createTestServer } from 'svc-oauth2server/testing'
import { expect } from 'vitest'

// Keys of other systems may exceed 2^53. In JavaScript, 2^53 and 2^53 + 1 are the same number.
const users = [
  { id: '9007199254740992', email: 'one@example.org' },
  { id: '9007199254740993', email: 'two@example.org' },
]

/**
 * Creates a user table of an application in the empty database, and tests that look-ups distinguish users with large
 * keys.
 */
export const largeKeys = async (
  store: StoreOpener,
  query: (sql: string) => Promise<unknown>,
): Promise<void> => {
  await query('create table people (id bigint primary key, email text not null)')
  for (const { id, email } of users) await query(`insert into people values (${id}, '${email}')`)
  const server = await createTestServer({
    store,
    users: table('people', { id: 'id', email: 'email', foreignKeys: true }),
    resourceOwner: () => null,
    loginUrl: '/enter',
  })
  try {
    for (const { id, email } of users) {
      expect(await server.users.find(id)).toMatchObject({ id, email })
      const { accessToken, userId } = await server.tokens.createPersonal('Laptop', id)
      expect(userId).toBe(id)
      const found = await server.getToken({ accessToken })
      expect(found).toMatchObject({ token: { userId: id }, user: { id, email } })
      const { client } = await server.clients.create({
        name: 'Client',
        userId: id,
        redirectUris: ['https://client.example/cb'],
      })
      expect(await server.clients.find(client.clientId)).toMatchObject({ userId: id })
      await server.users.deleted(id)
      expect(await server.clients.find(client.clientId)).toBeUndefined()
      expect(await server.getToken({ accessToken })).toBeUndefined()
    }
  } finally {
    await server.close()
  }
}

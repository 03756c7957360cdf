import { expect, test } from 'vitest'
import { clientKeyOf, execute } from '../../support/database.ts'
import { startServer } from '../../support/server.ts'
import { at, Person } from './support.ts'

test('pages and JSON count at most 1,001 users of a client, and client.getUsers() counts all users', async () => {
  await using app = await startServer()
  const { clientId } = await app.client()
  const insert = (from: number, to: number) =>
    execute(
      app.database,
      `with recursive n(i) as (select ${from} union all select i + 1 from n where i < ${to})
      insert into oauth2server_token (client_key, token_type, access_token, access_token_digest, expires, ends_at, scopes, is_personal, is_internal, created_at)
      select ?, 'bearer', 'x', 'digest-' || i, 9e15, 9e15, '', 0, 0, 1 from n`,
      clientKeyOf(app.database, clientId),
    )
  const person = await Person.logIn(app)
  const shown = async (path: string, language = 'en') =>
    (await person.get(path, { 'accept-language': language })).html
  insert(1, 1_000)
  expect((await person.get(at.client(clientId))).fact('Users')).toBe('1,000')
  insert(1_001, 1_500)
  expect((await person.get(at.client(clientId))).fact('Users')).toBe('more than 1,000')
  expect(await shown(at.list)).toContain('more than 1,000')
  expect(await shown(at.client(clientId), 'de')).toContain('mehr als 1.000')
  const json = await person.get(at.client(clientId), {
    accept: 'application/json',
    authorization: `Bearer ${person.session.jwt}`,
  })
  expect(JSON.parse(json.html).users).toBe(1_001)
  const client = await app.server.clients.find(clientId)
  expect(await client?.getUsers()).toBe(1_500)
  expect(await client?.getUsers(10)).toBe(10)
})

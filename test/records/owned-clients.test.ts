import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allPages } from '../store/pages.ts'
import { execute } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { authorizationOf } from '../support/tokens.ts'

const firstPage = { after: null, limit: 50 }

describe('the clients that a user registered', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  const namesOf = async (userId: TestServer['user']['id'], limit: number) =>
    (await allPages((cursor) => app.server.clients.ofOwner(userId, cursor), limit)).map(
      ({ client }) => client.name,
    )

  test('are listed newest first, each with its number of users', async () => {
    const owner = await app.server.users.create({ email: 'owner@example.org', password: null })
    await app.client({ name: 'Somebody else’s' })
    await app.client({ name: 'Nobody’s', userId: null })
    await app.server.personalTokens.create('Personal', owner.id)
    const used = await app.client({ name: 'Used', userId: owner.id })
    app.advance(1)
    await app.client({ name: 'New', userId: owner.id })
    await authorizationOf(app, used.clientId)
    await authorizationOf(app, used.clientId)
    const { items, next } = await app.server.clients.ofOwner(owner.id, firstPage)
    expect(next).toBeNull()
    expect(items.map(({ client, users }) => [client.name, users])).toEqual([
      ['New', 0],
      ['Used', 2],
    ])
    const [first] = items
    expect(first?.client.owner).toMatchObject({ id: owner.id, email: 'owner@example.org' })
    expect(await first?.client.getUsers()).toBe(0)
  })

  test('are listed once for any page size, even if all clients have the same creation time', async () => {
    const owner = await app.server.users.create({ email: 'many@example.org', password: null })
    const names = Array.from({ length: 9 }, (_, index) => `C${index}`)
    for (const name of names) await app.client({ name, userId: owner.id })
    const order = await namesOf(owner.id, 50)
    expect(order.toSorted()).toEqual(names)
    for (const limit of [1, 2, 4, 9]) expect(await namesOf(owner.id, limit)).toEqual(order)
  })

  test('are listed for their new owner after the owner changed', async () => {
    const [one, other] = [
      await app.server.users.create({ email: 'one@example.org', password: null }),
      await app.server.users.create({ email: 'two@example.org', password: null }),
    ]
    const { clientId } = await app.client({ name: 'Moved', userId: one.id })
    await app.server.clients.update(clientId, { userId: other.id })
    expect(await namesOf(one.id, 5)).toEqual([])
    expect(await namesOf(other.id, 5)).toEqual(['Moved'])
  })

  test('are not listed if the owner of the row was altered without the key', async () => {
    const [one, other] = [
      await app.server.users.create({ email: 'mine@example.org', password: null }),
      await app.server.users.create({ email: 'thief@example.org', password: null }),
    ]
    const { clientId } = await app.client({ name: 'Taken', userId: one.id })
    const move = 'update oauth2server_client set user_id = ? where client_id = ?'
    execute(app.database, move, Number(other.id), clientId)
    expect(await namesOf(one.id, 5)).toEqual([])
    expect(await namesOf(other.id, 5)).toEqual([])
    expect(app.log).toContainEqual(expect.objectContaining({ event: 'client.tampered', clientId }))
  })

  test('have registered optional scopes without duplicates', async () => {
    const { client } = await app.server.clients.create({
      name: 'Optional',
      optionalScopes: ['notes:write', 'notes:read', 'notes:write'],
    })
    expect(client.optionalScopes).toEqual(['notes:write', 'notes:read'])
    await app.server.clients.update(client.clientId, { name: 'Renamed' })
    const found = await app.server.clients.find(client.clientId)
    expect(found?.optionalScopes).toEqual(['notes:write', 'notes:read'])
    await expect(
      app.server.clients.update(client.clientId, { optionalScopes: ['nope'] }),
    ).rejects.toThrow('"nope" does not exist')
    await app.server.clients.update(client.clientId, { optionalScopes: [] })
    expect((await app.server.clients.find(client.clientId))?.optionalScopes).toEqual([])
  })

  test.each([
    [{ name: ' ' }, { problem: 'nameMissing' }],
    [{ name: 'x'.repeat(41) }, { problem: 'nameTooLong', value: 40 }],
    [{ name: 'a\u202eb' }, { problem: 'unseenCharacter' }],
    [{ name: `a${'\u0301'.repeat(31)}` }, { problem: 'tooManyMarks' }],
    [{ description: 'x'.repeat(4_001) }, { problem: 'descriptionTooLong', value: 4_000 }],
    [{ description: 'a\u0000' }, { problem: 'unseenCharacter' }],
    [{ website: 'http://example.org' }, { problem: 'websiteInvalid' }],
    [
      { redirectUris: '\nhttps://a.example/cb\r\n \nhttp://b.example/cb' },
      { problem: 'redirectUriNotHttps', line: 4 },
    ],
    [
      { redirectUris: ['https://a.example/cb', 'https://a.example/#f'] },
      { problem: 'redirectUriFragment', line: 2 },
    ],
    [
      { redirectUris: `https://a.example/${'x'.repeat(2_000)}` },
      { problem: 'redirectUriTooLong', value: 2_000, line: 1 },
    ],
    [
      { redirectUris: Array.from({ length: 51 }, (_, index) => `https://a.example/${index}`) },
      { problem: 'tooManyRedirectUris', value: 50 },
    ],
  ])(
    'cannot be created if a field is invalid: the error has the detail $1',
    async (input, detail) => {
      await expect(app.server.clients.create({ name: 'Client', ...input })).rejects.toThrow(
        expect.objectContaining({ name: 'InvalidField', detail }),
      )
    },
  )
})

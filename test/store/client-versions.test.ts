import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClientChanged } from '../../src/store/contract/errors.ts'
import { postgres } from '../../src/store/postgres.ts'
import type { OpenStore } from '../../src/store/store.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase, type TestDatabase } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { tokenRequest } from '../support/user-agent.ts'
import { aClient, aUser, tokenRow } from './rows.ts'

/** The keys, and columns of users that no look-up of a client reads. */
const unread = ['id', 'client_key', 'password_hash']

// A node caches clients. The statement that inserts a token compares the cached client with the database.

describe.skipIf(await lacks('postgres'))('a client that was read before', () => {
  let database: TestDatabase
  let store: OpenStore
  beforeAll(async () => {
    database = await makeDatabase()
    store = await postgres(database.url).open()
    await store.migrate()
  })
  afterAll(async () => {
    await store?.close()
    await database?.drop()
  })

  const recalled = async () => {
    const userId = await aUser(store)
    const clientId = await aClient(store, { userId })
    await store.clients.find(clientId)
    const version = store.recallClient?.(clientId)?.version ?? ''
    return { userId, clientId, version }
  }
  const columnsOf = async (table: string) =>
    (
      await database.query(
        `select column_name as name, data_type as type from information_schema.columns where table_name = '${table}'`,
      )
    ).map(({ name, type }) => ({ name: String(name), type: String(type) }))

  test.each(['oauth2server_client', 'oauth2server_user'])(
    'receives no token after any column of %s has changed [T1710]',
    async (table) => {
      const columns = await columnsOf(table)
      const isOfUsers = table.endsWith('user')
      expect(columns.length).toBeGreaterThan(7)
      for (const { name, type } of columns) {
        if (unread.includes(name) || (isOfUsers && name === 'created_at')) continue
        const { clientId, userId, version } = await recalled()
        const token = () => tokenRow({ clientId, userId })
        expect(await store.tokens.insert(token(), version), name).toBeGreaterThan(0)
        const value = type === 'text' ? `coalesce(${name}, '') || '.'` : `coalesce(${name}, 0) + 1`
        const where = table.endsWith('client') ? `client_id = '${clientId}'` : `id = ${userId}`
        await database.query(`update ${table} set ${name} = ${value} where ${where}`)
        const other = await recalled()
        const refused = token()
        // Both tokens are in one batch.
        const [first, second] = await Promise.allSettled([
          store.tokens.insert(refused, version),
          store.tokens.insert(tokenRow(other), other.version),
        ])
        expect(first, name).toMatchObject({ status: 'rejected', reason: expect.any(ClientChanged) })
        expect(second, name).toMatchObject({ status: 'fulfilled', value: expect.any(Number) })
        const where2 = `access_token_digest = '${refused.accessDigest}'`
        expect(await database.query(`select 1 from oauth2server_token where ${where2}`)).toEqual([])
      }
    },
  )

  test('receives no token after the deletion of the client or its owner [T1711]', async () => {
    for (const table of ['client', 'user'] as const) {
      const { clientId, userId, version } = await recalled()
      const row = tokenRow({ clientId, userId })
      const where = table === 'client' ? `client_id = '${clientId}'` : `id = ${userId}`
      await database.query(`delete from oauth2server_${table} where ${where}`)
      await expect(store.tokens.insert(row, version)).rejects.toThrow(ClientChanged)
    }
  })

  test('receives no token in a transaction, which has no batches [T1712]', async () => {
    const { clientId, userId, version } = await recalled()
    const row = tokenRow({ clientId, userId })
    const inserted = store.transaction((tx) => tx.tokens.insert(row, version))
    await expect(inserted).rejects.toThrow(ClientChanged)
  })
})

describe.skipIf(await lacks('postgres'))(
  'client_credentials with a client that was read before',
  () => {
    let database: TestDatabase
    let app: TestServer
    let beside: TestServer
    let asked: string[] = []
    let owners = 0
    beforeAll(async () => {
      database = await makeDatabase()
      app = await startServer({
        store: postgres(database.url),
        aroundStore({ name }, run) {
          asked.push(name)
          return run()
        },
      })
      beside = await startServer({ beside: app, store: postgres(database.url) })
    })
    afterAll(async () => {
      await beside?.close()
      await app?.close()
      await database?.drop()
    })

    const machine = async () => {
      owners += 1
      const owner = await app.newUser({ email: `owner-${owners}@example.org` })
      const { client, clientSecret } = await app.server.clients.create({
        name: 'Machine',
        userId: owner.id,
        allowedScopes: ['notes:read', 'notes:write'],
        defaultScopes: ['notes:read'],
      })
      const { clientId } = client
      const ask = async (secret = clientSecret, more: Record<string, string> = {}) => {
        asked = []
        const { status, body } = await tokenRequest(
          app.issuer,
          { grant_type: 'client_credentials', ...more },
          { basic: { clientId, clientSecret: secret } },
        )
        return { status, error: body.error, scope: body.scope }
      }
      const issued = { status: 200, error: undefined, scope: 'notes:read' }
      expect(await ask()).toEqual(issued)
      expect(await ask()).toEqual(issued)
      return { owner, clientId, ask, issued }
    }
    const refused = { status: 401, error: 'invalid_client', scope: undefined }

    test('runs one statement [T1713]', async () => {
      await machine()
      expect(asked).toEqual(['tokens.insert'])
    })

    test.each([
      [
        'disabled',
        (clientId: string) =>
          beside.server.administration.actOnClient(clientId, 'disable', {
            user: beside.user,
            address: '',
          }),
      ],
      ['deleted', (clientId: string) => beside.server.clients.delete(clientId)],
      [
        'given another secret',
        (clientId: string) => beside.server.clients.resetClientSecret(clientId),
      ],
      ['given another ID', (clientId: string) => beside.server.clients.resetClientId(clientId)],
    ])(
      'is rejected from the first request after another node has %s the client [T1714]',
      async (_, act) => {
        const { clientId, ask } = await machine()
        await act(clientId)
        expect(await ask()).toEqual(refused)
      },
    )

    test('is rejected while the owner is inactive, and accepted from the first request after the reactivation [T1715]', async () => {
      const { owner, ask, issued } = await machine()
      await beside.server.users.setActive(owner.id, false)
      expect(await ask()).toEqual(refused)
      await beside.server.users.setActive(owner.id, true)
      expect(await ask()).toEqual(issued)
    })

    test('uses new secrets, new scopes and new limits from the first request after the change [T1716]', async () => {
      const { clientId, ask, issued } = await machine()
      expect(await ask(undefined, { scope: 'notes:write' })).toMatchObject({ scope: 'notes:write' })
      await beside.server.clients.update(clientId, { allowedScopes: ['notes:read'] })
      expect(await ask(undefined, { scope: 'notes:write' })).toMatchObject({
        error: 'invalid_scope',
      })
      await beside.server.clients.update(clientId, { allowedScopes: ['notes:read', 'notes:write'] })
      expect(await ask(undefined, { scope: 'notes:write' })).toMatchObject({ scope: 'notes:write' })
      const { clientSecret } = await beside.server.clients.resetClientSecret(clientId)
      expect(await ask(clientSecret)).toEqual(issued)
    })

    test('calls saveToken of the application once for each request [T1717]', async () => {
      let saved = 0
      await using own = await startServer({
        beside: app,
        store: postgres(database.url),
        saveToken: (data, _request, next) => {
          saved += 1
          return next(data)
        },
      })
      const { client, clientSecret } = await own.server.clients.create({
        name: 'One',
        userId: null,
      })
      const by = { basic: { clientId: client.clientId, clientSecret } }
      for (let request = 1; request <= 3; request += 1) {
        await tokenRequest(own.issuer, { grant_type: 'client_credentials' }, by)
        expect(saved).toBe(request)
      }
    })
  },
)

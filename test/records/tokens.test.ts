import { inspect } from 'node:util'
import { InvalidField, ScopeDoesNotExists } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { count, execute, query } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { authorizationOf, clientOf, statusOf } from '../support/tokens.ts'

describe('token', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  const create = (name = 'Test', options = {}) =>
    app.server.tokens.createPersonal(name, app.user.id, options)
  const row = (id: number) =>
    query(app.database, 'select * from oauth2server_token where id = ?', id)[0]
  const counts = () => [
    count(app.database, 'oauth2server_client'),
    count(app.database, 'oauth2server_token'),
  ]

  describe('create_personal', () => {
    test('rule 3: creates a public, internal client with the name, the user and the scopes of the token [T707]', async () => {
      const token = await create('My laptop', { scopes: ['notes:read', 'user:email'] })
      const client = await clientOf(app, token.clientId)
      expect(client).toMatchObject({
        clientId: expect.stringMatching(/^[A-Za-z0-9]{40}$/),
        name: 'My laptop',
        userId: app.user.id,
        isInternal: true,
        isConfidential: false,
        isPersonal: true,
        defaultScopes: ['notes:read', 'user:email'],
        redirectUris: [],
      })
    })

    test('rule 3: creates a personal token with the given scopes that does not expire [T702]', async () => {
      const token = await create('My laptop', { scopes: ['notes:read', 'notes:read'] })
      expect(token.accessToken).toMatch(/^[A-Za-z0-9]{60}$/)
      expect({ ...token }).toEqual({
        id: expect.any(Number),
        clientId: token.clientId,
        clientKey: token.clientKey,
        userId: app.user.id,
        authorizationId: null,
        tokenType: 'bearer',
        expires: null,
        refreshExpires: null,
        scopes: ['notes:read'],
        isPersonal: true,
        isInternal: false,
        createdAt: app.now(),
        resources: [],
        keyThumbprint: null,
        sector: null,
        loginDigest: null,
        parentId: null,
      })
      const found = await app.server.tokens.find({ accessToken: token.accessToken })
      expect({ ...found?.token }).toEqual({ ...token })
      expect(found?.user?.id).toBe(app.user.id)
    })

    test('by default, scopes are empty and is_internal is false, and the given is_internal is stored [T701]', async () => {
      expect(await create()).toMatchObject({ scopes: [], isInternal: false })
      const token = await create('Internal', { isInternal: true })
      expect(token.isInternal).toBe(true)
      expect((await app.server.tokens.find(token))?.token.isInternal).toBe(true)
    })

    test('decision §4.5 application code may grant internal scopes', async () => {
      const token = await create('Internal', { scopes: ['test:scope', 'notes:read'] })
      expect(token.scopes).toEqual(['test:scope', 'notes:read'])
      expect(token.getVisibleScopes()).toEqual(['notes:read'])
    })

    test('rule 4: a personal token remains valid after years, like an API key [T631]', async () => {
      const { accessToken } = await create()
      await using app2 = await startServer({
        beside: app,
        clock: () => app.now() + 100 * 365 * 86_400_000,
      })
      expect(await statusOf(app2, accessToken)).toBe(200)
      expect(await statusOf(app, accessToken)).toBe(200)
    })

    test('accepts an optional lifetime of 1 second to 10 years [T708]', async () => {
      const token = await create('Short', { expiresIn: 60 })
      expect(token.expires).toBe(app.now() + 60_000)
      for (const expiresIn of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 315_360_001, '60'])
        await expect(create('Short', { expiresIn })).rejects.toThrow(
          expect.objectContaining({ field: 'expires_in' }),
        )
    })

    test('returns the value once, and neither the log, nor JSON, nor a later look-up contains the value [T709]', async () => {
      const token = await create()
      const { accessToken } = token
      expect(Object.keys(token)).not.toContain('accessToken')
      for (const text of [
        JSON.stringify(token),
        inspect(token, { depth: 9 }),
        JSON.stringify({ ...token }),
        JSON.stringify(await app.server.tokens.find({ accessToken })),
      ])
        expect(text).not.toContain(accessToken)
      expect(JSON.stringify(row(token.id))).not.toContain(accessToken)
    })

    test.each([
      [
        'an unregistered scope',
        () => create('Test', { scopes: ['notes:read', 'nope'] }),
        ScopeDoesNotExists,
      ],
      ['a name without a value', () => create(' '), InvalidField],
      ['a name of 41 characters', () => create('x'.repeat(41)), InvalidField],
      ['a deceptive name', () => create('a\u202eb'), InvalidField],
      ['an unknown user', () => app.server.tokens.createPersonal('Test', 4711), InvalidField],
    ])('rejects %s, and stores nothing [T703]', async (_, attempt, error) => {
      const before = counts()
      await expect(attempt()).rejects.toThrow(error)
      expect(counts()).toEqual(before)
    })

    test('accepts a user ID as text, and converts the ID to the type of the user key', async () => {
      const token = await app.server.tokens.createPersonal('Test', String(app.user.id))
      expect(token.userId).toBe(app.user.id)
      expect(await statusOf(app, token.accessToken)).toBe(200)
    })

    test('accepts a repeated name, and a look-up by name finds only tokens of the user', async () => {
      const other = await app.server.users.create({ email: 'other@example.org', password: null })
      const [one, two] = [await create('Twin'), await create('Twin')]
      await app.server.tokens.createPersonal('Twin', other.id)
      const named = await app.server.tokens.personalNamed(app.user.id, 'Twin')
      expect([...named].sort((a, b) => a - b)).toEqual([one.id, two.id])
      expect(await app.server.tokens.personalNamed(app.user.id, 'nope')).toEqual([])
    })

    test('accepts the arguments of the specification in their order [T1061]', async () => {
      const { createPersonal } = app.server.tokens
      const create = createPersonal.bind(app.server.tokens)
      const token = await create('In order', app.user.id, ['notes:read'], true)
      expect(token.scopes).toEqual(['notes:read'])
      expect(token.isInternal).toBe(true)
      expect((await create('Without scopes', app.user.id, [])).isInternal).toBe(false)
    })
  })

  describe('create_personal in a transaction', () => {
    test('stores nothing if the outer transaction fails [T705]', async () => {
      const before = counts()
      let accessToken = ''
      await expect(
        app.server.transaction(async (tx) => {
          accessToken = (await tx.tokens.createPersonal('Lost', app.user.id)).accessToken
          expect(await tx.tokens.find({ accessToken })).toBeDefined()
          throw new Error('the outer transaction fails')
        }),
      ).rejects.toThrow('the outer transaction fails')
      expect(counts()).toEqual(before)
      expect(await app.server.tokens.find({ accessToken })).toBeUndefined()
    })

    test('uses a savepoint, so that the outer transaction can continue after a failure [T706]', async () => {
      const failing = await startServer({
        beside: app,
        aroundStore: async (operation, run) => {
          const result = await run()
          if (operation.name === 'tokens.insert' && fail)
            throw new Error('after the client, after the token')
          return result
        },
      })
      await using _ = failing
      let fail = false
      const before = counts()
      await failing.server.transaction(async (tx) => {
        await tx.tokens.createPersonal('First', app.user.id)
        fail = true
        await expect(tx.tokens.createPersonal('Second', app.user.id)).rejects.toThrow(
          'after the client',
        )
        fail = false
        await tx.transaction((inner) => inner.tokens.createPersonal('Third', app.user.id))
      })
      expect(counts()).toEqual(before.map((rows) => rows + 2))
      expect(await app.server.tokens.personalNamed(app.user.id, 'Second')).toEqual([])
    })
  })

  describe('the fields of a token', () => {
    test('contain the type bearer, a lifetime of one hour, the scopes, and null for a missing refresh token [T695]', async () => {
      const { clientId } = await app.client()
      const issued = await authorizationOf(app, clientId)
      expect(issued.token).toMatchObject({
        tokenType: 'bearer',
        expires: app.now() + 3_600_000,
        scopes: ['notes:read'],
        isPersonal: false,
        isInternal: false,
      })
      expect(issued.expiresIn).toBe(3600)
      const client = await clientOf(app, clientId)
      const alone = await app.server.tokens.issue({
        type: 'client',
        client,
        subject: null,
        scopes: [],
      })
      expect(alone).toMatchObject({
        refreshToken: null,
        token: { userId: null, refreshExpires: null, scopes: [] },
      })
      expect(row(alone.token.id)).toMatchObject({
        token_type: 'bearer',
        refresh_token: null,
        refresh_token_digest: null,
        user_id: null,
        scopes: '',
      })
    })

    test('are encrypted in the database, so that equal values have different ciphertexts [T696]', async () => {
      const { clientId } = await app.client()
      const { token, accessToken, refreshToken } = await authorizationOf(app, clientId)
      const stored = row(token.id) ?? {}
      expect(stored.access_token).toMatch(/^[0-9a-f]{8}\.[A-Za-z0-9_-]+$/)
      expect(String(stored.access_token).length).toBeLessThanOrEqual(255)
      expect(JSON.stringify(stored)).not.toContain(accessToken)
      expect(JSON.stringify(stored)).not.toContain(refreshToken)
    })

    test('limits: contain at most the specified 255 characters with the longest configurable lengths [T698]', async () => {
      await using long = await startServer({
        clientIdSaltLen: 255,
        clientSecretSaltLen: 255,
        tokenPersonalSaltLen: 255,
      })
      const { client, clientSecret } = await long.server.clients.create({ name: 'Long' })
      expect([client.clientId.length, clientSecret.length]).toEqual([255, 255])
      const { accessToken } = await long.server.tokens.createPersonal('Long', long.user.id)
      expect(accessToken).toHaveLength(255)
      expect(await statusOf(long, accessToken)).toBe(200)
    })

    test('get_token: identify a token, including personal tokens, by its access token or its refresh token [T742]', async () => {
      const { find } = app.server.tokens
      const get = find.bind(app.server.tokens)
      const { accessToken, refreshToken, token } = await authorizationOf(
        app,
        (await app.client()).clientId,
      )
      expect((await get({ accessToken }))?.token.id).toBe(token.id)
      expect((await get({ refreshToken }))?.token.id).toBe(token.id)
      expect(await get({ accessToken: 'nope', refreshToken })).toBeUndefined()
      expect(await get({ accessToken: refreshToken })).toBeUndefined()
      expect(await get({ refreshToken: accessToken })).toBeUndefined()
      expect(await get({ accessToken: '' })).toBeUndefined()
      expect(await get({})).toBeUndefined()
      const personal = await create()
      expect((await get({ accessToken: personal.accessToken }))?.token.id).toBe(personal.id)
    })

    test('get_visible_scopes: contain the registered scopes of the token that are not internal [T704]', async () => {
      const { accessToken } = await create('Test', {
        scopes: ['notes:write', 'test:scope', 'notes:read'],
      })
      await using later = await startServer({
        beside: app,
        scopes: app.server.scopes.all().filter(({ id }) => id !== 'notes:write'),
      })
      expect((await app.server.tokens.find({ accessToken }))?.token.getVisibleScopes()).toEqual([
        'notes:write',
        'notes:read',
      ])
      expect((await later.server.tokens.find({ accessToken }))?.token.getVisibleScopes()).toEqual([
        'notes:read',
      ])
    })

    test('never contain the ID of a deleted token, not even the highest [T692]', async () => {
      const { id, clientId } = await create()
      await app.server.clients.delete(clientId)
      expect((await create()).id).toBeGreaterThan(id)
      execute(app.database, 'delete from oauth2server_token')
      expect((await create()).id).toBeGreaterThan(id + 1)
    })
  })

  describe('revocation and expiry of a token', () => {
    test('revoking a personal token also deletes its client', async () => {
      const token = await create()
      const before = counts()
      expect(await app.server.tokens.revoke(token)).toBe(true)
      expect(counts()).toEqual(before.map((rows) => rows - 1))
      expect(await statusOf(app, token.accessToken)).toBe(401)
      expect(await app.server.tokens.revoke(token)).toBe(false)
    })

    test('P-8 revoking any other token revokes only its authorization, and no other authorization of the user and client', async () => {
      const { clientId } = await app.client()
      const [one, other] = [
        await authorizationOf(app, clientId),
        await authorizationOf(app, clientId),
      ]
      expect(await app.server.tokens.revoke(one.token)).toBe(true)
      expect(await statusOf(app, one.accessToken)).toBe(401)
      expect(await app.server.tokens.find(one)).toBeUndefined()
      expect(await app.server.tokens.find({ refreshToken: one.refreshToken })).toBeUndefined()
      expect(await statusOf(app, other.accessToken)).toBe(200)
      expect(await app.server.tokens.revoke(one.token)).toBe(false)
    })

    test('ST-06 a token expires exactly at its expiry, and a token with the expiry null never expires [T699]', async () => {
      const { clientId } = await app.client()
      const { accessToken, token } = await authorizationOf(app, clientId)
      await using later = await startServer({ beside: app, clock: () => Number(token.expires) - 1 })
      await using end = await startServer({ beside: app, clock: () => Number(token.expires) })
      expect(await statusOf(later, accessToken)).toBe(200)
      expect(await statusOf(end, accessToken)).toBe(401)
      const { isExpired } = await import('../../src/model/token.ts')
      expect([
        isExpired(0, 1),
        isExpired(null, Number.MAX_SAFE_INTEGER),
        isExpired(2 ** 41, 2 ** 41 - 1),
      ]).toEqual([true, false, false])
    })

    test('FT-08 setting the clock back neither makes a revoked token valid nor lets a token expire early', async () => {
      const { clientId } = await app.client()
      const [dead, alive] = [
        await authorizationOf(app, clientId),
        await authorizationOf(app, clientId),
      ]
      await app.server.tokens.revoke(dead.token)
      await using earlier = await startServer({ beside: app, clock: () => app.now() - 3_600_000 })
      expect(await statusOf(earlier, dead.accessToken)).toBe(401)
      expect(await statusOf(earlier, alive.accessToken)).toBe(200)
      expect(await earlier.server.sweep()).toBe(0)
    })
  })
})

import { type ClientInput, InvalidField, ScopeDoesNotExists } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientKeyOf, count, execute, query } from '../support/database.ts'
import { forbiddenRedirectUris } from '../support/redirect-uris.ts'
import { startServer, type TestServer } from '../support/server.ts'

describe('client', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  const create = (input: Partial<ClientInput> = {}) =>
    app.server.clients.create({ name: 'Client', userId: app.user.id, ...input })
  const row = (clientId: string) =>
    query(app.database, 'select * from oauth2server_client where client_id = ?', clientId)[0]
  const refused = async (input: Partial<ClientInput>, field: string) => {
    const before = count(app.database, 'oauth2server_client')
    await expect(create(input)).rejects.toThrow(
      expect.objectContaining({ name: 'InvalidField', field }),
    )
    expect(count(app.database, 'oauth2server_client')).toBe(before)
  }

  describe('the fields', () => {
    test('requires only a name, and sets every other field to the specified default [T634]', async () => {
      const { client, clientSecret } = await app.server.clients.create({ name: 'Only a name' })
      expect({ ...client }).toEqual({
        clientKey: expect.any(Number),
        clientId: expect.stringMatching(/^[A-Za-z0-9]{40}$/),
        logo: null,
        clientSecret: expect.any(String),
        name: 'Only a name',
        description: '',
        website: '',
        userId: null,
        isConfidential: true,
        isInternal: false,
        isPersonal: false,
        redirectUris: [],
        defaultScopes: [],
        allowedScopes: null,
        grantTypes: null,
        responseTypes: null,
        defaultResource: null,
        tokenEndpointAuthMethod: null,
        optionalScopes: [],
        previousClientSecret: null,
        previousClientSecretExpires: null,
        isVerified: false,
        isDisabled: false,
        isPinned: false,
        origin: 'owner',
        jwks: null,
        jwksUri: null,
        registrationToken: null,
        metadata: '{}',
        createdAt: app.now(),
        owner: null,
      })
      expect(clientSecret).toMatch(/^[A-Za-z0-9]{60}$/)
    })

    test('returns the fields with the values that were set [T675]', async () => {
      const input = {
        name: 'Größe 😀',
        description: 'Two\nlines',
        website: 'https://example.org/',
        userId: app.user.id,
        isConfidential: false,
        isInternal: true,
        redirectUris: ['https://client.example/cb', 'http://localhost:3000/cb'],
        defaultScopes: ['notes:read'],
        allowedScopes: ['notes:read', 'notes:write'],
        grantTypes: ['authorization_code'],
        responseTypes: ['code'],
        tokenEndpointAuthMethod: 'none',
        optionalScopes: ['notes:read'],
      } as const
      const { client } = await create(input)
      expect(client).toMatchObject(input)
      const found = await app.server.clients.find(client.clientId)
      expect({ ...found }).toEqual({
        ...client,
        owner: expect.objectContaining({ id: app.user.id }),
      })
    })

    test('requires a name of 1 to 40 characters [T667]', async () => {
      await refused({ name: '' }, 'name')
      await refused({ name: '  ' }, 'name')
      await refused({ name: 'x'.repeat(41) }, 'name')
      expect((await create({ name: '😀'.repeat(40) })).client.name).toBe('😀'.repeat(40))
    })

    test('rejects a name with bidirectional, control or only invisible characters', async () => {
      await refused({ name: 'Notes\u202eevil' }, 'name')
      await refused({ name: 'Notes\u0000' }, 'name')
      await refused({ name: '\u200b' }, 'name')
    })

    test('rejects a description with bidirectional characters, and a website without https', async () => {
      await refused({ description: 'a\u202eb' }, 'description')
      await refused({ website: 'javascript:alert(1)' }, 'website')
    })

    test('user_id must refer to an existing user [T671]', async () => {
      await refused({ userId: 4711 }, 'user_id')
      await refused({ userId: 'nobody' }, 'user_id')
      const { client } = await create()
      await expect(app.server.clients.update(client.clientId, { userId: 4711 })).rejects.toThrow(
        expect.objectContaining({ name: 'InvalidField', field: 'user_id' }),
      )
      expect((await app.server.clients.find(client.clientId))?.userId).toBe(app.user.id)
    })

    test('accepts a user ID as text, and converts the ID to the type of the user key', async () => {
      const { client } = await create({ userId: String(app.user.id) })
      expect(client.userId).toBe(app.user.id)
      expect((await app.server.clients.find(client.clientId))?.userId).toBe(app.user.id)
      const { clientId } = (await create({ userId: null })).client
      await app.server.clients.update(clientId, { userId: String(app.user.id) })
      expect((await app.server.clients.find(clientId))?.owner?.id).toBe(app.user.id)
    })

    test('client_id and client_secret are unique, and the database indexes references [T672]', async () => {
      const indexed = (table: string) =>
        query<{ sql: string | null; name: string }>(
          app.database,
          `select * from pragma_index_list('oauth2server_${table}')`,
        ).flatMap(({ name }) =>
          query<{ name: string }>(
            app.database,
            `select name from pragma_index_info('${name}') where seqno = 0`,
          ).map((column) => column.name),
        )
      expect(indexed('client')).toEqual(
        expect.arrayContaining(['client_id', 'client_secret', 'user_id']),
      )
      expect(indexed('token')).toEqual(
        expect.arrayContaining([
          'access_token_digest',
          'refresh_token_digest',
          'client_key',
          'user_id',
        ]),
      )
    })

    test('returns the secret once and stores only its digest [T674]', async () => {
      const { client, clientSecret } = await create()
      expect(JSON.stringify(row(client.clientId))).not.toContain(clientSecret)
      expect(JSON.stringify(await app.server.clients.find(client.clientId))).not.toContain(
        clientSecret,
      )
      expect(client.checkSecret(clientSecret, app.now())).toBe(true)
      // The record of the owner does not contain the password hash either.
      expect(JSON.stringify(client)).not.toContain('argon2')
      for (const wrong of ['', clientSecret.slice(1), `${clientSecret}x`, client.clientSecret])
        expect(client.checkSecret(wrong, app.now())).toBe(false)
    })

    test('accepts only known grant types and response types for a client, and removes duplicates', async () => {
      await refused({ grantTypes: ['implicit'] }, 'grant_types')
      await refused({ responseTypes: ['code token'] }, 'response_types')
      await refused({ responseTypes: ['toString'] }, 'response_types')
      const { client } = await create({ grantTypes: ['password', 'password'], responseTypes: [] })
      expect(client.grantTypes).toEqual(['password'])
      expect((await app.server.clients.find(client.clientId))?.responseTypes).toEqual([])
    })

    test('requires an authentication method that is allowed for the client type', async () => {
      await refused({ tokenEndpointAuthMethod: 'none' }, 'token_endpoint_auth_method')
      await refused(
        { isConfidential: false, tokenEndpointAuthMethod: 'client_secret_basic' },
        'token_endpoint_auth_method',
      )
      await refused({ tokenEndpointAuthMethod: 'private_key_jwt' }, 'jwks')
      await refused(
        { tokenEndpointAuthMethod: 'tls_client_auth' as 'none' },
        'token_endpoint_auth_method',
      )
    })
  })

  describe('redirect_uris', () => {
    test('rule 1: splits a text into lines, trims each URI, and stores the URIs joined by newlines [T676]', async () => {
      const { client } = await create({
        redirectUris: ' https://a.example/cb \r\n\n\thttp://localhost/cb\n',
      })
      expect(client.redirectUris).toEqual(['https://a.example/cb', 'http://localhost/cb'])
      expect(row(client.clientId)?.redirect_uris).toBe('https://a.example/cb\nhttp://localhost/cb')
      expect((await app.server.clients.find(client.clientId))?.redirectUris).toEqual(
        client.redirectUris,
      )
    })

    test.each(forbiddenRedirectUris)('rule 2, AZ-09: rejects the URI %j [T686]', async (uri) => {
      await refused({ redirectUris: [uri] }, 'redirect_uris')
      await refused({ redirectUris: ['https://a.example/cb', uri] }, 'redirect_uris')
      await refused(
        { redirectUris: `https://a.example/cb\n${uri}`, isConfidential: false },
        'redirect_uris',
      )
    })

    test('rejects an update with an invalid line, reports the line number, and stores nothing [T685]', async () => {
      const { client } = await create({ redirectUris: 'https://a.example/cb' })
      await expect(
        app.server.clients.update(client.clientId, {
          name: 'New',
          redirectUris: 'https://b.example/cb\nhttp://b.example/cb',
        }),
      ).rejects.toThrow(/^Line 2: /)
      expect(await app.server.clients.find(client.clientId)).toMatchObject({
        name: 'Client',
        redirectUris: ['https://a.example/cb'],
      })
    })

    test('accepts at most 50 URIs', async () => {
      const uris = Array.from({ length: 51 }, (_, index) => `https://a.example/${index}`)
      await refused({ redirectUris: uris }, 'redirect_uris')
      expect((await create({ redirectUris: uris.slice(1) })).client.redirectUris).toHaveLength(50)
    })

    test('default_redirect_uri is the first URI or null [T677]', async () => {
      const { client } = await create({
        redirectUris: ['https://a.example/cb', 'https://b.example/cb'],
      })
      expect(client.defaultRedirectUri).toBe('https://a.example/cb')
      expect((await create()).client.defaultRedirectUri).toBeUndefined()
    })

    test('decision §4.2 accepts private-use schemes if the option allows them, and only for public clients', async () => {
      await using open = await startServer({ allowPrivateUseRedirectUris: true })
      const redirectUris = ['com.example.app:/cb']
      const { clients } = open.server
      const { client } = await clients.create({ name: 'App', isConfidential: false, redirectUris })
      expect(client.redirectUris).toEqual(redirectUris)
      await expect(clients.create({ name: 'App', redirectUris })).rejects.toThrow(InvalidField)
      await expect(clients.update(client.clientId, { isConfidential: true })).rejects.toThrow(
        InvalidField,
      )
    })
  })

  describe('default_scopes', () => {
    test('rule 3: the database contains the scopes separated by spaces, without duplicates [T678]', async () => {
      const { client } = await create({
        defaultScopes: ['notes:write', 'notes:read', 'notes:write'],
      })
      expect([...client.defaultScopes].sort()).toEqual(['notes:read', 'notes:write'])
      expect(row(client.clientId)?.default_scopes).toMatch(
        /^(notes:read notes:write|notes:write notes:read)$/,
      )
    })

    test.each(['nope', 'NOTES:READ', 'constructor', '', 'notes:read notes:write'])(
      'rejects the unregistered scope %j with ScopeDoesNotExists, and stores nothing [T679]',
      async (scope) => {
        const before = count(app.database, 'oauth2server_client')
        await expect(create({ defaultScopes: ['notes:read', scope] })).rejects.toThrow(
          ScopeDoesNotExists,
        )
        await expect(create({ allowedScopes: [scope] })).rejects.toThrow(ScopeDoesNotExists)
        expect(count(app.database, 'oauth2server_client')).toBe(before)
        const { client } = await create({ defaultScopes: ['notes:read'] })
        await expect(
          app.server.clients.update(client.clientId, { defaultScopes: [scope] }),
        ).rejects.toThrow(ScopeDoesNotExists)
        expect((await app.server.clients.find(client.clientId))?.defaultScopes).toEqual([
          'notes:read',
        ])
      },
    )

    test('rule 4: validate_scopes returns true if all scopes are registered, and false if a scope is unknown [T687]', async () => {
      const { client } = await create()
      expect(client.validateScopes([])).toBe(true)
      expect(client.validateScopes(['notes:read', 'test:scope'])).toBe(true)
      expect(client.validateScopes(['notes:read', 'nope'])).toBe(false)
      expect(client.validateScopes(['__proto__'])).toBe(false)
    })

    test('a client with a scope that is no longer registered can be renamed', async () => {
      const { client } = await create({
        defaultScopes: ['notes:read', 'notes:write'],
        redirectUris: 'https://a.example/cb',
      })
      await using later = await startServer({
        beside: app,
        scopes: app.server.scopes.all().filter(({ id }) => id !== 'notes:write'),
      })
      const renamed = await later.server.clients.update(client.clientId, { name: 'Renamed' })
      expect(renamed.name).toBe('Renamed')
      expect(renamed.defaultScopes).toEqual(['notes:read', 'notes:write'])
      await expect(
        later.server.clients.update(client.clientId, { defaultScopes: renamed.defaultScopes }),
      ).rejects.toThrow(ScopeDoesNotExists)
      // The unregistered scope has no effect, although the row still contains it.
      expect(renamed.scopesWhenOmitted).toEqual(['notes:read'])
    })
  })

  describe('derived attributes', () => {
    test('client_type is "confidential" or "public" [T681]', async () => {
      expect((await create()).client.clientType).toBe('confidential')
      expect((await create({ isConfidential: false })).client.clientType).toBe('public')
    })

    test('allowed_grant_types and allowed_response_types are the configured types by default [T682]', async () => {
      const { client } = await create()
      expect([...client.allowedGrantTypes].sort()).toEqual([
        'authorization_code',
        'client_credentials',
        'refresh_token',
      ])
      expect([...client.allowedResponseTypes].sort()).toEqual(['code', 'token'])
    })

    test('decision §4.6 a client can narrow the allowed grant types and response types, but not widen them [T683]', async () => {
      const { client } = await create({
        grantTypes: ['password', 'refresh_token'],
        responseTypes: ['code'],
      })
      expect(client.allowedGrantTypes).toEqual(['refresh_token'])
      expect(client.allowedResponseTypes).toEqual(['code'])
      await using open = await startServer({
        allowedGrantTypes: ['password'],
        allowedResponseTypes: ['token'],
      })
      const other = (
        await open.server.clients.create({
          name: 'x',
          grantTypes: ['password'],
          responseTypes: ['code'],
        })
      ).client
      expect(other.allowedGrantTypes).toEqual(['password'])
      expect(other.allowedResponseTypes).toEqual([])
    })

    test('a client without a limit is not allowed the response types with an ID token [T3123]', async () => {
      await using open = await startServer({ openidConnect: true, allowFrontChannelIdTokens: true })
      const allowed = async (responseTypes: readonly string[] | null) =>
        (await open.server.clients.create({ name: 'x', responseTypes })).client.allowedResponseTypes
      expect([...(await allowed(null))].sort()).toEqual(['code', 'token'])
      expect(await allowed(['code id_token'])).toEqual(['code id_token'])
    })

    test('get_users counts the tokens that are neither personal nor internal [T684]', async () => {
      const { client } = await create()
      expect(await client.getUsers()).toBe(0)
      for (let user = 0; user < 3; user += 1)
        await app.server.tokens.issue({ type: 'client', client, subject: null, scopes: [] })
      await app.server.tokens.createPersonal('Personal', app.user.id)
      expect(await client.getUsers()).toBe(3)
      for (const [flags, expected] of [
        ['is_personal = 1', 2],
        ['is_personal = 0, is_internal = 1', 2],
        ['is_internal = 0', 3],
      ] as const) {
        changeOne(flags, client.clientId)
        expect(await client.getUsers(), flags).toBe(expected)
      }
    })

    const changeOne = (flags: string, clientId: string) =>
      execute(
        app.database,
        `update oauth2server_token set ${flags} where id = (select min(id) from oauth2server_token where client_key = ?)`,
        clientKeyOf(app.database, clientId),
      )

    test('get_users called inside a transaction counts the uncommitted tokens of the transaction', async () => {
      const { client } = await create()
      const counted = await app.server.transaction(async (tx) => {
        const inside = await tx.clients.find(client.clientId)
        if (!inside) throw new Error('The client is gone.')
        await tx.tokens.issue({ type: 'client', client: inside, subject: null, scopes: [] })
        return inside.getUsers()
      })
      expect(counted).toBe(1)
    })

    test('decision §4.5 the default allowed scopes contain no internal scopes, even if the host allows internal scopes', async () => {
      const { client } = await create()
      expect(client.scopeCeiling).toEqual(['notes:read', 'notes:write', 'user:email'])
      expect(client.scopesWhenOmitted).toEqual([])
      expect(client.scopeCeilingWithoutConsent).toEqual([])
      const limited = (
        await create({
          allowedScopes: ['notes:read', 'test:scope'],
          defaultScopes: ['notes:write', 'test:scope'],
        })
      ).client
      expect(limited.scopeCeiling).toEqual(['notes:read'])
      expect(limited.scopesWhenOmitted).toEqual([])
      expect(limited.scopeCeilingWithoutConsent).toEqual(['notes:read'])
      const defaults = (await create({ defaultScopes: ['notes:read', 'test:scope'] })).client
      expect(defaults.scopesWhenOmitted).toEqual(['notes:read'])
      expect(defaults.scopeCeilingWithoutConsent).toEqual(['notes:read'])
    })

    test('decision §4.5 a client without scopes uses OAUTH2SERVER_DEFAULT_SCOPES as its default and allowed scopes', async () => {
      await using open = await startServer({ defaultScopes: ['notes:read'] })
      const { client } = await open.server.clients.create({ name: 'x' })
      expect(client.scopesWhenOmitted).toEqual(['notes:read'])
      expect(client.scopeCeilingWithoutConsent).toEqual(['notes:read'])
    })

    test('a client with an inactive owner is inactive, and a client without an owner is active', async () => {
      const user = await app.server.users.create({ email: 'owner@example.org', password: null })
      const { clientId } = (await create({ userId: user.id })).client
      const isActive = async () => (await app.server.clients.find(clientId))?.isActive
      expect(await isActive()).toBe(true)
      await app.server.users.setActive(user.id, false)
      expect(await isActive()).toBe(false)
      await app.server.users.setActive(user.id, true)
      expect(await isActive()).toBe(true)
      expect((await create({ userId: null })).client.isActive).toBe(true)
    })
  })

  describe('update()', () => {
    test('changes only the given fields', async () => {
      const { client } = await create({
        redirectUris: 'https://a.example/cb',
        defaultScopes: ['notes:read'],
        description: 'x',
      })
      const changes = { name: 'New', website: undefined } as object
      const after = await app.server.clients.update(client.clientId, changes)
      expect({ ...after, owner: null }).toEqual({ ...client, owner: null, name: 'New' })
      expect((await app.server.clients.update(client.clientId, { userId: null })).userId).toBeNull()
    })

    test('stores both of two concurrent changes', async () => {
      const { client } = await create()
      await Promise.all([
        app.server.clients.update(client.clientId, { name: 'New' }),
        app.server.clients.update(client.clientId, { description: 'New' }),
        app.server.clients.update(client.clientId, { website: 'https://new.example' }),
      ])
      expect(await app.server.clients.find(client.clientId)).toMatchObject({
        name: 'New',
        description: 'New',
        website: 'https://new.example',
      })
    })

    test('rejects an unknown client', async () => {
      const gone = expect.objectContaining({ name: 'InvalidField', field: 'client_id' })
      await expect(app.server.clients.update('nope', { name: 'x' })).rejects.toThrow(gone)
      await expect(app.server.clients.resetClientId('nope')).rejects.toThrow(gone)
      await expect(app.server.clients.resetClientSecret('nope')).rejects.toThrow(gone)
      expect(await app.server.clients.delete('nope')).toBe(false)
      expect(await app.server.clients.find('nope')).toBeUndefined()
    })

    test('rejects the client of a personal token', async () => {
      const { clientId } = await app.server.tokens.createPersonal('Mine', app.user.id)
      for (const change of [
        () => app.server.clients.update(clientId, { name: 'x' }),
        () => app.server.clients.resetClientId(clientId),
        () => app.server.clients.resetClientSecret(clientId),
        () => app.server.clients.resetCredentials(clientId),
      ])
        await expect(change()).rejects.toThrow(InvalidField)
    })
  })
})

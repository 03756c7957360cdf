import type { Client, ClientInput } from 'svc-oauth2server'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { count, execute } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { authorizationOf, clientOf, statusOf } from '../support/tokens.ts'
import { TestClient, UserAgent } from '../support/user-agent.ts'

let app: TestServer
beforeAll(async () => {
  app = await startServer({
    allowedGrantTypes: ['authorization_code', 'refresh_token', 'client_credentials', 'password'],
  })
})
afterAll(() => app.close())

describe('the verification of a client', () => {
  const verified = async (input: Partial<ClientInput> = {}): Promise<Client> => {
    const { clientId } = await app.client({
      website: 'https://example.org/',
      redirectUris: ['https://a.example/cb', 'https://b.example/cb'],
      ...input,
    })
    const client = await app.server.clients.mark(clientId, { isVerified: true })
    expect(client.isVerified).toBe(true)
    return client
  }
  const isVerified = async (clientId: string) => (await clientOf(app, clientId)).isVerified

  test.each<[string, Partial<ClientInput>]>([
    ['name', { name: 'Another' }],
    ['description', { description: 'Another' }],
    ['website', { website: 'https://evil.example/' }],
    ['website that is empty', { website: '' }],
    [
      'redirect URI added to the list',
      { redirectUris: ['https://a.example/cb', 'https://c.example/cb'] },
    ],
    ['redirect URI that differs only in case', { redirectUris: ['https://A.example/cb'] }],
    [
      'list of redirect URIs as text',
      { redirectUris: 'https://a.example/cb\nhttps://c.example/cb' },
    ],
  ])('is removed by an update with another %s', async (_, changes) => {
    const { clientId } = await verified()
    const after = await app.server.clients.update(clientId, changes)
    expect(after.isVerified).toBe(false)
    expect(await isVerified(clientId)).toBe(false)
  })

  test('is removed when the owner changes, because the administrator verified the previous owner', async () => {
    const other = await app.server.users.create({ email: 'next@example.org', password: null })
    for (const userId of [other.id, null]) {
      const { clientId } = await verified()
      await app.server.clients.update(clientId, { userId })
      expect(await isVerified(clientId)).toBe(false)
    }
    const { clientId } = await verified()
    await app.server.clients.update(clientId, { userId: String(app.user.id) })
    expect(await isVerified(clientId), 'the same owner, whose ID was passed as text').toBe(true)
  })

  test.each<[string, Partial<ClientInput>]>([
    ['no changes', {}],
    ['the same values', { name: 'Client', website: 'https://example.org/' }],
    ['other default scopes', { defaultScopes: ['notes:read'] }],
    ['other optional scopes', { optionalScopes: ['notes:read'] }],
    [
      'other allowed scopes and grant types',
      { allowedScopes: ['notes:read'], grantTypes: ['authorization_code'] },
    ],
    ['one fewer redirect URI', { redirectUris: ['https://b.example/cb'] }],
    [
      'redirect URIs in another order',
      { redirectUris: 'https://b.example/cb\nhttps://a.example/cb' },
    ],
    ['no redirect URIs', { redirectUris: [] }],
  ])('remains after an update with %s', async (_, changes) => {
    const { clientId } = await verified()
    await app.server.clients.update(clientId, changes)
    expect(await isVerified(clientId)).toBe(true)
  })

  test('is not restored if the client receives its previous name', async () => {
    const { clientId } = await verified()
    await app.server.clients.update(clientId, { name: 'Another' })
    await app.server.clients.update(clientId, { name: 'Client' })
    expect(await isVerified(clientId)).toBe(false)
  })

  test('is not affected by resetting the secret or the ID, or by disabling and enabling the client', async () => {
    const { clientId } = await verified()
    await app.server.clients.resetClientSecret(clientId, { overlap: 60 })
    const renewed = (await app.server.clients.resetClientId(clientId)).clientId
    await app.server.clients.mark(renewed, { isDisabled: true })
    await app.server.clients.mark(renewed, { isDisabled: false })
    expect(await isVerified(renewed)).toBe(true)
  })

  test('cannot be set by create() or update(), and neither can isDisabled or a previous secret', async () => {
    const { clientId } = await app.client()
    const smuggled = {
      isVerified: true,
      isDisabled: true,
      isPersonal: true,
      previousClientSecret: 'x',
      previousClientSecretExpires: 9e15,
    }
    for (const [name, value] of Object.entries(smuggled)) {
      const input = { [name]: value } as Partial<ClientInput>
      const refused = `${name} is not an option`
      await expect(app.server.clients.create({ name: 'New', ...input })).rejects.toThrow(refused)
      await expect(app.server.clients.update(clientId, input)).rejects.toThrow(refused)
    }
  })

  test('does not change other fields, and can be removed', async () => {
    const { clientId } = await app.client({ description: 'Kept', optionalScopes: ['notes:read'] })
    const before = await clientOf(app, clientId)
    const after = await app.server.clients.mark(clientId, { isVerified: true })
    expect({ ...after }).toEqual({ ...before, isVerified: true })
    await app.server.clients.mark(clientId, {})
    expect(await isVerified(clientId)).toBe(true)
    await app.server.clients.mark(clientId, { isVerified: false })
    expect({ ...(await clientOf(app, clientId)) }).toEqual({ ...before })
    await expect(app.server.clients.mark('nope', { isVerified: true })).rejects.toThrow(
      expect.objectContaining({ field: 'client_id' }),
    )
  })

  test('is sealed in the database with the verified name and website', async () => {
    const alterations = [
      'is_verified = 0',
      "name = 'Bank'",
      "website = 'https://bank.example'",
      "optional_scopes = 'notes:read'",
      'is_disabled = 1',
    ]
    for (const set of alterations) {
      const { clientId } = await verified()
      expect(change(clientId, set)).toBe(1)
      expect(await app.server.clients.find(clientId), set).toBeUndefined()
    }
    for (const set of ['is_verified = 1', 'is_disabled = 1', "optional_scopes = 'notes:write'"]) {
      const { clientId } = await app.client()
      expect(change(clientId, set)).toBe(1)
      expect(await app.server.clients.find(clientId), set).toBeUndefined()
    }
    const { clientId } = await app.client({ optionalScopes: ['notes:read'] })
    change(clientId, "optional_scopes = ''")
    expect(await app.server.clients.find(clientId)).toBeUndefined()
    await expect(app.server.clients.mark(clientId, { isVerified: true })).rejects.toThrow(
      expect.objectContaining({ field: 'client_id' }),
    )
  })
})

const change = (clientId: string, set: string): number =>
  execute(app.database, `update oauth2server_client set ${set} where client_id = ?`, clientId)

describe('a disabled client', () => {
  let agent: UserAgent
  beforeEach(() => {
    agent = new UserAgent()
  })
  const disable = (clientId: string, isDisabled = true) =>
    app.server.clients.mark(clientId, { isDisabled })

  test('causes the error view instead of a redirect to the client', async () => {
    const client = await TestClient.register(app, agent)
    await disable(client.clientId)
    const response = await agent.fetch(client.url())
    expect(response.headers.get('location')).toMatch(/^\/oauth\/errors\?error=invalid_request/)
    const implicit = await agent.fetch(client.url({ response_type: 'token' }))
    expect(implicit.headers.get('location')).toMatch(/^\/oauth\/errors\?/)
    await disable(client.clientId, false)
    expect((await client.ask()).searchParams.get('code')).toMatch(/./)
  })

  test('receives no code if an administrator disables the client while the user decides', async () => {
    const client = await TestClient.register(app, agent)
    await agent.logIn(app)
    const page = await agent.browse(client.url())
    await disable(client.clientId)
    const response = await agent.submit(page, { confirm: 'yes' })
    expect(response.status).toBe(400)
    expect(response.headers.get('location')).toBeNull()
    expect(await app.server.consents.find(app.user.id, client.clientId)).toBeUndefined()
  })

  test.each(['basic', 'post', 'none'] as const)(
    'cannot authenticate with the method %s, and the rejected request consumes no credential',
    async (proof) => {
      const client = await TestClient.register(
        app,
        agent,
        { isConfidential: proof !== 'none' },
        proof,
      )
      const code = await client.code()
      const before = await client.tokens()
      const grants = [
        () => client.redeem(code),
        () => client.refresh(before.refresh_token),
        () => client.token({ grant_type: 'client_credentials' }),
        () =>
          client.token({
            grant_type: 'password',
            username: app.user.email,
            password: app.password,
          }),
      ]
      await disable(client.clientId)
      for (const grant of grants)
        expect(await grant()).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
      expect(await statusOf(app, before.access_token)).toBe(401)
      await disable(client.clientId, false)
      expect((await client.redeem(code)).status).toBe(200)
      expect(await statusOf(app, before.access_token)).toBe(200)
      expect((await client.refresh(before.refresh_token)).status).toBe(200)
    },
  )

  test('has no valid token at any node from the next request until an administrator enables the client [T572]', async () => {
    await using node = await startServer({ beside: app })
    const { clientId } = await app.client()
    const client = await clientOf(app, clientId)
    const [granted, machine] = [
      (await authorizationOf(app, clientId)).accessToken,
      (await app.server.tokens.issue({ type: 'client', client, subject: app.user, scopes: [] }))
        .accessToken,
    ]
    const bystanders = [
      (await authorizationOf(app, (await app.client()).clientId)).accessToken,
      await app.personalToken(),
    ]
    const statuses = async (tokens: readonly string[]) =>
      Promise.all([app, node].flatMap((on) => tokens.map((token) => statusOf(on, token))))
    expect(await statuses([granted, machine])).toEqual([200, 200, 200, 200])
    const rows = count(app.database, 'oauth2server_token')
    await disable(clientId)
    expect(await statuses([granted, machine])).toEqual([401, 401, 401, 401])
    expect(await statuses(bystanders)).toEqual([200, 200, 200, 200])
    const open = await fetch(`${app.issuer}/api/public`, {
      headers: { authorization: `Bearer ${granted}` },
    })
    expect(open.status, 'decision §3 applies also where anonymous requests are allowed').toBe(401)
    await disable(clientId, false)
    expect(await statuses([granted, machine])).toEqual([200, 200, 200, 200])
    expect(count(app.database, 'oauth2server_token')).toBe(rows)
  })

  test('cannot repeat a refresh within the leeway', async () => {
    const client = await TestClient.register(app, agent)
    const { refresh_token } = await client.tokens()
    expect((await client.refresh(refresh_token)).status).toBe(200)
    await disable(client.clientId)
    expect((await client.refresh(refresh_token)).status).toBe(401)
    await disable(client.clientId, false)
    expect((await client.refresh(refresh_token)).status).toBe(200)
  })

  test('remains disabled when the owner updates the client or resets its secret', async () => {
    const { clientId } = await app.client()
    await disable(clientId)
    await app.server.clients.update(clientId, { name: 'Renamed' })
    await app.server.clients.resetClientSecret(clientId)
    expect(await clientOf(app, clientId)).toMatchObject({ isDisabled: true, isActive: false })
  })

  test('is inactive while an administrator disables the client or while its owner is inactive', async () => {
    const owner = await app.server.users.create({ email: 'owner@example.org', password: null })
    const { clientId } = await app.client({ userId: owner.id })
    const isActive = async () => (await clientOf(app, clientId)).isActive
    expect(await isActive()).toBe(true)
    await disable(clientId)
    expect(await isActive()).toBe(false)
    await app.server.users.setActive(owner.id, false)
    await disable(clientId, false)
    expect(await isActive()).toBe(false)
    await app.server.users.setActive(owner.id, true)
    expect(await isActive()).toBe(true)
  })
})

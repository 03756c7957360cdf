import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientKeyOf, count, execute } from '../support/database.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { authorizationOf, clientOf, statusOf } from '../support/tokens.ts'
import { authorizeUrl, newPkce, tokenRequest, UserAgent } from '../support/user-agent.ts'

type Credentials = { clientId: string; clientSecret: string }

describe('rule 5: resetting the credentials of a client', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  const refresh = (basic: Credentials, refreshToken: unknown) =>
    tokenRequest(
      app.issuer,
      { grant_type: 'refresh_token', refresh_token: String(refreshToken) },
      { basic },
    )
  const authenticates = async (basic: Credentials) => {
    const { status, body } = await tokenRequest(
      app.issuer,
      { grant_type: 'client_credentials' },
      { basic },
    )
    if (status === 401) expect(body.error).toBe('invalid_client')
    return status === 200
  }

  test('generates credentials of the configured lengths [T688]', async () => {
    await using other = await startServer({ clientIdSaltLen: 30, clientSecretSaltLen: 50 })
    const { clientId } = await other.client()
    const reset = await other.server.clients.resetCredentials(clientId)
    expect(reset.client.clientId).toMatch(/^[A-Za-z0-9]{30}$/)
    expect(reset.clientSecret).toMatch(/^[A-Za-z0-9]{50}$/)
    expect((await other.server.clients.resetClientId(reset.client.clientId)).clientId).toHaveLength(
      30,
    )
  })

  test('resetting the secret invalidates the former secret immediately, but not the ID and the tokens [T689]', async () => {
    const old = await app.client()
    const issued = await authorizationOf(app, old.clientId)
    const { client, clientSecret } = await app.server.clients.resetClientSecret(old.clientId)
    expect(client.clientId).toBe(old.clientId)
    expect(clientSecret).toMatch(/^[A-Za-z0-9]{60}$/)
    expect(clientSecret).not.toBe(old.clientSecret)
    expect(await authenticates(old)).toBe(false)
    expect(await authenticates({ ...old, clientSecret })).toBe(true)
    expect(await statusOf(app, issued.accessToken)).toBe(200)
    expect((await refresh({ ...old, clientSecret }, issued.refreshToken)).status).toBe(200)
  })

  test('resetting the ID does not affect the secret, the fields, the tokens and the consents [T690]', async () => {
    const old = await app.client({ description: 'kept', defaultScopes: ['notes:read'] })
    const issued = await authorizationOf(app, old.clientId, {
      scopes: ['notes:read', 'notes:write'],
    })
    await app.server.consents.grant(app.user.id, old.clientId, ['notes:read'])
    const before = await clientOf(app, old.clientId)
    const consent = await app.server.consents.find(app.user.id, old.clientId)

    const client = await app.server.clients.resetClientId(old.clientId)
    expect(client.clientId).toMatch(/^[A-Za-z0-9]{40}$/)
    expect({ ...client }).toEqual({ ...before, clientId: client.clientId })
    const renewed = { ...old, clientId: client.clientId }
    expect(await app.server.clients.find(old.clientId)).toBeUndefined()
    expect(await authenticates(old)).toBe(false)
    expect(await authenticates(renewed)).toBe(true)
    expect(await client.getUsers()).toBe(2)

    expect(await statusOf(app, issued.accessToken)).toBe(200)
    expect((await app.server.tokens.find(issued))?.token).toMatchObject({
      id: issued.token.id,
      clientId: client.clientId,
    })
    const refreshed = await refresh(renewed, issued.refreshToken)
    expect(refreshed.body).toMatchObject({ scope: 'notes:read notes:write' })
    expect(await statusOf(app, issued.accessToken)).toBe(200)
    expect(await statusOf(app, String(refreshed.body.access_token))).toBe(200)
    expect(await app.server.consents.find(app.user.id, client.clientId)).toEqual({
      ...consent,
      clientId: client.clientId,
    })
  })

  test('decision §5.4 leeway and reuse detection also work after the ID was reset', async () => {
    const old = await app.client()
    const issued = await authorizationOf(app, old.clientId)
    const rotated = await refresh(old, issued.refreshToken)
    const { clientId } = await app.server.clients.resetClientId(old.clientId)
    const renewed = { ...old, clientId }
    const again = await refresh(renewed, issued.refreshToken)
    expect(again.body).toMatchObject({
      access_token: rotated.body.access_token,
      refresh_token: rotated.body.refresh_token,
    })
    await refresh(renewed, rotated.body.refresh_token)
    expect((await refresh(renewed, issued.refreshToken)).body.error).toBe('invalid_grant')
    expect((await refresh(renewed, rotated.body.refresh_token)).body.error).toBe('invalid_grant')
    expect(
      count(
        app.database,
        `oauth2server_token where client_key = ${clientKeyOf(app.database, clientId)}`,
      ),
    ).toBe(0)
  })

  test('resetting the ID invalidates pending codes', async () => {
    const client = await app.client()
    const { verifier, challenge } = newPkce()
    const url = authorizeUrl(app.issuer, {
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope: 'notes:read',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })
    const code = (await new UserAgent().authorize(app, url)).searchParams.get('code') ?? ''
    const { clientId } = await app.server.clients.resetClientId(client.clientId)
    const redeemed = await tokenRequest(
      app.issuer,
      {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      },
      { basic: { ...client, clientId } },
    )
    expect(redeemed.body.error).toBe('invalid_grant')
  })

  test('resetCredentials() changes the ID and the secret [T691]', async () => {
    const old = await app.client()
    const { accessToken } = await authorizationOf(app, old.clientId)
    const { client, clientSecret } = await app.server.clients.resetCredentials(old.clientId)
    expect(client.clientId).not.toBe(old.clientId)
    expect(await authenticates({ clientId: client.clientId, clientSecret })).toBe(true)
    expect(await authenticates({ clientId: client.clientId, clientSecret: old.clientSecret })).toBe(
      false,
    )
    expect(await authenticates({ clientId: old.clientId, clientSecret })).toBe(false)
    expect(await statusOf(app, accessToken)).toBe(200)
  })

  test('concurrent resets leave only the last secret valid', async () => {
    const { clientId } = await app.client()
    const results = await Promise.all(
      Array.from({ length: 5 }, () => app.server.clients.resetClientSecret(clientId)),
    )
    const client = await clientOf(app, clientId)
    expect(
      results.filter(({ clientSecret }) => client.checkSecret(clientSecret, app.now())),
    ).toHaveLength(1)
  })

  test('altered rows remain invalid after a reset', async () => {
    const { clientId } = await app.client()
    const widened = await authorizationOf(app, clientId)
    const restored = await authorizationOf(app, clientId)
    await app.server.consents.grant(app.user.id, clientId, ['notes:read'])
    execute(
      app.database,
      "update oauth2server_token set scopes = 'notes:read notes:write' where id = ?",
      widened.token.id,
    )
    execute(
      app.database,
      "update oauth2server_authorization set scopes = 'notes:read notes:write' where id = ?",
      Number(restored.token.authorizationId),
    )
    execute(
      app.database,
      "update oauth2server_consent set scopes = 'notes:read notes:write' where client_key = ?",
      clientKeyOf(app.database, clientId),
    )
    const renewed = await app.server.clients.resetClientId(clientId)
    expect(await statusOf(app, widened.accessToken)).toBe(401)
    expect(await app.server.tokens.find({ refreshToken: restored.refreshToken })).toBeUndefined()
    expect(await app.server.consents.find(app.user.id, renewed.clientId)).toBeUndefined()

    const other = await app.client()
    execute(
      app.database,
      "update oauth2server_client set redirect_uris = 'https://evil.example/cb' where client_id = ?",
      other.clientId,
    )
    await expect(app.server.clients.resetClientId(other.clientId)).rejects.toThrow(
      expect.objectContaining({ field: 'client_id' }),
    )
    await expect(app.server.clients.update(other.clientId, { name: 'x' })).rejects.toThrow(
      expect.objectContaining({ field: 'client_id' }),
    )
  })
})

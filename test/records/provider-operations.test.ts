import { type AuthorizationServerOptions, OAuthError, type TokenData } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { count } from '../support/database.ts'
import { basicOf, postForm } from '../support/form.ts'
import { redirectUri, startServer } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'
import { authorizeUrl, tokenRequest, UserAgent } from '../support/user-agent.ts'

const allGrants = ['authorization_code', 'refresh_token', 'client_credentials', 'password'] as const

/** Starts a server whose host replaces provider operations. Creates a client and a stored consent. */
const start = async (options: Partial<AuthorizationServerOptions>) => {
  const app = await startServer({ allowedGrantTypes: allGrants, ...options })
  const basic = await app.client({ defaultScopes: ['notes:read', 'notes:write'] })
  const agent = new UserAgent()
  const newCode = async (scope = 'notes:read notes:write') => {
    const url = authorizeUrl(app.issuer, {
      client_id: basic.clientId,
      redirect_uri: redirectUri,
      scope,
    })
    return (await agent.authorize(app, url)).searchParams.get('code') ?? ''
  }
  const request = (fields: Record<string, string>) => tokenRequest(app.issuer, fields, { basic })
  return {
    app,
    basic,
    newCode,
    request,
    redeem: (code: string) =>
      request({ grant_type: 'authorization_code', code, redirect_uri: redirectUri }),
    refresh: (token: unknown) =>
      request({ grant_type: 'refresh_token', refresh_token: String(token) }),
    tokens: () => count(app.database, 'oauth2server_token'),
    [Symbol.asyncDispose]: () => app.close(),
  }
}

describe('get_client', () => {
  test('is called by the authorization and the token endpoint, and may return a client of the host or reject [T741]', async () => {
    const asked: string[] = []
    let refuses = false
    await using host = await start({
      getClient: async (clientId, next) => {
        asked.push(clientId)
        return refuses ? undefined : next(clientId.replace(/^alias$/, known))
      },
    })
    let known = ''
    known = host.basic.clientId
    expect((await host.request({ grant_type: 'client_credentials' })).status).toBe(200)
    expect(await host.newCode()).toMatch(/^[A-Za-z0-9]{43}$/)
    expect(asked.every((clientId) => clientId === host.basic.clientId)).toBe(true)
    expect(asked.length).toBeGreaterThanOrEqual(2)
    const alias = await tokenRequest(
      host.app.issuer,
      { grant_type: 'client_credentials' },
      { basic: { ...host.basic, clientId: 'alias' } },
    )
    expect(alias.status).toBe(200)
    refuses = true
    expect((await host.request({ grant_type: 'client_credentials' })).body.error).toBe(
      'invalid_client',
    )
    const response = await fetch(
      authorizeUrl(host.app.issuer, { client_id: host.basic.clientId, redirect_uri: redirectUri }),
      { redirect: 'manual' },
    )
    expect(response.headers.get('location')).toMatch(/^\/oauth\/errors\?/)
  })

  test('by default does not find the client of a personal token, and finds a client with an inactive owner as inactive [T740]', async () => {
    await using host = await start({})
    const { clientId } = await host.app.server.tokens.createPersonal('Test', host.app.user.id)
    expect(await host.app.server.getClient(clientId)).toBeUndefined()
    expect(await host.app.server.getClient('nope')).toBeUndefined()
    expect((await host.app.server.getClient(host.basic.clientId))?.isActive).toBe(true)
    await host.app.server.users.setActive(host.app.user.id, false)
    expect((await host.app.server.getClient(host.basic.clientId))?.isActive).toBe(false)
    expect((await host.request({ grant_type: 'client_credentials' })).body.error).toBe(
      'invalid_client',
    )
  })
})

describe('get_token', () => {
  test('is called by token exchange, and may reject the subject token [T921]', async () => {
    const denied = new Set<string | undefined>()
    await using host = await start({
      tokenExchange: true,
      getToken: async (by, next) => (denied.has(by.accessToken) ? undefined : next(by)),
    })
    const subject = String((await host.redeem(await host.newCode())).body.access_token)
    const personal = await host.app.personalToken()
    const fields = (token: string) => ({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    })
    const exchange = () => host.request(fields(subject))
    const exchangePersonal = () => tokenRequest(host.app.issuer, fields(personal))
    expect((await exchange()).status).toBe(200)
    expect((await exchangePersonal()).status).toBe(200)
    denied.add(subject).add(personal)
    expect((await exchange()).status).toBe(400)
    expect((await exchangePersonal()).status).toBeGreaterThanOrEqual(400)
  })

  test('is called by revocation, for access and refresh tokens [T922]', async () => {
    const calls: object[] = []
    await using host = await start({
      getToken: (by, next) => {
        calls.push(by)
        return next(by)
      },
    })
    const { body } = await host.redeem(await host.newCode())
    calls.length = 0
    const token = String(body.refresh_token)
    await postForm(`${host.app.issuer}/oauth/revoke`, { token }, basicOf(host.basic))
    expect(calls).toEqual([{ accessToken: token }, { refreshToken: token }])
    expect((await host.refresh(token)).status).toBe(400)
  })

  test('is called by the bearer check and by the refresh grant, and may reject the token [T743]', async () => {
    const asked: object[] = []
    let refuses = false
    await using host = await start({
      getToken: async (by, next) => {
        asked.push(by)
        return refuses ? undefined : next(by)
      },
    })
    const { body } = await host.redeem(await host.newCode())
    expect(await statusOf(host.app, String(body.access_token))).toBe(200)
    refuses = true
    expect(await statusOf(host.app, String(body.access_token))).toBe(401)
    expect((await host.refresh(body.refresh_token)).body.error).toBe('invalid_grant')
    refuses = false
    expect((await host.refresh(body.refresh_token)).status).toBe(200)
    expect(asked).toEqual([
      { accessToken: body.access_token },
      { accessToken: body.access_token },
      { refreshToken: body.refresh_token },
      { refreshToken: body.refresh_token },
    ])
  })

  test('may return tokens of the host', async () => {
    await using host = await start({
      getToken: async ({ accessToken, ...by }, next) =>
        next(
          accessToken === 'legacy'
            ? { accessToken: known }
            : { ...by, ...(accessToken ? { accessToken } : {}) },
        ),
    })
    let known = ''
    known = await host.app.personalToken()
    expect(await statusOf(host.app, 'legacy')).toBe(200)
    expect(await statusOf(host.app, 'nope')).toBe(401)
  })
})

describe('get_user', () => {
  test('is called by the password grant, and may use a directory of the host or reject the user', async () => {
    const asked: string[][] = []
    await using host = await start({
      getUser: async (email, password, next) => {
        asked.push([email, password])
        return password === 'directory'
          ? host.app.server.users.find(host.app.user.id)
          : next(email, password)
      },
    })
    const logIn = (username: string, password: string) =>
      host.request({ grant_type: 'password', username, password })
    expect((await logIn('anybody', 'directory')).body).toMatchObject({
      user: { id: host.app.user.id },
    })
    expect((await logIn(host.app.user.email, host.app.password)).status).toBe(200)
    expect((await logIn(host.app.user.email, 'wrong')).body.error).toBe('invalid_grant')
    expect(asked).toHaveLength(3)
    await host.app.server.users.setActive(host.app.user.id, false)
    expect((await logIn('anybody', 'directory')).status).not.toBe(200)
  })

  test('rule 6: is not called if the password grant is not allowed [T745]', async () => {
    let asked = 0
    await using host = await start({
      allowedGrantTypes: ['authorization_code', 'client_credentials', 'refresh_token'],
      getUser: async (email, password, next) => {
        asked += 1
        return next(email, password)
      },
    })
    const { body } = await host.request({
      grant_type: 'password',
      username: host.app.user.email,
      password: host.app.password,
    })
    expect(body.error).toBe('unsupported_grant_type')
    expect(asked).toBe(0)
  })
})

describe('save_token', () => {
  const narrower = (data: TokenData, fields: Partial<TokenData['fields']>): TokenData => ({
    ...data,
    fields: { ...data.fields, ...fields },
  })

  test('receives the token data and the request, and stores the token by calling next() [T746]', async () => {
    const seen: [string, string][] = []
    await using host = await start({
      saveToken: async (data, request, next) => {
        const token = await next()
        seen.push([request.type, data.accessToken])
        expect(token).toMatchObject({
          clientId: request.client.clientId,
          scopes: data.fields.scopes,
        })
        return token
      },
    })
    const code = await host.redeem(await host.newCode())
    const refreshed = await host.refresh(code.body.refresh_token)
    const machine = await host.request({ grant_type: 'client_credentials' })
    expect(seen).toEqual([
      ['user', code.body.access_token],
      ['refresh', refreshed.body.access_token],
      ['client', machine.body.access_token],
    ])
  })

  test('may narrow the scopes and the lifetime, and the response contains the narrowed values', async () => {
    await using host = await start({
      saveToken: (data, _, next) =>
        next(
          narrower(data, {
            scopes: ['notes:read'],
            expires: Math.min(data.fields.expires ?? 0, host.app.now() + 60_000),
          }),
        ),
    })
    const { body } = await host.redeem(await host.newCode())
    expect(body).toMatchObject({ scope: 'notes:read', expires_in: 60 })
    expect(
      (await host.app.server.tokens.find({ accessToken: String(body.access_token) }))?.token,
    ).toMatchObject({ scopes: ['notes:read'], expires: host.app.now() + 60_000 })
    // Refreshing the token does not restore the removed scopes.
    expect((await host.refresh(body.refresh_token)).body.scope).toBe('notes:read')
    expect((await host.request({ grant_type: 'client_credentials' })).body).toMatchObject({
      scope: 'notes:read',
      expires_in: 60,
    })
  })

  test('must not widen the scopes or the lifetime, or change the user', async () => {
    await using host = await start({
      saveToken: (data, _, next) => next(changed(data)),
    })
    const honest = (data: TokenData) => data
    let changed: (data: TokenData) => TokenData = honest
    const before = host.tokens()
    const code = await host.newCode('notes:read')
    changed = (data) => narrower(data, { scopes: ['notes:read', 'notes:write'] })
    expect((await host.redeem(code)).status).toBe(500)
    expect(host.tokens()).toBe(before)

    changed = (data) => ({
      ...narrower(data, {
        expires: null,
        userId: null,
        clientId: 'x',
        isPersonal: true,
        isInternal: true,
        refreshExpires: null,
      }),
      accessToken: 'chosen',
      refreshToken: 'chosen',
    })
    const { body, status } = await host.redeem(code)
    expect(status).toBe(200)
    expect(body).toMatchObject({ scope: 'notes:read', expires_in: 3600 })
    expect(await statusOf(host.app, 'chosen')).toBe(401)
    expect(
      (await host.app.server.tokens.find({ accessToken: String(body.access_token) }))?.token,
    ).toMatchObject({
      userId: host.app.user.id,
      clientId: host.basic.clientId,
      isPersonal: false,
      isInternal: false,
      expires: host.app.now() + 3_600_000,
    })

    changed = (data) => narrower(data, { scopes: ['notes:write'] })
    expect((await host.refresh(body.refresh_token)).status).toBe(500)
    for (const expires of [Number.POSITIVE_INFINITY, Number.NaN, 1.5]) {
      changed = (data) => narrower(data, { expires })
      expect((await host.refresh(body.refresh_token)).status).toBe(500)
    }
    changed = (data) => narrower(data, { expires: host.app.now() + 1e12 })
    expect((await host.refresh(body.refresh_token)).body).toMatchObject({
      scope: 'notes:read',
      expires_in: 3600,
    })
  })

  test('may reject with a protocol error, which consumes no credential, so that the client can retry', async () => {
    let refuses = true
    await using host = await start({
      saveToken: (_, __, next) => {
        if (refuses) throw new OAuthError('access_denied', 'Not today.')
        return next()
      },
    })
    const code = await host.newCode()
    const before = host.tokens()
    expect(await host.redeem(code)).toMatchObject({
      status: 403,
      body: { error: 'access_denied', error_description: 'Not today.' },
    })
    expect(host.tokens()).toBe(before)
    refuses = false
    const { body } = await host.redeem(code)
    refuses = true
    expect((await host.refresh(body.refresh_token)).status).toBe(403)
    expect(await statusOf(host.app, String(body.access_token))).toBe(200)
    refuses = false
    expect((await host.refresh(body.refresh_token)).status).toBe(200)
  })

  test('causes 500 if the hook throws another error, and consumes no credential', async () => {
    let fails = true
    await using host = await start({
      saveToken: async (_, __, next) => {
        if (fails) throw new Error('the directory of the host is down: secret detail')
        return next()
      },
    })
    const code = await host.newCode()
    const { status, body } = await host.redeem(code)
    expect([status, body.error]).toEqual([500, 'server_error'])
    expect(JSON.stringify(body)).not.toContain('secret detail')
    fails = false
    expect((await host.redeem(code)).status).toBe(200)
  })

  test('saves the tokens of only one of several concurrent redemptions, even if the hook is slow', async () => {
    let saved = 0
    await using host = await start({
      saveToken: async (_, __, next) => {
        // Fixed time: concurrent calls overlap.
        await new Promise((resolve) => setTimeout(resolve, 20))
        const token = await next()
        saved += 1
        return token
      },
    })
    const code = await host.newCode()
    const responses = await Promise.all(Array.from({ length: 8 }, () => host.redeem(code)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(responses.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(7)
    expect(saved).toBe(1)
  })
})

test.each([undefined, null, 'token', { accessToken: 42 }, { refreshToken: {} }])(
  'getToken(%j) is refused with a sentence that names the argument [T4109]',
  async (by) => {
    await using app = await startServer()
    await expect(app.server.getToken(by as never)).rejects.toThrow(
      'The argument must be { accessToken } or { refreshToken }, each a text.',
    )
  },
)

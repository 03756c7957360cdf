import { createHash } from 'node:crypto'
import { createRemoteJWKSet, decodeJwt, type JWTPayload, jwtVerify } from 'jose'
import type { ClientInput } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { startServer, type TestOptions, type TestServer } from '../support/server.ts'
import { formIn, ping, responseTo, TestClient, UserAgent } from '../support/user-agent.ts'

// OpenID Connect Core 1.0 §3.2 and §3.3: ID tokens in the response of the authorization endpoint. Titles begin with the
// section.

const withIdTokens = ['id_token', 'code id_token', 'id_token token'] as const

const listening = {
  openidConnect: true,
  allowFrontChannelIdTokens: true,
  claims: () => ({ name: 'Ada Lovelace', phone_number: '+1 555 0100' }),
} satisfies TestOptions

interface Started extends AsyncDisposable {
  readonly app: TestServer
  readonly agent: UserAgent
  readonly client: TestClient
}

/** Starts a server that allows ID tokens in redirects, logs in a user, and registers a client that may request them. */
const start = async (
  options: TestOptions = {},
  input: Partial<ClientInput> = {},
): Promise<Started> => {
  const app = await startServer({ ...listening, ...options })
  const agent = new UserAgent()
  await agent.logIn(app)
  const client = await TestClient.register(app, agent, {
    responseTypes: ['code', ...withIdTokens],
    ...input,
  })
  return { app, agent, client, [Symbol.asyncDispose]: () => app.close() }
}

const request = { scope: 'openid', nonce: 'n-1' }

/** Completes a request, and returns the parameters in the fragment. Fails if the query contains parameters. */
const answer = async (
  { client }: Pick<Started, 'client'>,
  response_type: string,
  given: Record<string, string | undefined> = {},
  confirm: 'yes' | 'no' = 'yes',
): Promise<Record<string, string>> => {
  const redirect = await client.ask({ ...request, response_type, ...given }, confirm)
  expect(redirect.search).toBe('')
  return responseTo(client, redirect, 'fragment')
}

/** Verifies an ID token as a client does. */
const verified = async (
  { app, client }: Pick<Started, 'app' | 'client'>,
  token = '',
): Promise<JWTPayload> => {
  const keys = createRemoteJWKSet(new URL(`${app.issuer}/oauth/jwks`))
  const expected = { issuer: app.issuer, audience: client.clientId, typ: 'JWT' }
  const { payload } = await jwtVerify(token, keys, {
    ...expected,
    currentDate: new Date(app.now()),
  })
  return payload
}

/** Returns the left half of the hash. Core §3.3.2.11. */
const halfHash = (value = '', hash: 'sha256' | 'sha512' = 'sha256'): string => {
  const digest = createHash(hash).update(value).digest()
  return digest.subarray(0, digest.length / 2).toString('base64url')
}

describe('the response', () => {
  test('§3.2.2.5 id_token: the fragment contains an ID token, the state and the issuer, and no code or access token [T3100]', async () => {
    await using started = await start()
    const { app, client } = started
    app.advance(100)
    const response = await answer(started, 'id_token')
    expect(response).toEqual({ id_token: expect.any(String), state: 'xyz', iss: app.issuer })
    const now = Math.floor(app.now() / 1000)
    expect(await verified(started, response.id_token)).toEqual({
      iss: response.iss,
      sub: String(app.user.id),
      aud: client.clientId,
      nonce: 'n-1',
      iat: now,
      exp: now + 3600,
      auth_time: now - 100,
      amr: ['pwd'],
      sid: expect.stringMatching(/^[\w-]{43}$/),
    })
  })

  test('§3.3.2.5 code id_token: the fragment contains a code, and an ID token with the hash of the code [T3101]', async () => {
    await using started = await start()
    const { app, client } = started
    const response = await answer(started, 'code id_token')
    const { code = '', id_token } = response
    expect(Object.keys(response).sort()).toEqual(['code', 'id_token', 'iss', 'state'])
    const first = await verified(started, id_token)
    expect(first).toMatchObject({ nonce: 'n-1', c_hash: halfHash(code) })
    expect(first).not.toHaveProperty('at_hash')
    const { status, body } = await client.redeem(code)
    expect(status).toBe(200)
    const second = await verified(started, body.id_token)
    // §3.3.3.6: the same login in both ID tokens
    for (const name of ['iss', 'sub', 'aud', 'auth_time', 'amr', 'sid', 'nonce'])
      expect(second[name], name).toEqual(first[name])
    expect(second).not.toHaveProperty('c_hash')
    expect(second.at_hash).toBe(halfHash(body.access_token))
    expect(await ping(app, body.access_token)).toBe(200)
    expect(body.refresh_token).toEqual(expect.any(String))
  })

  test('§3.2.2.5 id_token token: the fragment contains an access token, and an ID token with its hash [T3102]', async () => {
    await using started = await start()
    const { app } = started
    const response = await answer(started, 'id_token token')
    const { access_token = '', id_token } = response
    expect(response).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: '3600',
      scope: 'openid',
      id_token: expect.any(String),
      state: 'xyz',
      iss: app.issuer,
    })
    const payload = await verified(started, id_token)
    expect(payload.at_hash).toBe(halfHash(access_token))
    expect(payload).not.toHaveProperty('c_hash')
    expect(await ping(app, access_token)).toBe(200)
  })

  test.each(['id_token code', 'token id_token'])(
    'RFC 6749 §3.1.1 accepts the values of the response type in any order: %s [T3103]',
    async (response_type) => {
      await using started = await start()
      expect(await answer(started, response_type)).toHaveProperty('id_token')
    },
  )

  test.each([
    ['RS256', 'sha256'],
    ['ES256', 'sha256'],
    ['EdDSA', 'sha512'],
  ] as const)(
    '§3.3.2.11 the algorithm of the client signs and hashes: %s [T3104]',
    async (alg, hash) => {
      await using started = await start({}, { openid: { id_token_signed_response_alg: alg } })
      const { code, id_token } = await answer(started, 'code id_token')
      expect((await verified(started, id_token)).c_hash).toBe(halfHash(code, hash))
    },
  )

  test.each(withIdTokens)(
    'Form Post §2 returns the response to %s in a form instead of the fragment [T3105]',
    async (type) => {
      await using started = await start()
      const { agent, client } = started
      const url = client.url({ ...request, response_type: type, response_mode: 'form_post' })
      const page = await agent.submit(await agent.browse(url), { confirm: 'yes' })
      const { action, hidden } = formIn(await page.text())
      expect(action).toBe(client.redirectUri)
      expect(hidden).toMatchObject({ state: 'xyz', iss: started.app.issuer })
      await verified(started, hidden.id_token)
      const wrong = await agent.browse(url.replace('nonce=', 'other='))
      expect(formIn(await wrong.text())).toMatchObject({
        action: client.redirectUri,
        hidden: { error: 'invalid_request', state: 'xyz', iss: started.app.issuer },
      })
    },
  )

  test('§8.1 a pairwise client receives its own subject [T3106]', async () => {
    await using started = await start({}, { openid: { subject_type: 'pairwise' } })
    const { id_token } = await answer(started, 'id_token')
    const { sub } = await verified(started, id_token)
    expect(sub).not.toBe(String(started.app.user.id))
    const { code } = await answer(started, 'code id_token')
    const { body } = await started.client.redeem(code ?? '')
    expect((await verified(started, body.id_token)).sub).toBe(sub)
  })

  test('§3.1.2.1 the ID token serves as a hint, and prompt=none needs neither a page nor another login [T3107]', async () => {
    await using started = await start()
    const { id_token: hint } = await answer(started, 'id_token')
    const silent = { prompt: 'none', id_token_hint: hint }
    expect(await answer(started, 'id_token', silent)).toHaveProperty('id_token')
    started.app.advance(100)
    expect(await answer(started, 'id_token', { ...silent, max_age: '99' })).toMatchObject({
      error: 'login_required',
      state: 'xyz',
    })
  })
})

describe('§5.4 the claims about the user', () => {
  const given = { scope: 'openid profile email' }

  test('id_token contains the claims of the granted scopes, because the client cannot read them elsewhere [T3108]', async () => {
    await using started = await start()
    const { id_token = '' } = await answer(started, 'id_token', given)
    const { name, email, ...other } = decodeJwt(id_token)
    expect([name, email]).toEqual(['Ada Lovelace', started.app.user.email])
    expect(other).not.toHaveProperty('phone_number')
    const bare = await answer(started, 'id_token')
    expect(decodeJwt(bare.id_token ?? '')).not.toHaveProperty('name')
  })

  test('id_token token contains only the claims that the request names [T3109]', async () => {
    await using started = await start()
    const claims = JSON.stringify({ id_token: { email: null } })
    const { id_token = '' } = await answer(started, 'id_token token', { ...given, claims })
    expect(decodeJwt(id_token)).toMatchObject({ email: started.app.user.email })
    expect(decodeJwt(id_token)).not.toHaveProperty('name')
  })

  test('§3.3.3.6 code id_token returns no claims through the browser, even if the request names claims [T3110]', async () => {
    await using started = await start({ userClaimsInIdToken: true })
    const claims = JSON.stringify({ id_token: { email: null } })
    const { code = '', id_token = '' } = await answer(started, 'code id_token', {
      ...given,
      claims,
    })
    for (const name of ['name', 'email', 'email_verified'])
      expect(decodeJwt(id_token)).not.toHaveProperty(name)
    const { body } = await started.client.redeem(code)
    expect(decodeJwt(body.id_token ?? '')).toMatchObject({ name: 'Ada Lovelace' })
  })
})

describe('the request', () => {
  test.each(withIdTokens)(
    '§3.2.2.1 %s without a nonce or without openid causes an error in the fragment [T3111]',
    async (type) => {
      await using started = await start()
      for (const given of [{ nonce: undefined }, { nonce: '' }, { scope: 'notes:read' }]) {
        const error = await answer(started, type, given)
        expect(Object.keys(error).sort()).toEqual(['error', 'error_description', 'iss', 'state'])
        expect(error).toMatchObject({ error: 'invalid_request', state: 'xyz' })
      }
    },
  )

  test.each(withIdTokens)(
    'Multiple Response Types §3.0 the response to %s is never in the query [T3112]',
    async (type) => {
      await using started = await start()
      for (const response_mode of ['query', 'web_message'])
        expect(await answer(started, type, { response_mode })).toMatchObject({
          error: 'invalid_request',
        })
    },
  )

  test.each(withIdTokens)(
    '§3.2.2.6 %s: a refusal of the user is in the fragment [T3113]',
    async (type) => {
      await using started = await start()
      expect(await answer(started, type, { prompt: 'consent' }, 'no')).toEqual({
        error: 'access_denied',
        error_description: expect.any(String),
        state: 'xyz',
        iss: started.app.issuer,
      })
    },
  )

  test('RFC 7636 §4.4.1 a public client needs a challenge for the code, and its verifier [T3114]', async () => {
    await using started = await start({}, { isConfidential: false })
    const { client } = started
    expect(await answer(started, 'code id_token', { code_challenge: undefined })).toMatchObject({
      error: 'invalid_request',
    })
    const { code = '' } = await answer(started, 'code id_token')
    const { body } = await client.redeem(code, { code_verifier: 'x'.repeat(43) })
    expect(body.error).toBe('invalid_grant')
    expect((await client.redeem(code)).status).toBe(200)
  })

  test('RFC 9126 §2 a pushed request returns ID tokens, once [T3115]', async () => {
    await using started = await start()
    const { app, agent, client } = started
    const url = new URL(client.url({ ...request, response_type: 'id_token' }))
    url.searchParams.set('client_secret', client.clientSecret)
    const pushed = await fetch(`${app.issuer}/oauth/par`, {
      method: 'POST',
      body: url.searchParams,
    })
    const { request_uri } = (await pushed.json()) as { readonly request_uri: string }
    const query = new URLSearchParams({ client_id: client.clientId, request_uri })
    const reference = `${app.issuer}/oauth/authorize?${query}`
    const first = responseTo(client, await agent.authorize(app, reference), 'fragment')
    await verified(started, first.id_token)
    const again = await agent.authorize(app, reference)
    expect(again.hash).toBe('')
    expect(again.href).toContain('/oauth/errors')
  })

  test('§11 offline_access is ignored in a request without a code, and granted in a request with a code [T3116]', async () => {
    await using started = await start()
    const scope = 'openid offline_access'
    const { scope: granted } = await answer(started, 'id_token token', { scope })
    expect(granted).toBe('openid')
    const { code = '' } = await answer(started, 'code id_token', { scope, prompt: 'consent' })
    expect((await started.client.redeem(code)).body.scope).toBe(scope)
  })

  test('the response contains no ID token if the user declines the optional scope openid [T3117]', async () => {
    await using started = await start({}, { optionalScopes: ['openid'] })
    const { agent, client } = started
    for (const response_type of withIdTokens) {
      const asking = { ...request, response_type, prompt: 'consent', scope: 'openid notes:read' }
      const page = await agent.browse(client.url(asking))
      const answered = await agent.submit(page, { confirm: 'yes' })
      const location = new URL(answered.headers.get('location') ?? '')
      expect(responseTo(client, location, 'fragment')).toMatchObject({ error: 'access_denied' })
    }
    expect(await started.app.query('select * from oauth2server_token')).toEqual([])
  })
})

describe('the response types of a client', () => {
  test.each([
    ['the limit omits it', ['code', 'token']],
    ['the client has no limit', null],
  ])('an ID token in a redirect is refused if %s [T3118]', async (_, responseTypes) => {
    await using started = await start({}, { responseTypes })
    for (const type of withIdTokens)
      expect(await answer(started, type)).toMatchObject({ error: 'unauthorized_client' })
    expect(await started.client.tokens({ scope: 'openid' })).toHaveProperty('id_token')
  })

  test('a client that registered id_token may not use code id_token, and vice versa [T3119]', async () => {
    await using started = await start({}, { responseTypes: ['id_token', 'code'] })
    expect(await answer(started, 'id_token')).toHaveProperty('id_token')
    expect(await answer(started, 'code id_token')).toHaveProperty('error', 'unauthorized_client')
    const other = await TestClient.register(started.app, started.agent, {
      responseTypes: ['code id_token'],
    })
    expect(await answer({ client: other }, 'code id_token')).toHaveProperty('id_token')
    expect(await answer({ client: other }, 'id_token')).toHaveProperty('error')
    const found = await started.app.server.clients.find(other.clientId)
    expect(found?.responseTypes).toEqual(['code id_token'])
  })

  test('a client without the grant authorization_code may not use code id_token [T3120]', async () => {
    await using started = await start({}, { grantTypes: [] })
    expect(await answer(started, 'id_token')).toHaveProperty('id_token')
    expect(await answer(started, 'code id_token')).toHaveProperty('error', 'unauthorized_client')
  })

  test.each([
    [['code'], ['code', 'id_token', 'code id_token']],
    [['token'], ['token', 'id_token', 'id_token token']],
    [[], ['id_token']],
  ] as const)('with the response types %j, the server has %j [T3121]', async (given, expected) => {
    await using started = await start({ allowedResponseTypes: given })
    const metadata = await fetch(`${started.app.issuer}/.well-known/openid-configuration`)
    const { response_types_supported, grant_types_supported } = (await metadata.json()) as Record<
      string,
      readonly string[]
    >
    expect(response_types_supported).toEqual(expected)
    expect(grant_types_supported).toContain('implicit')
    for (const type of withIdTokens) {
      const { searchParams, hash } = await started.client.ask({ ...request, response_type: type })
      const isIncluded = (expected as readonly string[]).includes(type)
      expect(new URLSearchParams(hash.slice(1)).has('id_token'), type).toBe(isIncluded)
      expect(searchParams.get('error'), type).toBe(isIncluded ? null : 'unsupported_response_type')
    }
  })
})

describe('the login', () => {
  test('is recorded for each ID token in a redirect [T3122]', async () => {
    await using started = await start()
    const { app, client } = started
    for (const type of withIdTokens) await answer(started, type)
    const rows = await app.query(
      "select actor, client_id, user_id, subject, details from oauth2server_audit where event = 'id_token.issued'",
    )
    expect(rows).toEqual(
      withIdTokens.map(() => ({
        actor: 'user',
        client_id: client.clientId,
        user_id: String(app.user.id),
        subject: 'Client',
        details: '{"scopes":["openid"]}',
      })),
    )
  })
})

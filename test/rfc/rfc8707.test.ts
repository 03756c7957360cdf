import type { IssuedToken } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { execute } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  ping,
  refusal,
  responseTo,
  TestClient,
  type TokenResponse,
  UserAgent,
} from '../support/user-agent.ts'

const notes = 'https://api.example/notes'
const mail = 'https://mail.example'

let app: TestServer
let agent: UserAgent
let conf: TestClient

beforeAll(async () => {
  app = await startServer({
    resources: [{ resource: notes }, { resource: mail }],
    allowedGrantTypes: ['authorization_code', 'client_credentials', 'refresh_token', 'password'],
    allowedResponseTypes: ['code', 'token'],
  })
  agent = new UserAgent()
  await agent.logIn(app)
  conf = await TestClient.register(app, agent, { defaultScopes: ['notes:read'] })
})
afterAll(() => app.close())

const queryOf = (resources: readonly string[]): string =>
  resources.map((resource) => `&resource=${encodeURIComponent(resource)}`).join('')

/** Sends an authorization request for these resources. Returns the redirect to the client. */
const ask = async (resources: readonly string[], given = {}, client = conf): Promise<URL> =>
  agent.authorize(app, client.url(given) + queryOf(resources))

const codeFor = async (resources: readonly string[], client = conf): Promise<string> =>
  (await ask(resources, {}, client)).searchParams.get('code') ?? ''

/** Sends a token request for these resources. */
const token = async (
  given: Record<string, string>,
  resources: readonly string[] = [],
  client = conf,
): Promise<TokenResponse> => {
  const response = await fetch(`${client.app.issuer}/oauth/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa(`${client.clientId}:${client.clientSecret}`)}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: `${new URLSearchParams(given)}${queryOf(resources)}`,
  })
  const body = (await response.json()) as TokenResponse['body']
  return { status: response.status, headers: response.headers, body }
}

const redeem = (code: string, resources: readonly string[] = []): Promise<TokenResponse> => {
  const given = { grant_type: 'authorization_code', code, redirect_uri: conf.redirectUri }
  return token({ ...given, code_verifier: conf.pkce.verifier }, resources)
}

const refresh = (refreshToken: string, resources: readonly string[] = []): Promise<TokenResponse> =>
  token({ grant_type: 'refresh_token', refresh_token: refreshToken }, resources)

/** Returns the resources of the access token. */
const audienceOf = async ({ body }: TokenResponse): Promise<readonly string[] | undefined> =>
  (await app.server.getToken({ accessToken: body.access_token }))?.token.resources

/** Returns the resources of the authorization. */
const grantedBy = async ({ body }: TokenResponse): Promise<readonly string[] | undefined> =>
  (await app.server.getToken({ refreshToken: body.refresh_token }))?.authorization?.resources

const unknown = 'https://other.example'

const unusable = {
  'an unknown URL': unknown,
  'a URL with a fragment': `${notes}#part`,
  'a URL with an empty fragment': `${notes}#`,
  'a relative URL': '/notes',
  'a text that is not a URL': 'notes',
  'a path in another case': 'https://api.example/Notes',
  'a scheme and host in another case': 'HTTPS://API.example/notes',
  'a prefix of a resource': 'https://api.example',
  'a path below a resource': `${notes}/1`,
  'a trailing slash after a path': `${notes}/`,
  'a URL with a query': `${notes}?`,
  'a URL with a user': 'https://user@api.example/notes',
  'another scheme': 'http://api.example/notes',
  'a control character': `${notes}\n`,
  'the text __proto__': '__proto__',
  'a URL of 3 kB': `https://api.example/${'x'.repeat(3000)}`,
  'two resources in one parameter': `${notes} ${mail}`,
}

describe('RFC 8707 §2 the parameter resource', () => {
  test.each(Object.entries(unusable))(
    'SC-06 returns invalid_target for %s [T055]',
    async (_, resource) => {
      const answer = responseTo(conf, await ask([resource]))
      expect(answer).toEqual({
        error: 'invalid_target',
        error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/),
        state: 'xyz',
        iss: app.issuer,
      })
      expect(refusal(await token({ grant_type: 'client_credentials' }, [resource]))).toBe(
        '400 invalid_target',
      )
    },
  )

  test('rejects a known and an unknown resource in one request [T352]', async () => {
    expect(responseTo(conf, await ask([notes, unknown])).error).toBe('invalid_target')
    const answer = await token({ grant_type: 'client_credentials' }, [notes, unknown])
    expect(refusal(answer)).toBe('400 invalid_target')
  })

  test('treats an empty resource as omitted (RFC 6749 §3.1)', async () => {
    expect(await audienceOf(await redeem(await codeFor(['']), ['']))).toEqual([])
    expect(await audienceOf(await redeem(await codeFor(['', notes])))).toEqual([notes])
  })

  test('ignores one trailing slash after an origin, which URL parsers append [T350]', async () => {
    expect(await audienceOf(await redeem(await codeFor([`${mail}/`, `${app.issuer}/`])))).toEqual([
      app.issuer,
      mail,
    ])
    expect(responseTo(conf, await ask([`${mail}//`])).error).toBe('invalid_target')
  })

  test('redirects the error only after the login, and only to a registered redirect URI [T354]', async () => {
    const visitor = await fetch(conf.url() + queryOf([unknown]), { redirect: 'manual' })
    expect(visitor.headers.get('location')).toMatch(/^\/login\?/)
    const away = conf.url({ redirect_uri: 'https://evil.example/cb' })
    const answer = await agent.authorize(app, away + queryOf([unknown]))
    expect(answer.origin).toBe(new URL(app.issuer).origin)
  })

  test('does not restrict a token if the request has no resource [T351]', async () => {
    const answer = await redeem(await codeFor([]))
    expect(await audienceOf(answer)).toEqual([])
    expect(await grantedBy(answer)).toEqual([])
    expect(await ping(app, answer.body.access_token)).toBe(200)
  })

  test('ignores the parameter if resource indicators are disabled', async () => {
    await using other = await startServer({ resourceIndicators: false })
    const browser = new UserAgent()
    const client = await TestClient.register(other, browser)
    const answer = await browser.authorize(other, client.url() + queryOf(['/relative']))
    expect((await client.redeem(answer.searchParams.get('code') ?? '')).status).toBe(200)
  })
})

describe('RFC 8707 §2.1 resources in the authorization request', () => {
  test('restricts the tokens to several resources in any order, even if one is repeated [T348]', async () => {
    const answer = await redeem(await codeFor([mail, notes, mail]))
    expect(answer.status).toBe(200)
    expect(await audienceOf(answer)).toEqual([notes, mail])
    expect(await grantedBy(answer)).toEqual([notes, mail])
  })

  test('retains the resources during the login and on the consent page', async () => {
    const visitor = new UserAgent()
    const client = await TestClient.register(app, visitor)
    const answer = await visitor.authorize(app, client.url() + queryOf([notes]))
    const tokens = await client.redeem(answer.searchParams.get('code') ?? '')
    expect(await audienceOf(tokens)).toEqual([notes])
  })

  test('restricts an implicit token to the requested resources [T353]', async () => {
    const answer = await ask([notes], { response_type: 'token' })
    const accessToken = responseTo(conf, answer, 'fragment').access_token ?? ''
    const found = await app.server.getToken({ accessToken })
    expect(found?.token.resources).toEqual([notes])
    expect(await ping(app, accessToken)).toBe(401)
  })

  test('applies a remembered consent to other resources, and restricts the token to these resources', async () => {
    await codeFor([notes])
    const answer = await agent.fetch(conf.url() + queryOf([mail]))
    const code = new URL(answer.headers.get('location') ?? '').searchParams.get('code') ?? ''
    expect(await audienceOf(await redeem(code))).toEqual([mail])
  })
})

describe('RFC 8707 §2.2 resources in the token request', () => {
  test('restricts the access token, but not the refresh token, to the resources in the token request [T355]', async () => {
    const answer = await redeem(await codeFor([notes, mail]), [mail])
    expect(await audienceOf(answer)).toEqual([mail])
    expect(await grantedBy(answer)).toEqual([notes, mail])
    const next = await refresh(answer.body.refresh_token, [notes])
    expect(await audienceOf(next)).toEqual([notes])
    expect(await audienceOf(await refresh(next.body.refresh_token))).toEqual([notes, mail])
  })

  test('returns invalid_target for other resources, without consuming the code or refresh token [T357]', async () => {
    const code = await codeFor([notes])
    for (const resources of [[mail], [notes, mail], [app.issuer]])
      expect(refusal(await redeem(code, resources))).toBe('400 invalid_target')
    const answer = await redeem(code, [notes])
    expect(answer.status).toBe(200)
    expect(refusal(await refresh(answer.body.refresh_token, [mail]))).toBe('400 invalid_target')
    expect(await audienceOf(await refresh(answer.body.refresh_token))).toEqual([notes])
  })

  test('accepts any resource in each token request if the authorization is not restricted [T358]', async () => {
    const first = await redeem(await codeFor([]), [notes])
    expect(await audienceOf(first)).toEqual([notes])
    expect(await grantedBy(first)).toEqual([])
    const second = await refresh(first.body.refresh_token, [mail])
    expect(await audienceOf(second)).toEqual([mail])
    expect(await audienceOf(await refresh(second.body.refresh_token))).toEqual([])
  })

  test.each([
    ['client_credentials', {}],
    ['password', { username: 'user-a@example.org', password: 'correct horse battery staple' }],
  ])('accepts any resources for the grant type %s [T356]', async (grant_type, given) => {
    for (const resources of [[], [notes], [mail, app.issuer]]) {
      const answer = await token({ grant_type, ...given }, resources)
      expect(await audienceOf(answer)).toEqual(resources.toReversed())
    }
  })

  test('limits the refresh token of the password grant to its requested resources', async () => {
    const { username, password } = { username: app.user.email, password: app.password }
    const answer = await token({ grant_type: 'password', username, password }, [notes])
    expect(await grantedBy(answer)).toEqual([notes])
    expect(refusal(await refresh(answer.body.refresh_token, [mail]))).toBe('400 invalid_target')
  })

  test('returns the same token for a repeated refresh, but rejects a repetition with other resources', async () => {
    const { body } = await redeem(await codeFor([notes, mail]))
    const first = await refresh(body.refresh_token, [mail, notes])
    const again = await refresh(body.refresh_token, [notes, mail])
    expect(again.body.access_token).toBe(first.body.access_token)
    expect(refusal(await refresh(body.refresh_token, [notes]))).toBe('400 invalid_grant')
    expect(refusal(await refresh(body.refresh_token))).toBe('400 invalid_grant')
    expect(await audienceOf(first)).toEqual([notes, mail])
  })

  test('issues a token to only one of two concurrent refreshes for different resources', async () => {
    const { body } = await redeem(await codeFor([notes, mail]))
    const responses = await Promise.all([
      refresh(body.refresh_token, [notes]),
      refresh(body.refresh_token, [mail]),
    ])
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400])
  })

  test('returns the same token for a repeated refresh of a restricted authorization', async () => {
    const { body } = await redeem(await codeFor([notes]))
    const first = await refresh(body.refresh_token)
    const again = await refresh(body.refresh_token)
    expect(again.body.access_token).toBe(first.body.access_token)
    expect(await audienceOf(again)).toEqual([notes])
  })
})

describe('RFC 8707 §2 the audience of a token', () => {
  test('returns 401 invalid_token for a token that is restricted to other resources [T110]', async () => {
    const elsewhere = await token({ grant_type: 'client_credentials' }, [notes])
    const here = await token({ grant_type: 'client_credentials' }, [app.issuer])
    expect(await ping(app, elsewhere.body.access_token)).toBe(401)
    expect(await ping(app, here.body.access_token)).toBe(200)
    const answer = await fetch(`${app.issuer}/oauth/info`, {
      headers: { authorization: `Bearer ${elsewhere.body.access_token}` },
    })
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
  })

  test('SC-06 rejects a token of another issuer that uses the same database [T349]', async () => {
    await using other = await startServer({ beside: app, basePath: '/other' })
    const restricted = await token({ grant_type: 'client_credentials' }, [app.issuer])
    expect(await ping(app, restricted.body.access_token)).toBe(200)
    expect(await ping(other, restricted.body.access_token)).toBe(401)
  })

  test('rejects a token whose resources were changed directly in the database [T359]', async () => {
    const { body } = await token({ grant_type: 'client_credentials' }, [notes])
    const found = await app.server.getToken({ accessToken: body.access_token })
    const id = found?.token.id ?? 0
    for (const resources of ['', mail, `${notes} ${mail}`]) {
      const sql = 'update oauth2server_token set resources = ? where id = ?'
      expect(execute(app.database, sql, resources, id)).toBe(1)
      expect(await app.server.getToken({ accessToken: body.access_token })).toBeUndefined()
    }
    expect(found?.token.resources).toEqual([notes])
  })

  test('restricts an exchanged token to the resources of its parent, or to fewer', async () => {
    const client = await app.server.clients.find(conf.clientId)
    const issue = (parent: Pick<IssuedToken, 'accessToken'>, resources?: readonly string[]) =>
      app.server.getToken({ accessToken: parent.accessToken }).then((found) => {
        if (!client || !found) throw new Error('The token does not exist.')
        const restricted = resources ? { resources } : { resources: found.token.resources }
        const narrowing = { type: 'narrowing', client, parent: found, scopes: [] } as const
        return app.server.tokens.issue({ ...narrowing, expiresIn: 60, ...restricted })
      })
    const both = await token({ grant_type: 'client_credentials' }, [notes, mail])
    const parent = { accessToken: both.body.access_token }
    expect((await issue(parent)).token.resources).toEqual([notes, mail])
    expect((await issue(parent, [mail])).token.resources).toEqual([mail])
    await expect(issue(parent, [app.issuer])).rejects.toMatchObject({ code: 'invalid_target' })
    await expect(issue(parent, [])).rejects.toMatchObject({ code: 'invalid_target' })
  })
})

describe('the default resource, for clients that request no resource', () => {
  const aud = async (of: TestServer, token: string): Promise<unknown> => {
    const found = await of.server.tokens.find({ accessToken: token })
    return found?.token.resources
  }

  test('is the setting, the client of the administrator, or the whole application [T1424]', async () => {
    await using place = await startServer({
      resources: [{ resource: notes }, { resource: mail }],
      defaultResource: notes,
      allowedGrantTypes: ['authorization_code', 'client_credentials', 'refresh_token', 'password'],
      allowedResponseTypes: ['code', 'token'],
    })
    const client = await TestClient.register(place, new UserAgent(), {
      defaultScopes: ['notes:read'],
    })
    const issuedFor = async (given: Record<string, string>, resources: readonly string[] = []) => {
      const { status, body } = await token(given, resources, client)
      expect(status).toBe(200)
      return aud(place, body.access_token)
    }
    const machine = { grant_type: 'client_credentials' }
    const password = {
      grant_type: 'password',
      username: place.user.email,
      password: place.password,
    }
    expect(await issuedFor(machine)).toEqual([notes])
    expect(await issuedFor(machine, [mail])).toEqual([mail])
    expect(await issuedFor(password)).toEqual([notes])
    const tokens = await client.tokens()
    expect(await aud(place, tokens.access_token)).toEqual([notes])
    const refreshed = await client.refresh(tokens.refresh_token)
    expect(await aud(place, refreshed.body.access_token)).toEqual([notes])
    const again = await client.refresh(tokens.refresh_token)
    expect(again.body.access_token).toBe(refreshed.body.access_token)
    const implicit = await client.ask({ response_type: 'token' })
    const { access_token = '' } = responseTo(client, implicit, 'fragment')
    expect(await aud(place, access_token)).toEqual([notes])

    await place.server.clients.update(client.clientId, { defaultResource: `${mail}/` })
    expect(await issuedFor(machine)).toEqual([mail])
    expect(await issuedFor(machine, [notes])).toEqual([notes])
    await place.server.clients.update(client.clientId, { defaultResource: place.issuer })
    expect(await issuedFor(machine)).toEqual([place.issuer])
    await place.server.clients.update(client.clientId, { defaultResource: null })
    expect(await issuedFor(machine)).toEqual([notes])
    await expect(
      place.server.clients.update(client.clientId, { defaultResource: 'https://other.example' }),
    ).rejects.toMatchObject({ field: 'default_resource' })
  })

  test('does not widen a token if the resource of the client was removed [T1425]', async () => {
    await using place = await startServer({ resources: [{ resource: notes }] })
    const client = await TestClient.register(place, new UserAgent(), {
      defaultScopes: ['notes:read'],
      defaultResource: notes,
    })
    await using later = await startServer({ beside: place })
    const moved = new TestClient(later, client.agent, client, 'basic')
    const machine = { grant_type: 'client_credentials' }
    expect((await client.token(machine)).status).toBe(200)
    expect(refusal(await moved.token(machine))).toBe('400 invalid_target')
    const { status, body } = await token(machine, [later.issuer], moved)
    expect([status, await aud(later, body.access_token)]).toEqual([200, [later.issuer]])
  })

  test.each([
    [{ defaultResource: 'https://other.example' }, /defaultResource .* must be one of/],
    [{ defaultResource: notes, resourceIndicators: false }, /needs resourceIndicators/],
  ])('start-up refuses %j [T1426]', async (options, sentence) => {
    await expect(startServer({ resources: [{ resource: notes }], ...options })).rejects.toThrow(
      sentence,
    )
  })
})

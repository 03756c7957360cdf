import { StoreUnavailable } from 'svc-oauth2server'
import { createTestServer } from 'svc-oauth2server/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { basicOf, type FormResponse, postForm } from '../support/form.ts'
import { recordOperations } from '../support/operations.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { clientOf } from '../support/tokens.ts'
import { ping, refusal, TestClient, type TokenResponse, UserAgent } from '../support/user-agent.ts'

const files = 'https://files.example'
const mail = 'https://mail.example'

let failing: string | undefined
let app: TestServer
let agent: UserAgent
let conf: TestClient
let conf2: TestClient
let pub: TestClient

beforeAll(async () => {
  app = await startServer({
    aroundStore: ({ name }, run) => {
      if (name === failing) throw new StoreUnavailable('the disk at /var/lib is gone')
      return run()
    },
  })
  agent = new UserAgent()
  await agent.logIn(app)
  conf = await TestClient.register(app, agent)
  conf2 = await TestClient.register(app, agent)
  pub = await TestClient.register(app, agent, { isConfidential: false })
})
afterEach(() => {
  failing = undefined
})
afterAll(() => app.close())

type Fields = Record<string, string> | string | readonly [string, string][]

const introspectAs = (client: TestClient, fields: Fields): Promise<FormResponse> =>
  postForm(`${client.app.issuer}/oauth/introspect`, fields, basicOf(client))

const introspect = (client: TestClient, token: string, more: Record<string, string> = {}) =>
  introspectAs(client, { token, ...more })

const asTokenResponse = (answer: FormResponse) => answer as unknown as TokenResponse

/** Asserts that the response describes an inactive token: 200 with no member except `active: false`. */
const expectInactive = ({ status, headers, body }: FormResponse): void => {
  expect([status, body]).toEqual([200, { active: false }])
  expect(headers.get('cache-control')).toBe('no-store')
}

describe('RFC 7662 §2 the introspection endpoint', () => {
  test('§2 lists the endpoint and its authentication methods, except `none`, in the metadata', async () => {
    const response = await fetch(`${app.issuer}/.well-known/oauth-authorization-server`)
    const metadata = (await response.json()) as Record<string, unknown>
    expect(metadata.introspection_endpoint).toBe(`${app.issuer}/oauth/introspect`)
    expect(metadata.introspection_endpoint_auth_methods_supported).toEqual(
      (metadata.token_endpoint_auth_methods_supported as string[]).filter((m) => m !== 'none'),
    )
    expect(metadata.introspection_endpoint_auth_signing_alg_values_supported).toEqual(
      metadata.token_endpoint_auth_signing_alg_values_supported,
    )
  })

  test('§2 returns 404 and omits the endpoint from the metadata if introspection is disabled', async () => {
    await using off = await startServer({ introspection: false })
    const response = await fetch(`${off.issuer}/.well-known/oauth-authorization-server`)
    const metadata = (await response.json()) as Record<string, unknown>
    expect(Object.keys(metadata).filter((name) => name.startsWith('introspection'))).toEqual([])
    expect((await postForm(`${off.issuer}/oauth/introspect`, { token: 'x' })).status).toBe(404)
  })
})

describe('RFC 7662 §2.1 the introspection request', () => {
  test('IR-01 rejects callers without valid client authentication [T261]', async () => {
    const { access_token: token } = await conf.tokens()
    const url = `${app.issuer}/oauth/introspect`
    const wrong = { clientId: conf.clientId, clientSecret: 'wrong' }
    const responses = [
      await postForm(url, { token }),
      await postForm(url, { token }, basicOf(wrong)),
      await postForm(url, { token, client_id: conf.clientId }),
      await postForm(url, { token, client_id: conf.clientId, client_secret: 'wrong' }),
      await postForm(url, { token }, { authorization: `Bearer ${token}` }),
      await postForm(url, { token: 'x' }, { authorization: 'Basic !' }),
    ]
    for (const answer of responses)
      expect(refusal(asTokenResponse(answer))).toBe('401 invalid_client')
    expect(responses[1]?.headers.get('www-authenticate')).toMatch(/^Basic /)
  })

  test('IR-01 rejects a public client, even for its own tokens [T262]', async () => {
    const { access_token: token } = await pub.tokens()
    const url = `${app.issuer}/oauth/introspect`
    const responses = [
      await postForm(url, { token, client_id: pub.clientId }),
      await postForm(url, { token, client_id: pub.clientId, client_secret: pub.clientSecret }),
      await postForm(url, { token }, basicOf(pub)),
    ]
    for (const answer of responses)
      expect(refusal(asTokenResponse(answer))).toBe('401 invalid_client')
  })

  test('§2.1 accepts client_secret_post', async () => {
    const { access_token: token } = await conf.tokens()
    const { clientId: client_id, clientSecret: client_secret } = conf
    const fields = { token, client_id, client_secret }
    const { body } = await postForm(`${app.issuer}/oauth/introspect`, fields)
    expect(body.active).toBe(true)
  })

  test.each<[string, Fields]>([
    ['missing', {}],
    ['empty', { token: '' }],
    ['repeated', 'token=a&token=a'],
    ['sent with a repeated hint', 'token=a&token_type_hint=x&token_type_hint=x'],
  ])('IR-02 returns invalid_request for a token that is %s [T258]', async (_what, fields) => {
    expect(refusal(asTokenResponse(await introspectAs(conf, fields)))).toBe('400 invalid_request')
  })

  test('IR-01 ignores a token in the query [T257]', async () => {
    const { access_token: token } = await conf.tokens()
    const url = `${app.issuer}/oauth/introspect?token=${token}`
    expect(refusal(asTokenResponse(await postForm(url, {}, basicOf(conf))))).toBe(
      '400 invalid_request',
    )
  })

  test.each([
    ['access_token', 'access_token'],
    ['refresh_token', 'refresh_token'],
    ['an unknown one', 'session'],
    ['an empty one', ''],
    ['5,000 characters', 'x'.repeat(5_000)],
  ])('§2.1 finds the token with any token_type_hint: %s [T259]', async (_what, token_type_hint) => {
    const { access_token, refresh_token } = await conf.tokens()
    for (const token of [access_token, refresh_token])
      expect((await introspect(conf, token, { token_type_hint })).body.active).toBe(true)
    expectInactive(await introspect(conf, 'unknown', { token_type_hint }))
  })
})

describe('RFC 7662 §2.2 active tokens', () => {
  test('§2.2 returns exactly the expected members for an access token [T263]', async () => {
    const { access_token } = await conf.tokens()
    const { status, headers, body } = await introspect(conf, access_token)
    const now = Math.floor(app.now() / 1000)
    const found = await app.server.tokens.find({ accessToken: access_token })
    expect(status).toBe(200)
    expect(body).toEqual({
      active: true,
      scope: 'notes:read',
      client_id: conf.clientId,
      token_type: 'Bearer',
      exp: now + 3_600,
      iat: now,
      sub: String(app.user.id),
      aud: app.issuer,
      iss: app.issuer,
      jti: String(found?.token.id),
    })
    expect(headers.get('content-type')).toMatch(/^application\/json\b/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('pragma')).toBe('no-cache')
  })

  test('§2.2 returns the scope and the expiry of a refresh token, without token_type [T264]', async () => {
    const { refresh_token } = await conf.tokens({ scope: 'notes:read notes:write' })
    const { body: narrowed } = await conf.refresh(refresh_token, { scope: 'notes:read' })
    const now = Math.floor(app.now() / 1000)
    expect((await introspect(conf, narrowed.refresh_token)).body).toEqual({
      active: true,
      scope: 'notes:read notes:write',
      client_id: conf.clientId,
      exp: now + 2_592_000,
      iat: now,
      sub: String(app.user.id),
      aud: app.issuer,
      iss: app.issuer,
    })
    expect((await introspect(conf, narrowed.access_token)).body.scope).toBe('notes:read')
  })

  test('§2.2 returns the owner of the client as sub of a client_credentials token, or the client if there is no owner', async () => {
    const machine = { grant_type: 'client_credentials' }
    const own = (await conf.token(machine)).body.access_token
    expect((await introspect(conf, own)).body).toMatchObject({ sub: String(app.user.id) })
    const ownerless = await TestClient.register(app, agent, { userId: null })
    const { access_token } = (await ownerless.token(machine)).body
    expect((await introspect(ownerless, access_token)).body).toMatchObject({
      sub: ownerless.clientId,
      client_id: ownerless.clientId,
    })
  })

  test('IR-02 returns no exp for a token that does not expire', async () => {
    // Only the code of a host can return such a token.
    await using host = await startServer({
      getToken: async (by, next) => {
        const given = await next(by)
        if (!given) return undefined
        return { ...given, token: { ...given.token, expires: null } as typeof given.token }
      },
    })
    const machine = await TestClient.register(host, agent)
    const { body } = await machine.token({ grant_type: 'client_credentials' })
    const answer = await introspect(machine, body.access_token)
    expect(answer.body.active).toBe(true)
    expect(answer.body).not.toHaveProperty('exp')
  })

  test('RFC 8707, RFC 9449 §6.2 returns the resources as aud, and the key thumbprint [T416]', async () => {
    const client = await clientOf(app, conf.clientId)
    const issue = (more: { resources: readonly string[]; keyThumbprint?: string }) =>
      app.server.tokens.issue({ type: 'client', client, subject: app.user, scopes: [], ...more })
    const one = await issue({ resources: [files] })
    expect((await introspect(conf, one.accessToken)).body).toMatchObject({ aud: files })
    const two = await issue({ resources: [files, mail], keyThumbprint: 'x'.repeat(43) })
    expect((await introspect(conf, two.accessToken)).body).toMatchObject({
      aud: [files, mail],
      token_type: 'DPoP',
      cnf: { jkt: 'x'.repeat(43) },
    })
  })

  test('RFC 9068 §2.2 returns all claims of a JWT access token', async () => {
    await using other = await startServer({ accessTokenFormat: 'jwt' })
    const client = await TestClient.register(other, new UserAgent())
    const { access_token } = await client.tokens()
    const claims = JSON.parse(
      Buffer.from(access_token.split('.')[1] ?? '', 'base64url').toString(),
    ) as Record<string, unknown>
    const { body } = await introspect(client, access_token)
    expect(body).toMatchObject(claims)
    expect(body.active).toBe(true)
  })
})

describe('RFC 7662 §2.2 inactive tokens', () => {
  test('IR-02 reports unknown, malformed and very long tokens, and codes, as inactive [T265]', async () => {
    const tokens = ['unknown', '\0', 'a.b.c', "' or 1=1 --", await conf.code(), 'x'.repeat(60_000)]
    for (const token of tokens) expectInactive(await introspect(conf, token))
  })

  test('IR-02 reports tokens of another client as inactive [T266]', async () => {
    const { access_token, refresh_token } = await conf.tokens()
    const machine = (await conf.token({ grant_type: 'client_credentials' })).body.access_token
    for (const token of [access_token, refresh_token, machine])
      expectInactive(await introspect(conf2, token))
    const public_ = await pub.tokens()
    expectInactive(await introspect(conf, public_.access_token))
  })

  test('IR-02 reports a personal token as inactive to every client [T267]', async () => {
    const token = await app.personalToken(['notes:read'])
    expectInactive(await introspect(conf, token))
    expect(await ping(app, token)).toBe(200)
  })

  test('IR-02 reports expired, revoked and rotated tokens as inactive [T268]', async () => {
    await using other = await startServer()
    const client = await TestClient.register(other, new UserAgent())
    const first = await client.tokens()
    const { body: second } = await client.refresh(first.refresh_token)
    expectInactive(await introspect(client, first.refresh_token))
    other.advance(60)
    expectInactive(await introspect(client, first.access_token))
    other.advance(3_540)
    expectInactive(await introspect(client, second.access_token))
    expect((await introspect(client, second.refresh_token)).body.active).toBe(true)
    other.advance(2_592_000)
    expectInactive(await introspect(client, second.refresh_token))
    const third = await client.tokens()
    await postForm(`${other.issuer}/oauth/revoke`, { token: third.refresh_token }, basicOf(client))
    expectInactive(await introspect(client, third.access_token))
    expectInactive(await introspect(client, third.refresh_token))
  })

  test('IR-02 reports tokens of an inactive user as inactive until reactivation [T269]', async () => {
    const { server } = app
    const user = await server.users.create({ email: 'user-c@example.org', password: null })
    const { accessToken, refreshToken } = await server.tokens.issue({
      type: 'user',
      client: await clientOf(app, conf.clientId),
      subject: user,
      scopes: [],
      refreshable: true,
    })
    for (const active of [false, true]) {
      await server.users.setActive(user.id, active)
      for (const token of [accessToken, refreshToken ?? ''])
        expect((await introspect(conf, token)).body.active).toBe(active)
    }
  })

  test('§2.2 reports a key-bound token as inactive if DPoP is disabled [T260]', async () => {
    await using other = await startServer({ dpop: 'off' })
    const client = await TestClient.register(other, new UserAgent())
    const { accessToken } = await other.server.tokens.issue({
      type: 'client',
      client: await clientOf(other, client.clientId),
      subject: other.user,
      scopes: [],
      keyThumbprint: 'x'.repeat(43),
    })
    expectInactive(await introspect(client, accessToken))
  })

  test('§4 performs the same store operations for every inactive token [T270]', async () => {
    const { operations, aroundStore } = recordOperations()
    await using other = await startServer({ aroundStore })
    const client = await TestClient.register(other, new UserAgent())
    const anotherClient = await TestClient.register(other, new UserAgent())
    const theirs = await anotherClient.tokens()
    const personal = await other.personalToken()
    const operationsFor = async (token: string) => {
      operations.length = 0
      expectInactive(await introspect(client, token))
      return [...operations].sort()
    }
    const unknown = await operationsFor('unknown')
    for (const token of [theirs.access_token, theirs.refresh_token, personal, 'a.b.c'])
      expect(await operationsFor(token)).toEqual(unknown)
  })
})

describe('RFC 7662 §4 limits for callers', () => {
  test('lets a resource server introspect only access tokens that are valid for its resource [T272]', async () => {
    const introspectionClients: string[] = []
    await using other = await startServer({
      resources: [{ resource: files, introspectionClients }, { resource: mail }],
    })
    const server = await TestClient.register(other, new UserAgent())
    introspectionClients.push(server.clientId)
    const asking = await TestClient.register(other, new UserAgent(), { isConfidential: false })
    const client = await clientOf(other, asking.clientId)
    const issue = (resources: readonly string[]) =>
      other.server.tokens.issue({
        type: 'user',
        client,
        subject: other.user,
        scopes: ['notes:read'],
        refreshable: true,
        resources,
      })
    for (const resources of [[files], [mail, files], []]) {
      const { accessToken } = await issue(resources)
      expect((await introspect(server, accessToken)).body).toMatchObject({
        active: true,
        client_id: asking.clientId,
        sub: String(other.user.id),
      })
    }
    const elsewhere = await issue([mail])
    expectInactive(await introspect(server, elsewhere.accessToken))
    const { refreshToken } = await issue([files])
    expectInactive(await introspect(server, refreshToken ?? ''))
    expectInactive(await introspect(server, await other.personalToken()))
    const nobody = await TestClient.register(other, new UserAgent())
    expectInactive(await introspect(nobody, (await issue([files])).accessToken))
  })

  test('§4 a token for the application alone is inactive for the servers of other resources [T2905]', async () => {
    const issuer = 'http://localhost:3000'
    const [ofFiles, ofApplication]: [string[], string[]] = [[], []]
    const server = await createTestServer({
      issuer,
      resources: [
        { resource: files, introspectionClients: ofFiles },
        { resource: issuer, introspectionClients: ofApplication },
      ],
    })
    const user = await server.users.create({ email: 'a@example.org', password: null })
    const register = (name: string) => server.clients.create({ name, userId: user.id })
    const [client, forFiles, forApplication] = [
      await register('Client'),
      await register('Files'),
      await register('Application'),
    ]
    ofFiles.push(forFiles.client.clientId)
    ofApplication.push(forApplication.client.clientId)
    const tokenFor = async (resources: readonly string[]) => {
      const [subject, refreshable, scopes] = [user, false, []]
      const about = { type: 'user', client: client.client, subject, scopes, refreshable } as const
      return (await server.tokens.issue({ ...about, resources })).accessToken
    }
    const audienceFor = async (
      { client: { clientId: client_id }, clientSecret: client_secret }: typeof client,
      token: string,
    ) => {
      const body = new URLSearchParams({ client_id, client_secret, token })
      const request = new Request(`${issuer}/oauth/introspect`, { method: 'POST', body })
      return ((await (await server.fetch(request)).json()) as { readonly aud?: string }).aud
    }
    const limited = await tokenFor([issuer])
    expect(await audienceFor(forFiles, limited)).toBeUndefined()
    expect(await audienceFor(forApplication, limited)).toBe(issuer)
    // Without a resource, a token is valid at every resource, and its audience is the issuer.
    const unlimited = await tokenFor([])
    expect(await audienceFor(forFiles, unlimited)).toBe(issuer)
    expect(await audienceFor(forApplication, unlimited)).toBe(issuer)
    await server.close()
  })

  test('§4 limits requests with unknown tokens, but not requests with valid tokens [T273]', async () => {
    await using other = await startServer()
    const client = await TestClient.register(other, new UserAgent())
    const { access_token } = await client.tokens()
    for (let many = 0; many < 600; many += 50) {
      const guesses = Array.from({ length: 50 }, (_, i) => introspect(client, `${many + i}`))
      for (const answer of await Promise.all(guesses)) expectInactive(answer)
    }
    const stopped = await introspect(client, 'one more')
    expect(refusal(asTokenResponse(stopped))).toBe('429 temporarily_unavailable')
    expect(Number(stopped.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await introspect(client, access_token)).body.active).toBe(true)
    const neighbour = await TestClient.register(other, new UserAgent())
    expectInactive(await introspect(neighbour, 'unknown'))
    other.advance(60)
    expectInactive(await introspect(client, 'unknown'))
  })
})

test('RFC 7662 §4 does not return or log tokens and client secrets [T274]', async () => {
  const { access_token, refresh_token } = await conf.tokens()
  const responses = [
    await introspect(conf, access_token),
    await introspect(conf, refresh_token),
    await introspect(conf2, access_token),
  ]
  const output = JSON.stringify([responses.map(({ body }) => body), app.log])
  for (const secret of [access_token, refresh_token, conf.clientSecret])
    expect(output).not.toContain(secret)
})

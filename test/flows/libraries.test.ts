import express from 'express'
import { decodeJwt } from 'jose'
import * as oauth from 'oauth4webapi'
import { requireApiAuth, rest } from 'svc-oauth2server/express'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { remoteSite } from '../support/remote-site.ts'
import { type Served, serve } from '../support/rest-app.ts'
import { redirectUri, startServer, type TestOptions, type TestServer } from '../support/server.ts'
import { jwksOf, newClientKey } from '../support/signing-client.ts'
import { statusOf } from '../support/tokens.ts'
import { ping, UserAgent } from '../support/user-agent.ts'
import {
  type Asked,
  type Library,
  type LibraryClient,
  type Method,
  methods,
  refusalOf,
  type Tokens,
} from './libraries/library.ts'
import { newClient } from './libraries/new-client.ts'
import { insecure, oauth4webapi, serverAt } from './libraries/oauth4webapi.ts'
import { openidClient } from './libraries/openid-client.ts'

// These tests run every flow with two independent client libraries, which discover all URLs from the issuer.

const libraries: readonly Library[] = [oauth4webapi, openidClient]
const confidential = methods.filter((method) => method !== 'none')

const files = 'https://files.example'
const mail = 'https://mail.example'
const initialAccessToken = 'an-initial-access-token-of-this-test'
const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'

/** Sets the clock of the server to the clock of this machine, which the libraries use. */
const setClock = (app: TestServer): void => app.advance((Date.now() - app.now()) / 1000)

// The clock is a function and cannot be sent to other processes. So these servers run in this process, even in the
// project `nodes`.
const alone = { clock: () => Date.now() }

/** Starts a server and logs in a user. */
const start = async (
  options: TestOptions = {},
): Promise<{ readonly app: TestServer; readonly agent: UserAgent }> => {
  const app = await startServer(options)
  setClock(app)
  const agent = new UserAgent()
  await agent.logIn(app)
  return { app, agent }
}

/** Returns the tokens of a new authorization. */
const authorize = async (
  { app, agent }: { readonly app: TestServer; readonly agent: UserAgent },
  client: LibraryClient,
  asked: Asked = { scope: 'notes:read' },
  isPushed = false,
): Promise<Tokens & { readonly refresh_token: string }> => {
  const { url, finish } = await client.begin(asked, { isPushed })
  const tokens = await finish(await agent.authorize(app, url))
  return { ...tokens, refresh_token: tokens.refresh_token ?? '' }
}

/** Returns the user, client and scopes of a token. */
const info = async (app: TestServer, client: LibraryClient, token: string): Promise<unknown> =>
  (await client.request(token, `${app.issuer}/oauth/info`)).json()

const resources = (...names: readonly string[]): [string, string][] =>
  names.map((name) => ['resource', name])

const challengeOf = async (work: Promise<unknown>): Promise<Readonly<Record<string, string>>> => {
  const error = await work.catch((thrown: unknown) => thrown)
  if (!(error instanceof oauth.WWWAuthenticateChallengeError)) throw error
  return error.cause[0]?.parameters as Record<string, string>
}

describe.each(
  libraries.flatMap((library) =>
    ['', '/app'].map((basePath) => ({ library, name: library.name, basePath })),
  ),
)('$name with the issuer path "$basePath"', ({ library, basePath }) => {
  let given: Awaited<ReturnType<typeof start>>
  let app: TestServer
  let agent: UserAgent
  beforeAll(async () => {
    given = await start({
      basePath,
      allowedGrantTypes: ['authorization_code', 'client_credentials', 'refresh_token', 'password'],
      resources: [{ resource: files }, { resource: mail }],
      tokenExchange: true,
      dynamicRegistration: basePath === '' ? 'open' : 'token',
      initialAccessToken,
    })
    app = given.app
    agent = given.agent
  })
  beforeEach(() => setClock(app))
  afterAll(() => app.close())

  test.each(methods)(
    'RFC 6749 §4.1, §6, RFC 7636, RFC 9207 redeems a code with PKCE, and refreshes, with %s [T629]',
    async (method) => {
      const client = await newClient(app, library, { method })
      expect(client.server).toMatchObject({
        issuer: app.issuer,
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: expect.arrayContaining([method]),
        // This member makes the libraries require `iss` in the authorization response.
        authorization_response_iss_parameter_supported: true,
      })
      const { url, finish } = await client.begin({ scope: 'notes:read user:email' })
      const callback = await agent.authorize(app, url)
      const tokens = await finish(callback)
      expect(tokens).toMatchObject({
        token_type: 'bearer',
        expires_in: 3600,
        scope: 'notes:read user:email',
      })
      expect(await info(app, client, tokens.access_token)).toEqual({
        user: { id: app.user.id, email: app.user.email, email_verified: true },
        client: { client_id: client.self.client_id, name: 'Client' },
        scopes: ['notes:read', 'user:email'],
      })

      const refreshed = await client.refresh(tokens.refresh_token ?? '', { scope: 'notes:read' })
      expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)
      expect(refreshed.scope).toBe('notes:read')
      expect(await info(app, client, refreshed.access_token)).toMatchObject({
        scopes: ['notes:read'],
      })
      const former = info(app, client, tokens.access_token)
      expect(await refusalOf(former)).toBe('401 bearer invalid_token')

      expect(await refusalOf(finish(callback))).toBe('400 invalid_grant')
      const ended = info(app, client, refreshed.access_token)
      expect(await refusalOf(ended)).toBe('401 bearer invalid_token')
    },
  )

  test('RFC 9207 §2.4 returns an iss that the library requires and verifies [T398]', async () => {
    const client = await newClient(app, library)
    const { url, finish } = await client.begin({ scope: 'notes:read' })
    const callback = await agent.authorize(app, url)
    expect(callback.searchParams.get('iss')).toBe(app.issuer)
    const mixedUp = new URL(callback)
    mixedUp.searchParams.set('iss', 'https://evil.example')
    const without = new URL(callback)
    without.searchParams.delete('iss')
    for (const answer of [mixedUp, without])
      expect(await refusalOf(finish(answer))).toBe('the client: OAUTH_INVALID_RESPONSE')
    expect((await finish(callback)).scope).toBe('notes:read')
  })

  test('RFC 6749 §4.1.2.1 reports a denial by the user to the client', async () => {
    const client = await newClient(app, library)
    const { url, finish } = await client.begin({ scope: 'notes:read' })
    const callback = await agent.authorize(app, url, 'no')
    expect(await refusalOf(finish(callback))).toBe('redirected access_denied')
  })

  test.each(confidential)(
    'RFC 6749 §4.4 issues a client_credentials token with %s',
    async (method) => {
      const client = await newClient(app, library, { method })
      const tokens = await client.clientCredentials({ scope: 'notes:read' })
      expect(tokens.scope).toBe('notes:read')
      expect(tokens.refresh_token).toBeUndefined()
      expect(await info(app, client, tokens.access_token)).toMatchObject({
        user: { id: app.user.id },
        client: { client_id: client.self.client_id },
      })
      const wider = client.clientCredentials({ scope: 'notes:write' })
      expect(await refusalOf(wider)).toBe('400 invalid_scope')
    },
  )

  test('RFC 6749 §4.3 issues tokens for the password grant', async () => {
    const client = await newClient(app, library)
    const credentials = { username: app.user.email, password: app.password, scope: 'notes:read' }
    const tokens = await client.grant('password', credentials)
    expect(tokens.user).toEqual({ id: app.user.id })
    expect(await info(app, client, tokens.access_token)).toMatchObject({ scopes: ['notes:read'] })
    expect((await client.refresh(tokens.refresh_token ?? '')).scope).toBe('notes:read')
    const wrong = client.grant('password', { ...credentials, password: 'wrong' })
    expect(await refusalOf(wrong)).toBe('400 invalid_grant')
  })

  test.each([
    ['client_secret_basic', '401 basic undefined'],
    ['client_secret_post', '401 invalid_client'],
  ] as const)('RFC 6749 §5.2 for a wrong secret with %s, returns %s', async (method, refusal) => {
    const { clientId } = await app.client()
    const client = await library.discover(app.issuer, { clientId, method, secret: 'wrong' })
    expect(await refusalOf(client.clientCredentials())).toBe(refusal)
  })

  test.each(['RS256', 'PS256', 'Ed25519'])(
    'RFC 7523 §2.2 accepts %s assertions for the code, refresh and client_credentials grants',
    async (alg) => {
      const client = await newClient(app, library, { method: 'private_key_jwt', alg })
      const tokens = await authorize(given, client)
      expect((await client.refresh(tokens.refresh_token)).scope).toBe('notes:read')
      expect((await client.clientCredentials()).scope).toBe('notes:read')
    },
  )

  test.each(methods)(
    'RFC 9126 §2 accepts a pushed authorization request with %s',
    async (method) => {
      const client = await newClient(app, library, { method })
      const { url, finish } = await client.begin({ scope: 'notes:read' }, { isPushed: true })
      expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri'])
      const tokens = await finish(await agent.authorize(app, url))
      expect(tokens.scope).toBe('notes:read')
      expect(await ping(app, tokens.access_token)).toBe(200)
      const refused = client.begin({ scope: 'unknown' }, { isPushed: true })
      expect(await refusalOf(refused)).toBe('400 invalid_scope')
    },
  )

  test.each(
    methods.flatMap((method) =>
      (['access_token', 'refresh_token'] as const).map((kind) => ({ method, kind })),
    ),
  )(
    'RFC 7009 §2.1 revokes both tokens if the client revokes the $kind, with $method',
    async ({ method, kind }) => {
      const client = await newClient(app, library, { method })
      const tokens = await authorize(given, client)
      expect(await ping(app, tokens.access_token)).toBe(200)
      await client.revoke(tokens[kind], kind)
      const used = client.request(tokens.access_token, `${app.issuer}/oauth/ping`)
      expect(await refusalOf(used)).toBe('401 bearer invalid_token')
      expect(await refusalOf(client.refresh(tokens.refresh_token))).toBe('400 invalid_grant')
      // The revocation of an invalid token is not an error (§2.2).
      await client.revoke(tokens[kind])
    },
  )

  test.each(confidential)('RFC 7662 §2 introspects a token with %s', async (method) => {
    const client = await newClient(app, library, { method })
    const tokens = await authorize(given, client)
    expect(await client.introspect(tokens.access_token)).toMatchObject({
      active: true,
      scope: 'notes:read',
      client_id: client.self.client_id,
      sub: String(app.user.id),
      iss: app.issuer,
      aud: app.issuer,
      token_type: 'Bearer',
    })
    const another = await newClient(app, library)
    expect(await another.introspect(tokens.access_token)).toEqual({ active: false })
    await client.revoke(tokens.refresh_token)
    expect(await client.introspect(tokens.access_token)).toEqual({ active: false })
  })

  describe('RFC 8707 resource indicators', () => {
    let atFiles: Served
    let atMail: Served
    beforeAll(async () => {
      const guarded = (resource: string) =>
        serve(
          express().get('/', rest(app.server, { resource }), requireApiAuth(), (_req, res) => {
            res.json({})
          }),
        )
      atFiles = await guarded(files)
      atMail = await guarded(mail)
    })
    afterAll(async () => {
      await atFiles[Symbol.asyncDispose]()
      await atMail[Symbol.asyncDispose]()
    })

    /** Returns the status of requests to the resource files, the resource mail, and the whole application. */
    const opens = async (client: LibraryClient, token: string): Promise<readonly unknown[]> =>
      Promise.all(
        [atFiles.issuer, atMail.issuer, `${app.issuer}/oauth/ping`].map(async (url) => {
          try {
            return (await client.request(token, url)).status
          } catch (error) {
            if (error instanceof oauth.WWWAuthenticateChallengeError) return error.status
            throw error
          }
        }),
      )

    test('RFC 8707 §2 issues tokens for each authorized resource separately, and for both together', async () => {
      const client = await newClient(app, library)
      const asked = new URLSearchParams([['scope', 'notes:read'], ...resources(files, mail)])
      const { url, finish } = await client.begin(asked)
      const callback = await agent.authorize(app, url)
      const one = await finish(callback, new URLSearchParams(resources(files)))
      expect(await opens(client, one.access_token)).toEqual([200, 401, 401])
      expect(await client.introspect(one.access_token)).toMatchObject({ aud: files })

      const refreshed = (refreshToken: string | undefined, ...names: readonly string[]) =>
        client.refresh(refreshToken ?? '', new URLSearchParams(resources(...names)))
      const other = await refreshed(one.refresh_token, mail)
      expect(await opens(client, other.access_token)).toEqual([401, 200, 401])
      const whole = refreshed(other.refresh_token, app.issuer)
      expect(await refusalOf(whole)).toBe('400 invalid_target')
      const both = await refreshed(other.refresh_token)
      expect(await opens(client, both.access_token)).toEqual([200, 200, 401])
      expect(await client.introspect(both.access_token)).toMatchObject({ aud: [files, mail] })
    })

    test('RFC 8707 §2 accepts resources in a pushed request and in client_credentials', async () => {
      const client = await newClient(app, library)
      const pushed = await authorize(given, client, { scope: 'notes:read', resource: files }, true)
      expect(await opens(client, pushed.access_token)).toEqual([200, 401, 401])
      const own = await client.clientCredentials({ resource: mail })
      expect(await opens(client, own.access_token)).toEqual([401, 200, 401])
    })

    test('RFC 8707 §2 returns invalid_target for an unknown resource', async () => {
      const client = await newClient(app, library)
      const resource = 'https://other.example'
      const { url, finish } = await client.begin({ resource })
      const callback = await agent.authorize(app, url)
      expect(await refusalOf(finish(callback))).toBe('redirected invalid_target')
      expect(await refusalOf(client.clientCredentials({ resource }))).toBe('400 invalid_target')
    })
  })

  test('RFC 8693 §2 exchanges a token for a child with fewer scopes, and revokes the child with its parent', async () => {
    const client = await newClient(app, library)
    const parent = await authorize(given, client, { scope: 'notes:read notes:write' })
    const exchange = (asked: Record<string, string>) =>
      client.grant(exchangeGrant, {
        subject_token: parent.access_token,
        subject_token_type: accessTokenType,
        ...asked,
      })
    const child = await exchange({ scope: 'notes:read' })
    expect(child).toMatchObject({ issued_token_type: accessTokenType, scope: 'notes:read' })
    expect(child.refresh_token).toBeUndefined()
    const notes = `${app.issuer}/api/notes`
    const write = (token: string) =>
      client.request(token, notes, { method: 'POST', body: '{"text":"Milk"}' })
    expect((await write(parent.access_token)).status).toBe(201)
    expect((await client.request(child.access_token, notes)).status).toBe(200)
    expect(await refusalOf(write(child.access_token))).toBe('403 bearer insufficient_scope')
    expect(await refusalOf(exchange({ scope: 'user:email' }))).toBe('400 invalid_scope')

    await client.revoke(parent.access_token)
    const ended = client.request(child.access_token, notes)
    expect(await refusalOf(ended)).toBe('401 bearer invalid_token')
  })

  test('RFC 9728 §5.1 lets a client discover the server and the required scope from challenges [T630]', async () => {
    const unauthorized = await newClient(app, library)
    const url = `${app.issuer}/api/notes`
    const challenge = await challengeOf(unauthorized.request('unknown', url))
    const resource = new URL(app.issuer)
    const response = await oauth.resourceDiscoveryRequest(resource, insecure)
    expect(response.url).toBe(challenge.resource_metadata)
    const metadata = await oauth.processResourceDiscoveryResponse(resource, response)
    expect(metadata.authorization_servers).toEqual([app.issuer])

    const [issuer = ''] = metadata.authorization_servers ?? []
    const { clientId, clientSecret: secret } = await app.client()
    const credentials = { clientId, method: 'client_secret_basic', secret } as const
    const client = await library.discover(issuer, credentials)
    const poor = await authorize(given, client, {})
    const { error, scope = '' } = await challengeOf(client.request(poor.access_token, url))
    expect([error, scope]).toEqual(['insufficient_scope', 'notes:read'])
    const { access_token } = await authorize(given, client, { scope })
    expect((await client.request(access_token, url)).status).toBe(200)
  })

  describe('RFC 7591 dynamic client registration', () => {
    const initial = () => (basePath === '' ? {} : { initialAccessToken })
    const metadata = (method: Method | undefined) => ({
      redirect_uris: [redirectUri],
      client_name: 'Registered here',
      ...(method && { token_endpoint_auth_method: method }),
      grant_types: ['authorization_code', 'refresh_token'],
      scope: 'notes:read user:email',
    })

    test.each([...methods, undefined])(
      'RFC 7591 §3 lets a client register, log in and refresh with the method %s',
      async (method) => {
        const key = method === 'private_key_jwt' ? await newClientKey() : undefined
        const client = await library.register(
          app.issuer,
          { ...metadata(method), ...(key && { jwks: JSON.parse(jwksOf(key)) }) },
          { ...initial(), ...(key && { key }) },
        )
        expect(client.self).toMatchObject({
          client_name: 'Registered here',
          scope: 'notes:read user:email',
          token_endpoint_auth_method: method ?? 'client_secret_basic',
        })
        const tokens = await authorize(given, client)
        expect(await info(app, client, tokens.access_token)).toMatchObject({
          client: { client_id: client.self.client_id, name: 'Registered here' },
        })
        const rotated = await client.refresh(tokens.refresh_token)
        expect(await statusOf(app, rotated.access_token)).toBe(200)
      },
    )

    test('RFC 7592 §2 lets a client read, update and delete its registration', async () => {
      const client = await library.register(app.issuer, metadata('client_secret_basic'), initial())
      const { registration_client_uri, registration_access_token } = client.self
      const token = String(registration_access_token)
      const uri = String(registration_client_uri)
      const read = await (await client.request(token, uri)).json()
      expect(read).toMatchObject({
        client_id: client.self.client_id,
        client_name: 'Registered here',
      })
      const changed = await client.request(token, uri, {
        method: 'PUT',
        body: JSON.stringify({
          ...metadata('client_secret_basic'),
          client_id: client.self.client_id,
          client_name: 'Another name',
        }),
      })
      const now = (await changed.json()) as Record<string, unknown>
      expect(now.client_name).toBe('Another name')
      const { access_token } = await authorize(given, client)
      expect(await info(app, client, access_token)).toMatchObject({
        client: { name: 'Another name' },
      })
      const last = String(now.registration_access_token ?? token)
      expect((await client.request(last, uri, { method: 'DELETE' })).status).toBe(204)
      expect(await refusalOf(client.request(last, uri))).toBe('401 bearer invalid_token')
      expect(await statusOf(app, access_token)).toBe(401)
    })

    test('RFC 7591 §3.2.2 returns an error that the library recognizes [T210]', async () => {
      const redirect_uris = ['http://client.example/cb']
      const refused = library.register(
        app.issuer,
        { ...metadata('none'), redirect_uris },
        initial(),
      )
      expect(await refusalOf(refused)).toBe('400 invalid_redirect_uri')
    })

    // With open registration, the server sends no challenge.
    if (basePath !== '')
      test('RFC 6750 §3 returns a challenge that the library recognizes without the initial access token [T203]', async () => {
        const register = (more: object) => library.register(app.issuer, metadata('none'), more)
        expect(await refusalOf(register({}))).toBe('401 bearer undefined')
        const wrong = register({ initialAccessToken: 'wrong' })
        expect(await refusalOf(wrong)).toBe('401 bearer invalid_token')
      })
  })
})

describe.each(
  libraries.flatMap((library) =>
    [false, true].map((requireDpopNonce) => ({ library, name: library.name, requireDpopNonce })),
  ),
)('$name with DPoP (nonces required: $requireDpopNonce)', ({ library, requireDpopNonce }) => {
  let given: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    given = await start({ ...alone, requireDpopNonce, tokenExchange: true })
  })
  afterAll(() => given.app.close())

  test.each([
    { method: 'none', isPushed: false },
    { method: 'none', isPushed: true },
    { method: 'client_secret_basic', isPushed: false },
    { method: 'client_secret_basic', isPushed: true },
  ] as const)(
    'RFC 9449 §5, §7, §10 binds the tokens of the code and refresh grants with $method (pushed: $isPushed)',
    async ({ method, isPushed }) => {
      const { app } = given
      const client = await newClient(app, library, { method, dpop: true })
      expect(client.server.dpop_signing_alg_values_supported).toContain('ES256')
      const tokens = await authorize(given, client, { scope: 'notes:read' }, isPushed)
      expect(tokens.token_type).toBe('dpop')
      const rotated = await client.refresh(tokens.refresh_token)
      expect(rotated.token_type).toBe('dpop')
      expect(await info(app, client, rotated.access_token)).toMatchObject({
        user: { id: app.user.id },
      })
      // An attacker without the key cannot use the token as a bearer token or with another key.
      expect(await ping(app, rotated.access_token)).toBe(401)
      const thief = await newClient(app, library, { method, dpop: true })
      const used = thief.request(rotated.access_token, `${app.issuer}/oauth/ping`)
      expect(await refusalOf(used)).toBe('401 dpop invalid_token')
    },
  )

  test('RFC 9449 §6 binds client_credentials and exchanged tokens to the key that introspection returns', async () => {
    const { app } = given
    const client = await newClient(app, library, { dpop: true })
    const parent = await client.clientCredentials()
    const child = await client.grant(exchangeGrant, {
      subject_token: parent.access_token,
      subject_token_type: accessTokenType,
    })
    for (const { access_token, token_type } of [parent, child]) {
      expect(token_type).toBe('dpop')
      expect(await client.introspect(access_token)).toMatchObject({
        active: true,
        token_type: 'DPoP',
        cnf: { jkt: client.keyThumbprint },
      })
    }
  })
})

describe.each(libraries)('$name with JWT access tokens', (library) => {
  let given: Awaited<ReturnType<typeof start>>
  let others: Served
  let resource: string
  /** A separate resource server, which knows only the published keys of the issuer. */
  const validate: express.RequestHandler = async (req, res) => {
    try {
      const headers = new Headers(req.headers as Record<string, string>)
      const request = new Request(resource, { headers })
      const as = await serverAt(given.app.issuer)
      res.json(await oauth.validateJwtAccessToken(as, request, resource, insecure))
    } catch (error) {
      res.status(401).json(String(error))
    }
  }
  beforeAll(async () => {
    others = await serve(express().get('/files', validate))
    resource = `${others.issuer}/files`
    given = await start({ ...alone, accessTokenFormat: 'jwt', resources: [{ resource }] })
  })
  afterAll(async () => {
    await given.app.close()
    await others[Symbol.asyncDispose]()
  })

  test.each([false, true])(
    'RFC 9068 §4 issues JWTs that another server can verify with the published keys (DPoP: %s) [T366]',
    async (dpop) => {
      const { app } = given
      const client = await newClient(app, library, { dpop })
      const tokens = await authorize(given, client, { scope: 'notes:read', resource })
      const rotated = await client.refresh(tokens.refresh_token)
      for (const token of [tokens, rotated]) {
        const answer = await client.request(token.access_token, resource)
        expect([answer.status, await answer.json()]).toEqual([
          200,
          expect.objectContaining({
            iss: app.issuer,
            aud: resource,
            sub: String(app.user.id),
            client_id: client.self.client_id,
            scope: 'notes:read',
            ...(dpop && { cnf: { jkt: client.keyThumbprint } }),
          }),
        ])
      }
    },
  )

  test('RFC 9068 §4 issues a JWT for the whole application that another resource rejects because of its aud', async () => {
    const { app } = given
    const client = await newClient(app, library)
    const { access_token } = await authorize(given, client)
    expect(decodeJwt(access_token).aud).toBe(app.issuer)
    expect((await client.request(access_token, resource)).status).toBe(401)
    expect(await ping(app, access_token)).toBe(200)
  })
})

describe.each(libraries)('$name with client ID metadata documents', (library) => {
  test.each(['none', 'private_key_jwt'] as const)(
    'draft-ietf-oauth-client-id-metadata-document §1 accepts an unregistered client with the method %s [T463]',
    async (method) => {
      await using site = await remoteSite()
      const { app, agent } = await start({
        ...alone,
        clientIdMetadataDocuments: true,
        dangerouslyAllowPrivateAddresses: true,
        outbound: site.outbound,
      })
      try {
        const key = method === 'none' ? undefined : await newClientKey()
        const clientId = site.url('/client.json')
        site.serve('/client.json', {
          client_id: clientId,
          client_name: 'Remote client',
          redirect_uris: [redirectUri],
          grant_types: ['authorization_code', 'refresh_token'],
          token_endpoint_auth_method: method,
          ...(key && { jwks: JSON.parse(jwksOf(key)) }),
        })
        const credentials = { clientId, method, ...(key && { key }) }
        const client = await library.discover(app.issuer, credentials)
        expect(client.server.client_id_metadata_document_supported).toBe(true)
        const tokens = await authorize({ app, agent }, client)
        expect(await info(app, client, tokens.access_token)).toMatchObject({
          client: { client_id: clientId, name: 'Remote client' },
        })
        const refreshed = await client.refresh(tokens.refresh_token)
        expect(await ping(app, refreshed.access_token)).toBe(200)
        expect(site.requests.map(({ url }) => url)).toEqual(['/client.json'])
      } finally {
        await app.close()
      }
    },
  )
})

describe.each(libraries)('$name with the profile oauth2.1', (library) => {
  let given: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    given = await start({ ...alone, securityProfile: 'oauth2.1' })
  })
  afterAll(() => given.app.close())

  test.each(methods)(
    'draft-ietf-oauth-v2-1 §4.1, §4.3 supports the code and refresh grants with %s',
    async (method) => {
      const { app } = given
      const client = await newClient(app, library, { method })
      expect(client.server.response_types_supported).toEqual(['code'])
      const tokens = await authorize(given, client)
      const refreshed = await client.refresh(tokens.refresh_token)
      expect(await info(app, client, refreshed.access_token)).toMatchObject({
        scopes: ['notes:read'],
      })
      const inQuery = await fetch(`${app.issuer}/oauth/ping?access_token=${refreshed.access_token}`)
      expect(inQuery.status).toBe(401)
      await client.revoke(refreshed.refresh_token ?? '')
      expect(await ping(app, refreshed.access_token)).toBe(401)
    },
  )

  test.each([
    [
      'a request without a challenge',
      { code_challenge: '', code_challenge_method: '' },
      'invalid_request',
    ],
    ['response type token', { response_type: 'token' }, 'unsupported_response_type'],
  ])('draft-ietf-oauth-v2-1 §4.1.1 rejects %s', async (_what, asked, error) => {
    const { app, agent } = given
    const client = await newClient(app, library)
    const { url, finish } = await client.begin({ scope: 'notes:read', ...asked })
    const callback = await agent.authorize(app, url)
    expect(await refusalOf(finish(callback))).toBe(`redirected ${error}`)
  })
})

describe.each(
  libraries.flatMap((library) =>
    [false, true].map((requireDpopNonce) => ({ library, name: library.name, requireDpopNonce })),
  ),
)(
  '$name with the profile fapi2 (nonces required: $requireDpopNonce)',
  ({ library, requireDpopNonce }) => {
    let given: Awaited<ReturnType<typeof start>>
    beforeAll(async () => {
      given = await start({ ...alone, securityProfile: 'fapi2', requireDpopNonce })
    })
    afterAll(() => given.app.close())

    test.each(['ES256', 'PS256', 'Ed25519'])(
      'FAPI 2.0 §5.3 supports the whole flow with %s assertions [T506]',
      async (alg) => {
        const { app } = given
        const client = await newClient(app, library, { method: 'private_key_jwt', alg, dpop: true })
        expect(client.server).toMatchObject({
          require_pushed_authorization_requests: true,
          token_endpoint_auth_methods_supported: ['private_key_jwt'],
        })
        const tokens = await authorize(given, client, { scope: 'notes:read' }, true)
        expect(tokens.token_type).toBe('dpop')
        const rotated = await client.refresh(tokens.refresh_token)
        const notes = `${app.issuer}/api/notes`
        expect((await client.request(rotated.access_token, notes)).status).toBe(200)
        expect(await ping(app, rotated.access_token)).toBe(401)
        expect(await client.introspect(rotated.access_token)).toMatchObject({
          active: true,
          token_type: 'DPoP',
          cnf: { jkt: client.keyThumbprint },
        })
        expect((await client.clientCredentials()).token_type).toBe('dpop')
        await client.revoke(rotated.refresh_token ?? '')
        const ended = client.request(rotated.access_token, notes)
        expect(await refusalOf(ended)).toBe('401 dpop invalid_token')
        expect(await client.introspect(rotated.access_token)).toEqual({ active: false })
      },
    )

    test('FAPI 2.0 §5.3.2 rejects a request that is not pushed, and a token request without a proof', async () => {
      const { app, agent } = given
      const method = 'private_key_jwt'
      const client = await newClient(app, library, { method, dpop: true })
      const { url, finish } = await client.begin({ scope: 'notes:read' })
      const callback = await agent.authorize(app, url)
      expect(await refusalOf(finish(callback))).toBe('redirected invalid_request')
      const keyless = await newClient(app, library, { method })
      expect(await refusalOf(keyless.clientCredentials())).toBe('400 invalid_dpop_proof')
    })
  },
)

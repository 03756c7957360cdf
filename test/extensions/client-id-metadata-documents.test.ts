import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { clientOfDocument, keepClient } from '../../src/records/clients/self-described.ts'
import { count, execute, query } from '../support/database.ts'
import { contextOf } from '../support/internals.ts'
import { forbiddenRedirectUris } from '../support/redirect-uris.ts'
import { type RemoteSite, remoteSite } from '../support/remote-site.ts'
import { startServer, type TestOptions, type TestServer } from '../support/server.ts'
import { assertionOf, jwksOf, jwtBearer, newClientKey } from '../support/signing-client.ts'
import {
  formIn,
  newPkce,
  type Pkce,
  ping,
  refusal,
  responseTo,
  TestClient,
  type TokenResponse,
  tokenRequest,
  UserAgent,
} from '../support/user-agent.ts'

let site: RemoteSite
let app: TestServer
beforeAll(async () => {
  site = await remoteSite()
})
afterAll(() => site.close())
beforeEach(async () => {
  app = await start()
  return () => app.close()
})

const start = (options: TestOptions = {}): Promise<TestServer> =>
  startServer({
    clientIdMetadataDocuments: true,
    dangerouslyAllowPrivateAddresses: true,
    outbound: site.outbound,
    ...options,
  })

const callback = 'https://client.example/callback'

let paths = 0
/** Publishes the metadata document of a client. Returns its URL, which is the client ID. */
const publish = (
  more: Readonly<Record<string, unknown>> = {},
  {
    headers = {},
    path = `/client-${++paths}.json`,
  }: {
    headers?: Record<string, string>
    path?: string
  } = {},
): string => {
  const clientId = site.url(path)
  site.serve(
    path,
    {
      client_id: clientId,
      client_name: 'Remote client',
      redirect_uris: [callback],
      grant_types: ['authorization_code', 'refresh_token'],
      ...more,
    },
    headers,
  )
  return clientId
}

const pathOf = (clientId: string): string => new URL(clientId).pathname
const timesAsked = (clientId: string): number =>
  site.requests.filter(({ url }) => url === pathOf(clientId)).length

/** Returns an installation of the client with its own browser. */
const device = (
  clientId: string,
  { redirectUri = callback, agent = new UserAgent(), server = app } = {},
): TestClient => new TestClient(server, agent, { clientId, clientSecret: '', redirectUri }, 'none')

/** Opens an authorization URL and asserts that the error page is shown. Returns the text of the page. */
const errorPage = async (
  clientId: string,
  given: Readonly<Record<string, string | undefined>> = {},
): Promise<{ status: number; text: string }> => {
  const client = device(clientId)
  const page = await client.agent.browse(client.url(given))
  expect(new URL(page.address).pathname).toBe('/oauth/errors')
  const html = await page.text()
  return { status: page.status, text: html.replaceAll(/<[^>]*>/g, ' ').replaceAll('&#39;', "'") }
}

const shownPath = async (clientId: string): Promise<string> => {
  const client = device(clientId)
  const page = await client.agent.browse(client.url())
  await page.body?.cancel()
  return new URL(page.address).pathname
}

describe('client ID metadata documents §3 the client ID', () => {
  test('§6 supports URLs as client IDs, and announces them in the metadata, only if the setting enables them [T468]', async () => {
    const supported = async ({ issuer }: TestServer) => {
      const response = await fetch(`${issuer}/.well-known/oauth-authorization-server`)
      const metadata = (await response.json()) as Record<string, unknown>
      return metadata.client_id_metadata_document_supported
    }
    expect(await supported(app)).toBe(true)
    await using off = await start({ clientIdMetadataDocuments: false })
    expect(await supported(off)).toBeUndefined()
    const clientId = publish()
    const client = device(clientId, { server: off })
    const page = await client.agent.browse(client.url())
    expect(new URL(page.address).pathname).toBe('/oauth/errors')
    expect(timesAsked(clientId)).toBe(0)
  })

  test.each([
    ['http://client.example/c', 'It must start with https://.'],
    ['HTTPS://client.example/c', 'It must start with https://.'],
    ['https://client.example', 'It must have a path.'],
    ['https://client.example?x=/c', 'It must have a path.'],
    ['https://user@client.example/c', 'It must not contain a user.'],
    ['https://user:password@client.example/c', 'It must not contain a user.'],
    ['https://client.example/c#x', 'It must not contain a fragment'],
    ['https://client.example/./c', 'Its path must not contain . or .. as a segment.'],
    ['https://client.example/a/../c', 'Its path must not contain . or .. as a segment.'],
    ['https://client.example/..', 'Its path must not contain . or .. as a segment.'],
    ['https://client.example/%2e%2E/c', 'Its path must not contain . or .. as a segment.'],
    ['https://client.example/.%2e/c', 'Its path must not contain . or .. as a segment.'],
    ['https://client.example/c c', 'It contains a character that is not allowed'],
    ['https://client.example/<c>', 'It contains a character that is not allowed'],
    ['https://client.example:22/c', 'Its port must be'],
    [`https://client.example/${'c'.repeat(1_000)}`, 'It is longer than'],
  ])('§3 rejects %s without fetching it [T449]', async (clientId, sentence) => {
    const before = site.requests.length
    const { status, text } = await errorPage(clientId)
    expect(status).toBe(400)
    expect(text).toContain(`The client ID is not valid: ${sentence}`)
    expect(site.requests.length).toBe(before)
  })

  test('§8.6 rejects private IP addresses in every spelling [T476]', async () => {
    await using safe = await start({ dangerouslyAllowPrivateAddresses: false })
    const clientId = publish()
    const ids = [
      clientId,
      clientId.replace('client.example', '127.0.0.1'),
      clientId.replace('client.example', '2130706433'),
      clientId.replace('client.example', '0x7f.1'),
      clientId.replace('client.example', '[::1]'),
      clientId.replace('client.example', '[::ffff:127.0.0.1]'),
      clientId.replace('client.example', 'localhost'),
      clientId.replace('https', 'http').replace('client.example', 'localhost'),
    ]
    for (const id of ids) {
      const client = device(id, { server: safe })
      const page = await client.agent.browse(client.url())
      expect(page.status).toBe(400)
      expect(new URL(page.address).pathname).toBe('/oauth/errors')
    }
    expect(timesAsked(clientId)).toBe(0)
  })

  test('§3 rejects a document whose client_id differs from its URL, even only in the spelling [T452]', async () => {
    const clientId = publish()
    expect(await shownPath(clientId)).toBe('/login')
    for (const other of [
      clientId.replace('client.example', 'CLIENT.example'),
      `${clientId}?`,
      clientId.replace('/client-', '/%63lient-'),
    ]) {
      site.respond(
        `${new URL(other).pathname}${other.endsWith('?') ? '?' : ''}`,
        (_request, response) => {
          response.writeHead(200, { 'content-type': 'application/json' })
          response.end(JSON.stringify({ client_id: clientId, redirect_uris: [callback] }))
        },
      )
      expect((await errorPage(other)).text).toMatch(/client_id must be the URL of the document/)
    }
  })
})

describe('client ID metadata documents §4 the document', () => {
  const withDocument = (document: unknown): string => {
    const path = `/document-${++paths}.json`
    const clientId = site.url(path)
    const fill = (text: string) => text.replaceAll('CLIENT_ID', clientId)
    site.serve(path, fill(typeof document === 'string' ? document : JSON.stringify(document)))
    return clientId
  }
  const right = { client_id: 'CLIENT_ID', client_name: 'C', redirect_uris: [callback] }

  test('accepts a valid document [T451]', async () => {
    expect(await shownPath(withDocument(right))).toBe('/login')
  })

  test.each([
    ['null', 'must be a JSON object'],
    ['[]', 'must be a JSON object'],
    ['"CLIENT_ID"', 'must be a JSON object'],
    ['{', 'It is not JSON.'],
    ['', 'It is not JSON.'],
    ['{}', 'client_id must be the URL of the document.'],
    [{ ...right, client_id: undefined }, 'client_id must be the URL'],
    [{ ...right, client_id: 'https://client.example/' }, 'client_id must be the URL'],
    [{ ...right, client_id: 'CLIENT_ID/' }, 'client_id must be the URL'],
    [{ ...right, client_id: ['CLIENT_ID'] }, 'client_id must be the URL'],
    [{ ...right, client_id: 1 }, 'client_id must be the URL'],
    [{ ...right, client_secret: 'x' }, 'client_secret is not allowed in the document.'],
    [{ ...right, client_secret: null }, 'client_secret is not allowed in the document.'],
    [
      { ...right, client_secret_expires_at: 0 },
      'client_secret_expires_at is not allowed in the document.',
    ],
    [{ ...right, token_endpoint_auth_method: 'client_secret_basic' }, 'must be one of'],
    [{ ...right, token_endpoint_auth_method: 'client_secret_post' }, 'must be one of'],
    [{ ...right, token_endpoint_auth_method: 'client_secret_jwt' }, 'must be one of'],
    [{ ...right, token_endpoint_auth_method: 'tls_client_auth' }, 'must be one of'],
    [
      { ...right, token_endpoint_auth_method: 'private_key_jwt' },
      'private_key_jwt needs jwks or jwks_uri',
    ],
    [{ ...right, token_endpoint_auth_method: 1 }, 'token_endpoint_auth_method must be'],
    [{ ...right, redirect_uris: undefined }, 'redirect_uris is missing.'],
    [{ ...right, redirect_uris: [] }, 'redirect_uris is missing.'],
    [{ ...right, redirect_uris: callback }, 'redirect_uris must be'],
    [{ ...right, redirect_uris: [1] }, 'redirect_uris must be'],
    [{ ...right, redirect_uris: { 0: callback } }, 'redirect_uris must be'],
    [
      {
        ...right,
        redirect_uris: Array(51)
          .fill(0)
          .map((_, i) => `${callback}${i}`),
      },
      'at most 50',
    ],
    [{ ...right, grant_types: ['client_credentials'] }, 'grant_types must contain one of'],
    [{ ...right, grant_types: ['password'] }, 'grant_types must contain one of'],
    [
      { ...right, grant_types: ['implicit'], response_types: ['token'] },
      'grant_types must contain',
    ],
    [{ ...right, grant_types: 'authorization_code' }, 'grant_types must be'],
    [{ ...right, client_name: {} }, 'client_name must be'],
    [{ ...right, client_name: 'a\u202Eb' }, 'client_name'],
    [{ ...right, client_uri: 'javascript:alert(1)' }, 'client_uri must be'],
    [{ ...right, logo_uri: 'data:image/svg+xml,x' }, 'logo_uri must be'],
    [{ ...right, tos_uri: 'ftp://127.0.0.1/' }, 'tos_uri must be'],
    [{ ...right, scope: ['notes:read'] }, 'scope must be'],
    [{ ...right, jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] } }, 'must not contain secret keys'],
    [{ ...right, jwks: 'x' }, 'jwks must be'],
  ] as const)(
    '§4 rejects the document %j with an explanation [T453]',
    async (document, sentence) => {
      const { status, text } = await errorPage(withDocument(document))
      expect(status).toBe(400)
      expect(text).toContain(sentence)
      expect(text).toMatch(
        /The metadata document of the client (?:is not valid|could not be fetched): /,
      )
    },
  )

  test('AZ-09 rejects dangerous redirect URIs [T460]', async () => {
    for (const uri of forbiddenRedirectUris) {
      const clientId = withDocument({ ...right, redirect_uris: [callback, uri] })
      const isRemoved = /^(?:myapp|com\.example\.app):/.test(uri)
      const { text } = await errorPage(clientId, isRemoved ? { redirect_uri: uri } : {})
      const refused = isRemoved
        ? /redirect_uri is missing, or not registered/
        : /is not valid: redirect_uris/
      expect([uri, text]).toEqual([uri, expect.stringMatching(refused)])
    }
  })

  test('§4.1 rejects a document with a private key for every authentication method [T457]', async () => {
    const { exportJWK } = await import('jose')
    const { privateKey } = await newClientKey()
    const jwks = { keys: [await exportJWK(privateKey)] }
    for (const method of ['none', 'private_key_jwt']) {
      const document = { ...right, token_endpoint_auth_method: method, jwks }
      expect((await errorPage(withDocument(document))).text).toContain(
        'must not contain secret keys',
      )
    }
  })

  test('§4.1 uses the first offered method of token_endpoint_auth_methods_supported if the main method is not offered [T1403]', async () => {
    const key = await newClientKey()
    const jwks = JSON.parse(jwksOf(key))
    const listed = (method: string | undefined, ...methods: readonly string[]) =>
      publish({
        token_endpoint_auth_method: method,
        token_endpoint_auth_methods_supported: methods,
        jwks,
      })
    const redeemed = async (clientId: string) => {
      const client = device(clientId)
      const withKey = {
        client_id: undefined,
        client_assertion_type: jwtBearer,
        client_assertion: await assertionOf(app, clientId, key, {
          aud: `${app.issuer}/oauth/token`,
        }),
      }
      const alone = refusal(await client.redeem(await client.code()))
      const signed = await client.redeem(await client.code(), withKey)
      return [alone, signed.status]
    }
    for (const clientId of [
      listed('client_secret_post', 'client_secret_post', 'private_key_jwt', 'none'),
      listed('tls_client_auth', 'private_key_jwt'),
      listed(undefined, 'private_key_jwt'),
    ])
      expect(await redeemed(clientId)).toEqual(['401 invalid_client', 200])
    // The main method has priority if the server offers it.
    const isPublic = listed('none', 'private_key_jwt', 'none')
    expect((await device(isPublic).tokens()).access_token).toMatch(/^\w+$/)
    const none = listed('client_secret_basic', 'client_secret_post', 'tls_client_auth')
    expect((await errorPage(none)).text).toContain('must be one of none, private_key_jwt')
    const wrong = publish({ token_endpoint_auth_methods_supported: 'none' })
    expect((await errorPage(wrong)).text).toContain('must be an array of strings')
  })

  test('ignores unsupported grant types, scopes and members, and the keys of a public client [T461]', async () => {
    const clientId = publish({
      grant_types: [
        'authorization_code',
        'refresh_token',
        'client_credentials',
        'implicit',
        'urn:ietf:params:oauth:grant-type:jwt-bearer',
      ],
      response_types: ['code', 'token', 'code id_token'],
      scope: 'openid notes:read test:scope',
      jwks: { keys: [{ kty: 'XYZ' }] },
      software_statement: 'a.b.c',
      application_type: 'native',
      __proto__: { is_confidential: true },
      is_internal: true,
      user_id: 1,
    })
    const tokens = await device(clientId).tokens()
    expect(tokens.refresh_token).toMatch(/^\w+$/)
    const client = await app.server.clients.find(clientId)
    expect(client).toMatchObject({
      grantTypes: ['authorization_code', 'refresh_token'],
      responseTypes: ['code'],
      allowedScopes: ['notes:read'],
      tokenEndpointAuthMethod: 'none',
      isConfidential: false,
      isInternal: false,
      isVerified: false,
      userId: null,
      jwks: null,
    })
    const wider = await device(clientId).ask({ scope: 'notes:write' })
    expect(responseTo({ redirectUri: callback }, wider).error).toBe('invalid_scope')
    const implicit = device(clientId).url({ response_type: 'token' })
    const answer = await new UserAgent().authorize(app, implicit)
    expect(answer.searchParams.get('error')).toBe('unauthorized_client')
  })

  test('truncates a long name, and uses the host as the name if client_name is missing', async () => {
    const long = publish({ client_name: 'x'.repeat(100) })
    const nameless = publish({ client_name: undefined })
    await device(long).code()
    await device(nameless).code()
    expect((await app.server.clients.find(long))?.name).toBe(`${'x'.repeat(39)}…`)
    expect((await app.server.clients.find(nameless))?.name).toBe(new URL(nameless).host)
  })

  test('§8.7 rejects a document of more than 16 KiB [T481]', async () => {
    expect((await errorPage(publish({ x: 'x'.repeat(17_000) }))).text).toContain(
      'It is larger than 16384 bytes.',
    )
    expect(await shownPath(publish({ x: 'x'.repeat(15_000) }))).toBe('/login')
  })

  test('§5 rejects a redirect and any status except 200 [T455]', async () => {
    const target = publish()
    const path = `/moved-${++paths}`
    site.respond(path, (_request, response) => {
      response.writeHead(302, { location: target }).end()
    })
    expect((await errorPage(site.url(path))).text).toContain(
      'It is a redirect, which the server does not follow.',
    )
    expect(timesAsked(target)).toBe(0)
    for (const status of [201, 203, 206, 404, 500]) {
      const other = `/status-${++paths}`
      site.respond(other, (_request, response) => {
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify({ client_id: site.url(other), redirect_uris: [callback] }))
      })
      expect((await errorPage(site.url(other))).text).toContain(
        `Its host responded with the status ${status}.`,
      )
    }
  })

  test('§4 accepts a content type that ends with +json, but not text/html [T456]', async () => {
    const json = publish({}, { headers: { 'content-type': 'application/client-metadata+json' } })
    expect(await shownPath(json)).toBe('/login')
    const html = publish({}, { headers: { 'content-type': 'text/html' } })
    expect((await errorPage(html)).text).toContain(
      'Its content type is not application/json or application/*+json.',
    )
  })
})

describe('client ID metadata documents §4.2, RFC 9700 §2.1 redirect URIs', () => {
  test('§4.2 accepts only redirect URIs that the document lists exactly [T458]', async () => {
    const clientId = publish()
    for (const redirect_uri of [`${callback}/`, 'https://evil.example/callback', clientId]) {
      const { text } = await errorPage(clientId, { redirect_uri })
      expect(text).toContain('redirect_uri is missing, or not registered')
    }
    expect(await device(clientId).code()).toMatch(/^\w+$/)
  })

  test('RFC 8252 §7.3 accepts any port of a loopback redirect URI [T459]', async () => {
    const loopback = 'http://127.0.0.1/callback'
    const clientId = publish({ redirect_uris: [loopback, 'http://localhost/callback'] })
    for (const redirectUri of [
      'http://127.0.0.1:49152/callback',
      'http://127.0.0.1:50000/callback',
      'http://localhost:1/callback',
    ]) {
      const installed = device(clientId, { redirectUri })
      const { access_token } = await installed.tokens()
      expect(await ping(app, access_token)).toBe(200)
    }
  })
})

describe('client ID metadata documents §5 storage of the client (DS-03)', () => {
  test('stores the client when the user consents, not at a request, a login or a denial', async () => {
    const clientId = publish()
    const rows = () => count(app.database, 'oauth2server_client')
    const before = rows()
    const client = device(clientId)
    await (await client.agent.browse(client.url())).body?.cancel()
    expect(rows()).toBe(before)
    const refused = await client.ask({}, 'no')
    expect(refused.searchParams.get('error')).toBe('access_denied')
    expect(rows()).toBe(before)
    await client.code()
    expect(rows()).toBe(before + 1)
  })

  test('does not store the client at the token endpoint', async () => {
    const clientId = publish()
    const before = count(app.database, 'oauth2server_client')
    const answer = await device(clientId).refresh('nothing')
    expect(refusal(answer)).toBe('400 invalid_grant')
    expect(count(app.database, 'oauth2server_client')).toBe(before)
  })
})

describe('the authorization code flow of a client with a metadata document', () => {
  test('§8.2 requires private_key_jwt with keys in the document or at its jwks_uri [T469]', async () => {
    const key = await newClientKey()
    const path = `/jwks-${++paths}.json`
    site.serve(path, jwksOf(key))
    const ids = [
      publish({ token_endpoint_auth_method: 'private_key_jwt', jwks: JSON.parse(jwksOf(key)) }),
      publish({ token_endpoint_auth_method: 'private_key_jwt', jwks_uri: site.url(path) }),
    ]
    for (const clientId of ids) {
      const client = device(clientId)
      const code = await client.code()
      expect(refusal(await client.redeem(code))).toBe('401 invalid_client')
      const evil = await newClientKey('ES256', { kid: key.jwk.kid ?? '' })
      const by = async (own: typeof key) => ({
        client_id: undefined,
        client_assertion_type: jwtBearer,
        client_assertion: await assertionOf(app, clientId, own),
      })
      expect(refusal(await client.redeem(code, await by(evil)))).toBe('401 invalid_client')
      const { status, body } = await client.redeem(code, await by(key))
      expect(status).toBe(200)
      expect((await client.refresh(body.refresh_token, await by(key))).status).toBe(200)
      expect(refusal(await client.refresh(body.refresh_token))).toBe('401 invalid_client')
      const machine = await client.token({ grant_type: 'client_credentials', ...(await by(key)) })
      expect(refusal(machine)).toBe('400 unauthorized_client')
    }
  })

  test('§8.5 shows the host of the client on the consent page, and warns that the client is not verified [T474]', async () => {
    const clientId = publish({
      client_name: 'Well known',
      client_uri: 'https://well-known.example',
    })
    const client = device(clientId)
    await client.agent.logIn(app)
    const html = await (await client.agent.browse(client.url())).text()
    expect(html).toContain(new URL(clientId).host)
    expect(html).toContain('Its name and description are not verified')
    // The page does not show a website on another host (§8.1).
    expect(html).not.toContain('well-known.example')
    const own = publish({ client_uri: site.url('/about'), logo_uri: site.url('/logo.svg') })
    const page = await (await client.agent.browse(device(own).url())).text()
    expect(page).toContain(site.url('/about'))
    expect(page).not.toContain('logo.svg')
    expect(site.requests.some(({ url }) => url === '/logo.svg' || url === '/about')).toBe(false)
  })

  test('does not remember consent, even for confidential clients [T475]', async () => {
    const key = await newClientKey()
    const jwks = JSON.parse(jwksOf(key))
    for (const more of [{}, { token_endpoint_auth_method: 'private_key_jwt', jwks }]) {
      const client = device(publish(more))
      await client.code()
      const page = await client.agent.browse(client.url())
      expect(page.status).toBe(200)
      expect(formIn(await page.text()).hidden).toHaveProperty('authorization_request')
      const silent = await client.agent.fetch(client.url({ prompt: 'none' }))
      const answer = new URL(silent.headers.get('location') ?? '')
      expect(answer.searchParams.get('error')).toBe('consent_required')
    }
  })
})

test('RFC 9700 §4.11.2 attacks AZ-16 does not redirect prompt=none errors to the client before the login', async () => {
  const { status, text } = await errorPage(publish(), { prompt: 'none' })
  expect([status, text]).toEqual([400, expect.stringContaining('login_required')])
})

describe('several installations with the same client ID', () => {
  test('revokes the tokens of one installation without revoking the tokens of others', async () => {
    const clientId = publish()
    const other = await app.server.users.create({
      email: 'user-b@example.org',
      password: app.password,
    })
    const asOther = new TestClient(
      { ...app, user: other, log: app.log },
      new UserAgent(),
      { clientId, clientSecret: '', redirectUri: callback },
      'none',
    )
    const [laptop, phone, others] = [
      await device(clientId).tokens(),
      await device(clientId).tokens(),
      await asOther.tokens(),
    ]
    const alive = async () =>
      Promise.all([laptop, phone, others].map(({ access_token }) => ping(app, access_token)))
    expect(await alive()).toEqual([200, 200, 200])
    const found = await app.server.tokens.find({ accessToken: laptop.access_token })
    if (!found) throw new Error('The token does not exist.')
    await app.server.tokens.revoke(found.token)
    expect(await alive()).toEqual([401, 200, 200])
    const phoneClient = device(clientId)
    expect((await phoneClient.refresh(phone.refresh_token)).status).toBe(200)
    expect(refusal(await phoneClient.refresh(laptop.refresh_token))).toBe('400 invalid_grant')
    expect((await device(clientId).refresh(others.refresh_token)).status).toBe(200)
  })

  test('lets a user revoke all installations of this user on a settings page, although the client ID is a URL', async () => {
    const clientId = publish()
    const other = await app.server.users.create({
      email: 'user-b@example.org',
      password: app.password,
    })
    const asOther = new TestClient(
      { ...app, user: other, log: app.log },
      new UserAgent(),
      { clientId, clientSecret: '', redirectUri: callback },
      'none',
    )
    const [laptop, phone, others] = [
      await device(clientId).tokens(),
      await device(clientId).tokens(),
      await asOther.tokens(),
    ]
    const agent = new UserAgent()
    await agent.logIn(app)
    const page = await agent.browse(`${app.issuer}/account/settings/applications/`)
    const html = await page.text()
    const action = `/account/settings/applications/authorized/${encodeURIComponent(clientId)}/revoke/`
    expect(html).toContain(action)
    expect(html).toContain(new URL(clientId).host)
    const { hidden } = formIn(html)
    const answer = await agent.fetch(`${app.issuer}${action}`, {
      method: 'POST',
      body: new URLSearchParams(hidden),
    })
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe('/account/settings/applications/')
    const alive = [laptop, phone, others].map(({ access_token }) => ping(app, access_token))
    expect(await Promise.all(alive)).toEqual([401, 401, 200])
  })

  test('returns 404 on the settings pages with which owners change or reset a client', async () => {
    const clientId = publish()
    const client = device(clientId)
    await client.code()
    const at = `${app.issuer}/account/settings/applications/clients/${encodeURIComponent(clientId)}/`
    expect((await client.agent.fetch(at)).status).toBe(404)
    const listed = await client.agent.browse(`${app.issuer}/account/settings/applications/`)
    const html = await listed.text()
    const form = { method: 'POST', body: new URLSearchParams(formIn(html).hidden) }
    expect((await client.agent.fetch(`${at}reset/`, form)).status).toBe(404)
    expect(html).not.toContain(`clients/${encodeURIComponent(clientId)}`)
  })
})

describe('client ID metadata documents §8.4 changes of the document', () => {
  const later = 61
  const clientOf = async (clientId: string) => {
    const client = await app.server.clients.find(clientId)
    if (!client) throw new Error('The client does not exist.')
    return client
  }

  test('§5 applies a new name and new redirect URIs after the document is fetched again [T462]', async () => {
    const clientId = publish()
    const client = device(clientId)
    const tokens = await client.tokens()
    const code = await client.code()
    const moved = 'https://client.example/moved'
    publish({ redirect_uris: [moved], client_name: 'Renamed' }, { path: pathOf(clientId) })
    app.advance(later - 10)
    expect((await clientOf(clientId)).redirectUris).toEqual([callback])
    app.advance(10)
    expect((await client.refresh(tokens.refresh_token)).status).toBe(200)
    expect(await clientOf(clientId)).toMatchObject({ redirectUris: [moved], name: 'Renamed' })
    // The new document does not contain the redirect URI of the code, so the code is invalid.
    expect(refusal(await client.redeem(code))).toBe('400 invalid_grant')
    const { text } = await errorPage(clientId, { redirect_uri: callback })
    expect(text).toContain('not registered')
    expect(await device(clientId, { redirectUri: moved }).code()).toMatch(/^\w+$/)
  })

  test('revokes the tokens of a confidential client that becomes public [T471]', async () => {
    const key = await newClientKey()
    const clientId = publish({
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: JSON.parse(jwksOf(key)),
    })
    const client = device(clientId)
    const given = {
      client_id: undefined,
      client_assertion_type: jwtBearer,
      client_assertion: await assertionOf(app, clientId, key),
    }
    const { body } = await client.redeem(await client.code(), given)
    expect(await ping(app, body.access_token)).toBe(200)
    publish({}, { path: pathOf(clientId) })
    app.advance(later)
    expect(refusal(await client.refresh(body.refresh_token))).toBe('400 invalid_grant')
    expect(await ping(app, body.access_token)).toBe(401)
    expect((await clientOf(clientId)).isConfidential).toBe(false)
  })

  test('requires authentication from a public client that becomes confidential [T470]', async () => {
    const clientId = publish()
    const client = device(clientId)
    const { refresh_token } = await client.tokens()
    const key = await newClientKey()
    const jwks = JSON.parse(jwksOf(key))
    publish({ token_endpoint_auth_method: 'private_key_jwt', jwks }, { path: pathOf(clientId) })
    app.advance(later)
    expect(refusal(await client.refresh(refresh_token))).toBe('401 invalid_client')
    const given = {
      client_id: undefined,
      client_assertion_type: jwtBearer,
      client_assertion: await assertionOf(app, clientId, key),
    }
    expect((await client.refresh(refresh_token, given)).status).toBe(200)
  })

  test('does not enable a client that an administrator disabled, even if its document changes [T472]', async () => {
    const clientId = publish({}, { headers: { 'cache-control': 'no-store' } })
    const client = device(clientId)
    const tokens = await client.tokens()
    const before = await clientOf(clientId)
    await app.server.clients.mark(clientId, { isDisabled: true })
    // A concurrent consent stores the former values of the client.
    await keepClient(before, contextOf(app.server))
    expect((await clientOf(clientId)).isDisabled).toBe(true)
    publish({ client_name: 'Another' }, { path: pathOf(clientId) })
    for (const after of [0, later, 90_000]) {
      app.advance(after)
      expect((await errorPage(clientId)).text).toContain('The client is unknown.')
      expect(refusal(await client.refresh(tokens.refresh_token))).toBe('401 invalid_client')
      expect(await ping(app, tokens.access_token)).toBe(401)
    }
    expect((await clientOf(clientId)).isDisabled).toBe(true)
    // The client remains disabled even after the sweeper has deleted the unused clients.
    await app.server.authorizedApplications.revoke(app.user.id, clientId)
    app.advance(40 * 86_400)
    while ((await app.server.sweep()) > 0);
    expect(count(app.database, 'oauth2server_authorization')).toBe(0)
    expect((await clientOf(clientId)).isDisabled).toBe(true)
    expect((await errorPage(clientId)).text).toContain('The client is unknown.')
    await app.server.clients.mark(clientId, { isDisabled: false })
    expect(await shownPath(clientId)).toBe('/login')
  })

  test('makes a verified client unverified when the redirect URIs in its document change [T473]', async () => {
    const clientId = publish()
    const client = device(clientId)
    await client.code()
    await app.server.clients.mark(clientId, { isVerified: true })
    const page = await client.agent.browse(client.url())
    expect(await page.text()).not.toContain('Its name and description are not verified')
    app.advance(later)
    await client.code()
    expect((await clientOf(clientId)).isVerified).toBe(true)
    publish({ redirect_uris: [callback, 'https://evil.example/'] }, { path: pathOf(clientId) })
    app.advance(later)
    await client.code()
    expect((await clientOf(clientId)).isVerified).toBe(false)
  })

  test('rejects stored clients with metadata documents after the setting is disabled', async () => {
    const clientId = publish()
    const { refresh_token } = await device(clientId).tokens()
    await using off = await start({
      clientIdMetadataDocuments: false,
      beside: app,
      issuer: app.issuer,
    })
    const answer = await off.server.fetch(
      new Request(`${app.issuer}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'refresh_token',
          client_id: clientId,
          refresh_token,
        }),
      }),
    )
    expect(answer.status).toBe(401)
    expect(await answer.json()).toMatchObject({ error: 'invalid_client' })
  })

  test('rejects a client whose row was tampered with, and does not overwrite the row', async () => {
    const clientId = publish()
    const client = device(clientId)
    const { refresh_token } = await client.tokens()
    await app.server.clients.mark(clientId, { isDisabled: true })
    execute(
      app.database,
      'update oauth2server_client set is_disabled = 0 where client_id = ?',
      clientId,
    )
    expect((await errorPage(clientId)).text).toContain('The client is unknown.')
    expect(refusal(await client.refresh(refresh_token))).toBe('401 invalid_client')
    const [row] = query(
      app.database,
      'select is_disabled from oauth2server_client where client_id = ?',
      clientId,
    )
    expect(row).toEqual({ is_disabled: 0 })
  })
})

describe('client ID metadata documents §5.1 an unavailable document', () => {
  test('§5.1 shows an error page for a new authorization, without a redirect [T464]', async () => {
    const clientId = publish()
    await device(clientId).code()
    site.respond(pathOf(clientId), (_request, response) => response.writeHead(500).end())
    app.advance(61)
    const { status, text } = await errorPage(clientId)
    expect(status).toBe(400)
    expect(text).toContain(
      'The metadata document of the client could not be fetched: Its host responded with the status 500.',
    )
  })

  test('accepts a stored client for a day, and then returns 503 until the document is available', async () => {
    const clientId = publish()
    const client = device(clientId)
    let { refresh_token } = await client.tokens()
    site.respond(pathOf(clientId), (_request, response) => response.writeHead(503).end())
    for (const after of [61, 3_600, 80_000]) {
      app.advance(after)
      const { status, body } = await client.refresh(refresh_token)
      expect(status).toBe(200)
      refresh_token = body.refresh_token
    }
    app.advance(3_600)
    const away = await client.refresh(refresh_token)
    expect(refusal(away)).toBe('503 temporarily_unavailable')
    expect(away.headers.get('retry-after')).toBe('5')
    // The refresh token is still valid.
    publish({}, { path: pathOf(clientId) })
    app.advance(4)
    expect((await client.refresh(refresh_token)).status).toBe(200)
  })

  test('uses the stored document of a pinned client while its host is away, and does not fetch it until it is unpinned [T2910]', async () => {
    const clientId = publish()
    const client = device(clientId)
    let { refresh_token } = await client.tokens()
    const asked = timesAsked(clientId)
    site.respond(pathOf(clientId), (_request, response) => response.writeHead(503).end())
    await app.server.clients.mark(clientId, { isPinned: true })
    for (const after of [61, 90_000, 20 * 86_400]) {
      app.advance(after)
      const { status, body } = await client.refresh(refresh_token)
      expect(status).toBe(200)
      refresh_token = body.refresh_token
      expect(await shownPath(clientId)).toBe('/login')
      await device(clientId).tokens()
    }
    publish(
      { client_name: 'Another', redirect_uris: ['https://evil.example/'] },
      { path: pathOf(clientId) },
    )
    expect(await shownPath(clientId)).toBe('/login')
    expect(timesAsked(clientId)).toBe(asked)
    const pinned = await app.server.clients.find(clientId)
    expect(pinned).toMatchObject({
      isPinned: true,
      name: 'Remote client',
      redirectUris: [callback],
    })
    await app.server.clients.mark(clientId, { isPinned: false })
    expect(await shownPath(clientId)).toBe('/oauth/errors')
    expect(timesAsked(clientId)).toBe(asked + 1)
    expect((await client.refresh(refresh_token)).status).toBe(200)
    expect(await app.server.clients.find(clientId)).toMatchObject({ name: 'Another' })
  })

  test('a document that was fetched before the client was pinned does not change the client [T2911]', async () => {
    const clientId = publish()
    await device(clientId).code()
    const stored = await app.server.clients.find(clientId)
    if (!stored) throw new Error('The client does not exist.')
    const input = {
      name: 'Another',
      redirectUris: ['https://evil.example/'],
      isConfidential: false,
    }
    const registration = {
      origin: 'metadata_document',
      registrationToken: null,
      metadata: '{}',
    } as const
    const fetched = clientOfDocument(
      clientId,
      { input, registration, stored },
      contextOf(app.server),
    )
    await app.server.clients.mark(clientId, { isPinned: true })
    await keepClient(fetched, contextOf(app.server))
    expect(await app.server.clients.find(clientId)).toMatchObject({
      isPinned: true,
      name: 'Remote client',
      redirectUris: [callback],
    })
  })

  test('a pinned client that an administrator disables is refused, and the sweeper keeps a pinned client [T2912]', async () => {
    const [used, unused] = [publish(), publish()]
    for (const clientId of [used, unused]) {
      await device(clientId).code()
      await app.server.clients.mark(clientId, { isPinned: true })
    }
    await app.server.clients.mark(used, { isDisabled: true })
    expect((await errorPage(used)).text).toContain('The client is unknown.')
    for (const clientId of [used, unused])
      await app.server.authorizedApplications.revoke(app.user.id, clientId)
    await app.server.clients.mark(used, { isDisabled: false, isPinned: false })
    app.advance(40 * 86_400)
    while ((await app.server.sweep()) > 0);
    expect(await app.server.clients.find(used)).toBeUndefined()
    expect(await app.server.clients.find(unused)).toMatchObject({ isPinned: true })
  })

  test('accepts a stored client with an invalid document for a day, and then rejects it', async () => {
    const clientId = publish()
    const client = device(clientId)
    const { refresh_token } = await client.tokens()
    publish({ client_id: 'https://client.example/other' }, { path: pathOf(clientId) })
    app.advance(61)
    const { status, body } = await client.refresh(refresh_token)
    expect(status).toBe(200)
    app.advance(90_000)
    expect(refusal(await client.refresh(body.refresh_token))).toBe('401 invalid_client')
  })

  test('rejects a client that is not stored if its document is unavailable or its ID is invalid [T454]', async () => {
    const gone = site.url('/nowhere.json')
    expect(refusal(await device(gone).refresh('x'))).toBe('401 invalid_client')
    const path = `/down-${++paths}`
    site.respond(path, (_request, response) => response.writeHead(503).end())
    expect(refusal(await device(site.url(path)).refresh('x'))).toBe('503 temporarily_unavailable')
    const bad = (await tokenRequest(app.issuer, {
      grant_type: 'refresh_token',
      client_id: 'https://client.example',
      refresh_token: 'x',
    })) as unknown as TokenResponse
    expect(refusal(bad)).toBe('401 invalid_client')
  })

  test('§5.2 does not cache an invalid document, despite its cache headers [T467]', async () => {
    const clientId = publish({ redirect_uris: [] }, { headers: { 'cache-control': 'max-age=600' } })
    expect((await errorPage(clientId)).text).toContain('redirect_uris is missing.')
    publish({}, { path: pathOf(clientId) })
    app.advance(4)
    expect(await shownPath(clientId)).toBe('/login')
  })
})

describe('client ID metadata documents §5.2, §9.1 caching and limits', () => {
  test('§5.2 caches the document as long as its cache headers permit [T465]', async () => {
    const clientId = publish({}, { headers: { 'cache-control': 'max-age=3600' } })
    const client = device(clientId)
    const { refresh_token } = await client.tokens()
    app.advance(3_500)
    expect((await client.refresh(refresh_token)).status).toBe(200)
    expect(timesAsked(clientId)).toBe(1)
    app.advance(200)
    await client.code()
    expect(timesAsked(clientId)).toBe(2)
  })

  test('DS-05 fetches at most 60 unknown documents per minute for one IP address at all endpoints together', async () => {
    const begin = site.requests.length
    const pkce: Pkce = newPkce()
    const name = async (index: number): Promise<string> => {
      const clientId = site.url(`/flood-${index}.json`)
      const url = device(clientId).url({ code_challenge: pkce.challenge })
      const ways = [
        () => fetch(url, { redirect: 'manual' }),
        () =>
          fetch(`${app.issuer}/oauth/token`, {
            method: 'POST',
            body: new URLSearchParams({ grant_type: 'refresh_token', client_id: clientId }),
          }),
        () =>
          fetch(
            `${app.issuer}/login?${new URLSearchParams({ next: url.slice(app.issuer.length) })}`,
          ),
      ]
      const response = await ways[index % 3]?.()
      const output = `${response?.headers.get('location')} ${await response?.text()}`
      return output.includes('Too') ? `too many ${response?.status}` : String(response?.status)
    }
    const responses: string[] = []
    for (let index = 0; index < 75; index += 1) responses.push(await name(index))
    expect(site.requests.length - begin).toBe(60)
    expect(responses.filter((answer) => answer.startsWith('too many')).length).toBeGreaterThan(5)
    // The response 401 would mean that the client itself is rejected.
    expect(responses).toContain('too many 429')
    expect(responses).not.toContain('too many 401')
    // After a minute, the server fetches documents again.
    app.advance(60)
    const clientId = publish()
    expect(await shownPath(clientId)).toBe('/login')
  })
})

test('accepts a client ID with http and a loopback host only if dangerouslyAllowPrivateAddresses is enabled [T450]', async () => {
  const { createServer } = await import('node:http')
  const server = createServer((request, response) => {
    const client_id = `http://localhost:${port}${request.url}`
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ client_id, redirect_uris: [callback] }))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  try {
    expect(await shownPath(`http://localhost:${port}/client.json`)).toBe('/login')
    await using safe = await start({ dangerouslyAllowPrivateAddresses: false })
    const client = device(`http://localhost:${port}/client.json`, { server: safe })
    const page = await client.agent.browse(client.url())
    expect(new URL(page.address).pathname).toBe('/oauth/errors')
  } finally {
    server.close()
  }
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawHttp } from '../support/raw-http.ts'
import { startServer, type TestOptions, type TestServer } from '../support/server.ts'
import { refusal, responseTo, TestClient, UserAgent } from '../support/user-agent.ts'

type Metadata = Record<string, unknown> & {
  readonly grant_types_supported: readonly string[]
  readonly response_types_supported: readonly string[]
}

const wellKnown = '/.well-known/oauth-authorization-server'
const fetchMetadata = async (url: string): Promise<Metadata> => (await fetch(url)).json() as never
const metadataOf = ({ issuer }: TestServer) => fetchMetadata(`${issuer}${wellKnown}`)

let app: TestServer
beforeAll(async () => {
  app = await startServer()
})
afterAll(() => app.close())

describe('RFC 8414 §3 the metadata URL', () => {
  test('returns public, cacheable JSON at the well-known URL [T295]', async () => {
    const response = await fetch(`${app.issuer}${wellKnown}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/json\b/)
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
    expect(response.headers.get('set-cookie')).toBeNull()
  })

  test('§3.1 for an issuer with a path, returns the metadata at its well-known URLs only [T297]', async () => {
    await using other = await startServer({ basePath: '/some/app' })
    const { origin } = new URL(other.issuer)
    const inserted = await fetchMetadata(`${origin}${wellKnown}/some/app`)
    expect(inserted.issuer).toBe(`${origin}/some/app`)
    expect(inserted.authorization_endpoint).toBe(`${origin}/some/app/oauth/authorize`)
    expect(await fetchMetadata(`${origin}/some/app${wellKnown}`)).toEqual(inserted)
    expect(await fetchMetadata(`${origin}${wellKnown}`)).toEqual(inserted)
    for (const path of [
      `${wellKnown}/`,
      `${wellKnown}/some`,
      `${wellKnown}/some/app/`,
      `/some${wellKnown}`,
      `/some/app${wellKnown}/some/app`,
    ])
      expect([path, (await fetch(`${origin}${path}`)).status]).toEqual([path, 404])
  })

  test('returns the same metadata even if the Host and forwarding headers name another host [T298]', async () => {
    const expected = await metadataOf(app)
    const { text } = await rawHttp(app, {
      target: wellKnown,
      headers: ['Host: evil.example', 'X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: https'],
    })
    expect(JSON.parse(text)).toEqual(expected)
    const absolute = await rawHttp(app, { target: `http://evil.example${wellKnown}` })
    if (absolute.status === 200) expect(JSON.parse(absolute.text)).toEqual(expected)
    else expect(absolute.status).toBeLessThan(500)
  })
})

const authMethods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none']
const algorithms = ['ES256', 'EdDSA', 'Ed25519', 'PS256', 'RS256']

describe('RFC 8414 §2 the content of the metadata', () => {
  test('contains exactly the expected members by default [T254]', async () => {
    const { issuer } = app
    expect(await metadataOf(app)).toEqual({
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      scopes_supported: ['notes:read', 'notes:write', 'user:email'],
      response_types_supported: expect.toSatisfy(
        (types: string[]) => `${[...types].sort()}` === 'code,token',
      ),
      response_modes_supported: expect.toSatisfy(
        (modes: string[]) => `${[...modes].sort()}` === 'form_post,fragment,query',
      ),
      grant_types_supported: expect.toSatisfy(
        (types: string[]) =>
          `${[...types].sort()}` === 'authorization_code,client_credentials,implicit,refresh_token',
      ),
      ui_locales_supported: expect.arrayContaining([
        'en',
        'ar',
        'de',
        'es',
        'fr',
        'it',
        'ja',
        'pl',
        'pt',
        'zh',
      ]),
      token_endpoint_auth_methods_supported: authMethods,
      token_endpoint_auth_signing_alg_values_supported: algorithms,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      protected_resources: [issuer],
      revocation_endpoint: `${issuer}/oauth/revoke`,
      revocation_endpoint_auth_methods_supported: authMethods,
      revocation_endpoint_auth_signing_alg_values_supported: algorithms,
      introspection_endpoint: `${issuer}/oauth/introspect`,
      introspection_endpoint_auth_methods_supported: authMethods.filter((name) => name !== 'none'),
      introspection_endpoint_auth_signing_alg_values_supported: algorithms,
      pushed_authorization_request_endpoint: `${issuer}/oauth/par`,
      dpop_signing_alg_values_supported: algorithms,
    })
  })

  test('§3.2 omits empty lists, except where a missing list means a default value [T290]', async () => {
    await using other = await startServer({
      allowedGrantTypes: [],
      allowedResponseTypes: [],
      scopes: [],
    })
    const metadata = await metadataOf(other)
    const empty = Object.keys(metadata).filter((name) => `${metadata[name]}` === '')
    expect(empty.sort()).toEqual(['grant_types_supported', 'response_types_supported'])
    expect(metadata).not.toHaveProperty('response_modes_supported')
  })

  test('does not list internal scopes [T292]', async () => {
    expect(JSON.stringify(await metadataOf(app))).not.toContain('test:scope')
  })

  test('decision §2 omits disabled endpoints from the metadata, and returns 404 for them', async () => {
    await using other = await startServer({
      revocation: false,
      introspection: false,
      pushedAuthorizationRequests: 'off',
    })
    const metadata = await metadataOf(other)
    for (const [member, path] of [
      ['revocation_endpoint', 'revoke'],
      ['introspection_endpoint', 'introspect'],
      ['registration_endpoint', 'register'],
      ['pushed_authorization_request_endpoint', 'par'],
      ['device_authorization_endpoint', 'device_authorization'],
      ['jwks_uri', 'jwks'],
    ] as const) {
      expect(metadata).not.toHaveProperty(member)
      for (const method of ['GET', 'POST'])
        expect((await fetch(`${other.issuer}/oauth/${path}`, { method })).status).toBe(404)
    }
  })

  test('lists URLs with the configured prefix', async () => {
    await using other = await startServer({ oauthPrefix: '/auth' })
    const { token_endpoint } = await metadataOf(other)
    expect(token_endpoint).toBe(`${other.issuer}/auth/token`)
    expect((await fetch(String(token_endpoint), { method: 'POST' })).status).toBe(400)
    expect((await fetch(`${other.issuer}/oauth/token`, { method: 'POST' })).status).toBe(404)
  })
})

describe('attacks MX-04 agreement of the metadata with the behaviour', () => {
  const grants = ['authorization_code', 'password', 'client_credentials', 'refresh_token'] as const
  test.each<[string, TestOptions, Partial<Record<string, readonly string[]>>]>([
    [
      'all grants',
      { allowedGrantTypes: grants },
      {
        grant_types_supported: [...grants, 'implicit'],
        response_types_supported: ['token', 'code'],
        response_modes_supported: ['query', 'fragment', 'form_post'],
      },
    ],
    [
      'all grants except implicit',
      { allowedResponseTypes: ['code'] },
      {
        grant_types_supported: ['client_credentials', 'refresh_token', 'authorization_code'],
        response_types_supported: ['code'],
        response_modes_supported: ['query', 'form_post'],
      },
    ],
    [
      'only implicit',
      { allowedGrantTypes: [], allowedResponseTypes: ['token'] },
      {
        grant_types_supported: ['implicit'],
        response_types_supported: ['token'],
        response_modes_supported: ['fragment', 'form_post'],
      },
    ],
    [
      'the response type token only',
      { allowedResponseTypes: ['token'] },
      {
        grant_types_supported: ['client_credentials', 'refresh_token', 'implicit'],
        response_types_supported: ['token'],
        response_modes_supported: ['fragment', 'form_post'],
      },
    ],
    [
      'only client_credentials',
      { allowedGrantTypes: ['client_credentials'], allowedResponseTypes: ['code'] },
      {
        grant_types_supported: ['client_credentials'],
        response_types_supported: [],
        response_modes_supported: [],
      },
    ],
  ])(
    'for settings that enable %s, accepts the listed types and rejects all others [T294]',
    async (_what, options, expected) => {
      await using other = await startServer(options)
      const metadata = await metadataOf(other)
      for (const [member, values = []] of Object.entries(expected))
        expect([...((metadata[member] ?? []) as string[])].sort(), member).toEqual(
          [...values].sort(),
        )

      const client = await TestClient.register(other, new UserAgent())
      for (const response_type of ['code', 'token']) {
        const answer = await client.ask({ response_type })
        const isListed = metadata.response_types_supported.includes(response_type)
        const { error } = responseTo(client, answer, answer.search === '' ? 'fragment' : 'query')
        expect([response_type, error]).toEqual([
          response_type,
          isListed ? undefined : 'unsupported_response_type',
        ])
      }
      const credentials = { username: other.user.email, password: other.password }
      for (const grant_type of grants) {
        const answer = await client.token({
          grant_type,
          code: 'x',
          refresh_token: 'x',
          ...credentials,
        })
        const isListed = metadata.grant_types_supported.includes(grant_type)
        const { error } = answer.body
        if (isListed) expect([undefined, 'invalid_grant']).toContain(error)
        else
          expect([grant_type, refusal(answer)]).toEqual([grant_type, '400 unsupported_grant_type'])
      }
      const isOff = refusal(await client.token({ grant_type: 'implicit' }))
      expect(isOff).toBe('400 unsupported_grant_type')
    },
  )

  test('supports every listed client authentication method [T293]', async () => {
    const { token_endpoint_auth_methods_supported: methods } = await metadataOf(app)
    const proofs = {
      client_secret_basic: 'basic',
      client_secret_post: 'post',
      none: 'none',
    } as const
    // rfc7523.test.ts covers private_key_jwt.
    expect(methods).toEqual(expect.arrayContaining(Object.keys(proofs)))
    expect(methods).toHaveLength(Object.keys(proofs).length + 1)
    const agent = new UserAgent()
    for (const proof of Object.values(proofs)) {
      const input = { isConfidential: proof !== 'none' }
      const client = await TestClient.register(app, agent, input, proof)
      expect((await client.tokens()).token_type).toBe('Bearer')
    }
  })

  test('accepts every listed scope [T291]', async () => {
    const { scopes_supported } = await metadataOf(app)
    const client = await TestClient.register(app, new UserAgent())
    const scope = (scopes_supported as string[]).join(' ')
    expect((await client.tokens({ scope })).scope).toBe(scope)
  })
})

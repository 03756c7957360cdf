import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { TestClient, UserAgent } from '../support/user-agent.ts'

// OpenID Connect Discovery 1.0. Titles begin with the section.

type Document = Readonly<Record<string, unknown>>

const documentAt = async (url: string): Promise<Document> => {
  const answer = await fetch(url)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  return (await answer.json()) as Document
}

describe.each(['', '/auth'])('Discovery with the base path %j', (basePath) => {
  let app: TestServer
  let origin: string
  beforeAll(async () => {
    app = await startServer({ openidConnect: true, basePath })
    origin = new URL(app.issuer).origin
  })
  afterAll(() => app.close())

  test('§4 is served below the issuer and at the root before the path of the issuer, and equals the metadata of RFC 8414 [T1540]', async () => {
    const document = await documentAt(`${app.issuer}/.well-known/openid-configuration`)
    expect(document.issuer).toBe(app.issuer)
    const others = [
      `${origin}/.well-known/openid-configuration${basePath}`,
      `${origin}/.well-known/oauth-authorization-server${basePath}`,
    ]
    for (const url of others) expect(await documentAt(url)).toEqual(document)
  })

  test('§3 contains every required member, and states which features are not supported [T1541]', async () => {
    const document = await documentAt(`${app.issuer}/.well-known/openid-configuration`)
    const at = (path: string) => `${app.issuer}/oauth/${path}`
    expect(document).toMatchObject({
      authorization_endpoint: at('authorize'),
      token_endpoint: at('token'),
      userinfo_endpoint: at('userinfo'),
      jwks_uri: at('jwks'),
      response_types_supported: expect.arrayContaining(['code']),
      subject_types_supported: ['public', 'pairwise'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256', 'EdDSA'],
      scopes_supported: expect.arrayContaining([
        'openid',
        'profile',
        'email',
        'address',
        'phone',
        'offline_access',
      ]),
      claims_supported: expect.arrayContaining(['sub', 'iss', 'auth_time', 'email', 'name']),
      claims_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    })
  })
})

test('§3 the FAPI 2.0 profile does not list RS256 [T1543]', async () => {
  await using app = await startServer({ openidConnect: true, securityProfile: 'fapi2' })
  const document = await documentAt(`${app.issuer}/.well-known/openid-configuration`)
  expect(document.id_token_signing_alg_values_supported).toEqual(['ES256', 'EdDSA'])
  const { keys } = await documentAt(`${app.issuer}/oauth/jwks`)
  expect((keys as { alg: string }[]).map(({ alg }) => alg).sort()).toEqual(['ES256', 'EdDSA'])
})

test('requests without the scope openid execute the same SQL statements with and without the extension [T1544]', async () => {
  const statements = async (openidConnect: boolean): Promise<readonly string[]> => {
    const seen: string[] = []
    await using app = await startServer({
      openidConnect,
      aroundStore: ({ name }, run) => {
        seen.push(name)
        return run()
      },
    })
    const agent = new UserAgent()
    await agent.logIn(app)
    const client = await TestClient.register(app, agent)
    const code = await client.code({ scope: 'notes:read' })
    seen.length = 0
    const { body } = await client.redeem(code)
    await client.refresh(body.refresh_token)
    const headers = { authorization: `Bearer ${body.access_token}` }
    await fetch(`${app.issuer}/api/notes`, { headers })
    await client.token({ grant_type: 'client_credentials' })
    return seen.filter((name) => !name.startsWith('audit.') && name !== 'tokens.noteUses').sort()
  }
  const without = await statements(false)
  expect(without.length).toBeGreaterThan(5)
  expect(await statements(true)).toEqual(without)
})

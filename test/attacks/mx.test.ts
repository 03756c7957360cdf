import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deviceGrant } from '../support/device.ts'
import { everything } from '../support/observed-server.ts'
import { register } from '../support/registration.ts'
import type { TestOptions } from '../support/server.ts'
import {
  type AttackServer,
  expectJson,
  expectRedirect,
  formOf,
  type HttpResponse,
  startAttackServer,
} from './support/attack-server.ts'

const evil = 'https://evil.example'
const wellKnown = '/.well-known/oauth-authorization-server'

let attack: AttackServer
beforeAll(async () => {
  attack = await startAttackServer()
})
afterAll(() => attack.close())

/** Returns every `iss` in the query or the fragment of a redirect. */
const issuersIn = ({ location = '' }: HttpResponse, place: 'search' | 'hash' = 'search') =>
  new URLSearchParams(new URL(location)[place].slice(1)).getAll('iss')

const metadataOf = async (server: AttackServer): Promise<Record<string, unknown>> => {
  const { status, headers, body } = await server.request(wellKnown)
  expect(status).toBe(200)
  expect(headers.get('content-type')).toMatch(/^application\/json\b/)
  return body
}

describe.each(['', '/app'])(
  'MX-01 iss in every authorization response, issuer path %j',
  (basePath) => {
    let own: AttackServer
    beforeAll(async () => {
      own = await startAttackServer({ basePath })
    })
    afterAll(() => own.close())

    test('publishes the issuer and the support for iss in the metadata', async () => {
      const { issuer, authorization_response_iss_parameter_supported: supported } =
        await metadataOf(own)
      expect([issuer, supported]).toEqual([own.issuer, true])
    })

    test('adds iss to success, denial and error responses', async () => {
      const responses = [
        await own.authorize(),
        await own.authorize({ prompt: 'consent' }, { submit: 'no' }),
        await own.authorize({ response_type: undefined }),
        await own.authorize({ response_type: 'bogus' }),
        await own.authorize({ response_type: 'token' }),
        await own.authorize({ response_mode: 'fragment' }),
        await own.authorize({ scope: 'bogus' }),
        await own.authorize({ code_challenge_method: 'plain' }),
        await own.authorize({ request: 'x' }),
        await own.authorize({ state: 'x'.repeat(9000) }),
        await own.authorize({ prompt: 'none' }, { as: null }),
        await own.authorize({ prompt: 'none' }, { client: 'spa' }),
        await own.authorize({ resource: 'https://elsewhere.example' }),
      ]
      for (const response of responses)
        expect(issuersIn(response), response.location).toEqual([own.issuer])
      expect(responses.filter(({ query }) => 'error' in query)).toHaveLength(responses.length - 1)
    })

    test('adds iss to the fragment of implicit responses, including errors', async () => {
      const implicit = { response_type: 'token' }
      const granted = await own.authorize(implicit, { client: 'imp' })
      const refused = await own.authorize({ ...implicit, scope: 'bogus' }, { client: 'imp' })
      expect(granted.fragment).toHaveProperty('access_token')
      expect(refused.fragment).toMatchObject({ error: 'invalid_scope', state: 'xyz' })
      for (const response of [granted, refused])
        expect(issuersIn(response, 'hash')).toEqual([own.issuer])
    })
  },
)

describe('MX-02 iss that a caller sends [T536]', () => {
  test('ignores iss in a GET or POST authorization request', async () => {
    for (const method of ['GET', 'POST'] as const) {
      const given = { iss: evil, issuer: evil }
      expect(issuersIn(await attack.authorize(given, { method }))).toEqual([attack.issuer])
      expect(issuersIn(await attack.authorize({ ...given, scope: 'bogus' }, { method }))).toEqual([
        attack.issuer,
      ])
    }
  })

  test.each(['yes', 'no'] as const)(
    'ignores iss in the consent form with the decision %s',
    async (submit) => {
      const fields = { iss: evil }
      const response = await attack.authorize({ prompt: 'consent' }, { submit, fields })
      expect(issuersIn(response)).toEqual([attack.issuer])
    },
  )

  test('ignores iss in a pushed request', async () => {
    const { body } = await attack.push({ iss: evil })
    const { clientId } = attack.clients.conf
    const { agent } = await attack.browser('a')
    const query = formOf({ client_id: clientId, request_uri: String(body.request_uri), iss: evil })
    const response = await attack.request(`/oauth/authorize?${query}`, { agent })
    expect(response.query.code).toBeDefined()
    expect(issuersIn(response)).toEqual([attack.issuer])
  })

  test('rejects the registration of a redirect URI with iss', async () => {
    for (const uri of [`https://evil.example/cb?iss=${evil}`, 'https://evil.example/cb?a=b&iss=']) {
      const { status, body } = await register(attack.server, { redirect_uris: [uri] })
      expect(`${status} ${body.error}`).toBe('400 invalid_redirect_uri')
    }
  })

  test('does not derive iss from forwarded headers', async () => {
    const { agent } = await attack.browser('a')
    const headers = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example',
      'x-original-host': 'evil.example',
    }
    const response = await attack.request(attack.authorizeUrl({ prompt: 'none' }), {
      agent,
      headers,
    })
    expect(issuersIn(response)).toEqual([attack.issuer])
  })
})

describe('MX-04 Content and URL of the metadata [T544]', () => {
  test('publishes both metadata documents at URLs that end in the path of the issuer', async () => {
    await using own = await startAttackServer({ basePath: '/app' })
    const { origin } = new URL(own.issuer)
    const asked = async (path: string) => (await own.request(`${origin}${path}`)).body
    expect((await asked(`${wellKnown}/app`)).issuer).toBe(own.issuer)
    expect((await asked('/.well-known/oauth-protected-resource/app')).resource).toBe(own.issuer)
    for (const path of [
      `${wellKnown}/other`,
      `${wellKnown}/app/`,
      '/.well-known/oauth-protected-resource/other',
    ])
      expect((await own.request(`${origin}${path}`)).status).toBe(404)
  })

  test('contains the issuer exactly as configured', async () => {
    const { issuer } = await metadataOf(attack)
    expect(issuer).toBe(attack.issuer)
    expect(String(issuer).endsWith('/')).toBe(false)
    const resource = await attack.request('/.well-known/oauth-protected-resource')
    expect(resource.body).toMatchObject({
      resource: attack.issuer,
      authorization_servers: [attack.issuer],
    })
  })

  test('lists only S256 as a PKCE method [T255]', async () => {
    expect((await metadataOf(attack)).code_challenge_methods_supported).toEqual(['S256'])
  })

  /** Token requests of each grant type. A supported type does not return `unsupported_grant_type`. */
  const probes: Record<string, Record<string, string>> = {
    authorization_code: { code: 'x' },
    refresh_token: { refresh_token: 'x' },
    client_credentials: {},
    password: { username: 'user-a@example.org', password: 'correct horse battery staple' },
    [deviceGrant]: { device_code: 'x' },
    'urn:ietf:params:oauth:grant-type:token-exchange': { subject_token: 'x' },
    'urn:ietf:params:oauth:grant-type:jwt-bearer': { assertion: 'x' },
    'urn:ietf:params:oauth:grant-type:saml2-bearer': { assertion: 'x' },
  }
  const endpoints: Record<string, string> = {
    revocation_endpoint: '/oauth/revoke',
    introspection_endpoint: '/oauth/introspect',
    pushed_authorization_request_endpoint: '/oauth/par',
    device_authorization_endpoint: '/oauth/device_authorization',
    registration_endpoint: '/oauth/register',
    userinfo_endpoint: '/oauth/userinfo',
    end_session_endpoint: '/oauth/logout',
  }
  const off: TestOptions = {
    revocation: false,
    introspection: false,
    pushedAuthorizationRequests: 'off',
    deviceAuthorization: false,
    dynamicRegistration: 'off',
    dpop: 'off',
    allowedResponseTypes: ['code'],
    clientAuthentication: ['client_secret_basic', 'none'],
  }

  test.each<[string, TestOptions]>([
    ['default settings', {}],
    ['all grants and extensions enabled', { ...everything, trustedProxies: [] }],
    ['optional features disabled', off],
    ['no refresh tokens', { allowedGrantTypes: ['authorization_code', 'client_credentials'] }],
    ['no authorization codes', { allowedResponseTypes: ['token'] }],
    [
      'only client_credentials',
      { allowedGrantTypes: ['client_credentials'], allowedResponseTypes: [] },
    ],
  ])('lists exactly the supported features with %s', async (_, options) => {
    await using own = await startAttackServer(options)
    const metadata = await metadataOf(own)
    const grantTypes = metadata.grant_types_supported as string[]
    const all = await own.client({ name: 'All', redirectUris: ['https://client.example/cb'] })
    // Each listed feature has a probe.
    const unknown = grantTypes.filter((type) => type !== 'implicit' && !(type in probes))
    const addresses = Object.keys(metadata).filter((name) => name.endsWith('_endpoint'))
    const always = ['authorization_endpoint', 'token_endpoint']
    unknown.push(...addresses.filter((name) => !always.includes(name) && !(name in endpoints)))
    expect(unknown).toEqual([])
    for (const [grant_type, given] of Object.entries(probes)) {
      const response = await own.token({ grant_type, ...given }, { client: all })
      if (grantTypes.includes(grant_type))
        expect(response.body.error, grant_type).not.toBe('unsupported_grant_type')
      else expectJson(response, 400, 'unsupported_grant_type')
    }
    for (const [member, path] of Object.entries(endpoints)) {
      const { status } = await own.request(path, { method: 'POST' })
      if (member in metadata) expect([path, status]).not.toEqual([path, 404])
      else expect([path, status]).toEqual([path, 404])
      if (member in metadata) expect(metadata[member]).toBe(`${own.issuer}${path}`)
    }
    const responseTypes = metadata.response_types_supported as string[]
    for (const response_type of ['code', 'token']) {
      const { query, fragment } = await own.authorize({ response_type }, { client: all })
      if (!responseTypes.includes(response_type))
        expect(query.error).toBe('unsupported_response_type')
      else expect(query.code ?? fragment.access_token).toBeDefined()
    }
    expect(grantTypes.includes('implicit')).toBe(responseTypes.includes('token'))
    const methods = metadata.token_endpoint_auth_methods_supported as string[]
    const asked = { grant_type: 'refresh_token', refresh_token: 'x' }
    for (const auth of ['basic', 'post'] as const) {
      const { body } = await own.token(asked, { client: all, auth })
      const isListed = methods.includes(`client_secret_${auth}`)
      expect([auth, body.error === 'invalid_client']).toEqual([auth, !isListed])
    }
    expect('dpop_signing_alg_values_supported' in metadata).toBe(options.dpop !== 'off')
  })

  test('lists endpoints and scopes with which a complete flow succeeds', async () => {
    const { body } = await attack.request(wellKnown)
    const { agent } = await attack.browser('a')
    const asked = new URL(attack.authorizeUrl())
    const response = await attack.request(`${body.authorization_endpoint}${asked.search}`, {
      agent,
    })
    const { code } = (
      response.location ? response : await attack.submit(response, agent, { confirm: 'yes' })
    ).query
    const tokens = await attack.token({ code })
    expect(body.token_endpoint).toBe(tokens.url)
    expect(tokens.status).toBe(200)
    for (const scope of body.scopes_supported as string[]) {
      const own = await attack.client({ redirectUris: ['https://client.example/cb'] })
      expect((await attack.grant({ scope }, { client: own })).scope).toBe(scope)
    }
    expect(body.scopes_supported).not.toContain('sys:internal')
  })

  test('states in the metadata that pushed authorization requests are required, and enforces the requirement', async () => {
    await using own = await startAttackServer({
      securityProfile: 'oauth2.1',
      pushedAuthorizationRequests: 'required',
    })
    const metadata = await metadataOf(own)
    expect(metadata.require_pushed_authorization_requests).toBe(true)
    expect(metadata.response_types_supported).toEqual(['code'])
    expectRedirect(await own.authorize(), 'invalid_request')
    expect((await own.push()).status).toBe(201)
  })
})

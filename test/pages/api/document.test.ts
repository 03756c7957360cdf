import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { settingsHome } from '../../../src/account/settings-home.ts'
import { clientLogoEndpoint } from '../../../src/protocol/endpoints/assets/client-logo.ts'
import { pageScriptEndpoint } from '../../../src/protocol/endpoints/assets/page-script.ts'
import { sessionScriptEndpoint } from '../../../src/protocol/endpoints/assets/session-script.ts'
import { stylesheetEndpoint } from '../../../src/protocol/endpoints/assets/stylesheet.ts'
import { deviceEndpoint } from '../../../src/protocol/endpoints/device/device.ts'
import { loginEndpoint } from '../../../src/protocol/endpoints/login/login.ts'
import { logoutEndpoint } from '../../../src/protocol/endpoints/login/logout.ts'
import { errorsEndpoint } from '../../../src/protocol/endpoints/responses/errors.ts'
import { endSessionEndpoint } from '../../../src/protocol/openid/end-session.ts'
import type { Endpoint, Extension } from '../../../src/protocol/plug-ins.ts'
import type { Settings } from '../../../src/settings/settings.ts'
import { everything } from '../../support/observed-server.ts'
import { startServer, type TestOptions, type TestServer } from '../../support/server.ts'
import { Contract } from './contract.ts'

/** Endpoints that the document omits: pages without a JSON response, and files that pages load. */
const forBrowsers: readonly Endpoint[] = [
  clientLogoEndpoint,
  deviceEndpoint,
  endSessionEndpoint,
  errorsEndpoint,
  loginEndpoint,
  logoutEndpoint,
  pageScriptEndpoint,
  sessionScriptEndpoint,
  settingsHome,
  stylesheetEndpoint,
]

/** Returns an extension that records the endpoints of the router. */
const witness = (): {
  readonly extension: Extension
  readonly endpointsOf: (app: TestServer) => Promise<readonly Endpoint[]>
} => {
  let seen: readonly Endpoint[] = []
  return {
    extension: {
      name: 'witness',
      metadata: ({ endpoints }) => {
        seen = endpoints
        return {}
      },
    },
    async endpointsOf({ issuer }) {
      await fetch(`${issuer}/.well-known/oauth-authorization-server`)
      return seen
    },
  }
}

const placesOf = (endpoints: readonly Endpoint[], settings: Settings): readonly string[] =>
  endpoints
    .flatMap(({ path, methods }) =>
      methods.map((method) => `${method} ${path(settings).replaceAll(/:(\w+)/g, '{$1}')}`),
    )
    .toSorted()

const isClosed = (schema: object): boolean =>
  'additionalProperties' in schema && schema.additionalProperties === false

const hostLogin: TestOptions = { resourceOwner: () => null, loginUrl: '/enter' }

const kinds: readonly (readonly [string, TestOptions])[] = [
  ['with default settings', {}],
  [
    'with a path in the issuer, and configured prefixes',
    { basePath: '/auth/v2', oauthPrefix: '/o', settingsPrefix: '/me', adminPrefix: '/boss' },
  ],
  ['with users and a login of the host', hostLogin],
  ['with another header for the JWT', { jwtAuthHeader: 'X-Session', jwtAuthHeaderType: null }],
  ['without any grant', { allowedGrantTypes: [], allowedResponseTypes: [] }],
  ['without tokens in a query', { acceptQueryAccessToken: false }],
  [
    'with all options enabled',
    {
      ...everything,
      trustedProxies: [],
      accessTokenFormat: 'jwt',
      acceptUnsignedLeakReports: true,
    },
  ],
  [
    'with all options disabled',
    {
      revocation: false,
      introspection: false,
      pushedAuthorizationRequests: 'off',
      dpop: 'off',
      resourceIndicators: false,
    },
  ],
]

describe.each(kinds)('the OpenAPI document of a server %s', (_name, options) => {
  const seen = witness()
  let app: TestServer
  let contract: Contract
  beforeAll(async () => {
    app = await startServer({ ...options, extensions: [seen.extension] })
    contract = await Contract.of(app)
  })
  afterAll(() => app.close())

  test('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const result = await validator.validate(
      structuredClone(contract.document) as unknown as Record<string, unknown>,
    )
    expect(result).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  test('contains exactly the endpoints of the router and their methods [T738]', async () => {
    const documented = contract.operations.map(({ method, path }) => `${method} ${path}`)
    const endpoints = await seen.endpointsOf(app)
    const called = endpoints.filter((endpoint) => !forBrowsers.includes(endpoint))
    expect(called.length).toBeGreaterThan(15)
    expect(documented.toSorted()).toEqual(placesOf(called, app.server.settings))
  })

  test('defines the parameters of each path', () => {
    for (const [path, { parameters = [] }] of Object.entries(contract.document.paths)) {
      const given = (parameters as readonly { name: string; in: string }[]).map(({ name }) => name)
      expect(given).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
    }
  })

  test('has unique operation IDs, and defines no unused schema or response', () => {
    const { operations, document } = contract
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
    const text = JSON.stringify(document)
    const { schemas, responses, securitySchemes } = document.components
    const used = (kind: string) => (name: string) => text.includes(`"#/components/${kind}/${name}"`)
    expect(Object.keys(schemas).filter((name) => !used('schemas')(name))).toEqual([])
    expect(Object.keys(responses).filter((name) => !used('responses')(name))).toEqual([])
    const inUse = operations.flatMap(({ security = [] }) => security.flatMap(Object.keys))
    expect(new Set(inUse)).toEqual(new Set(Object.keys(securitySchemes)))
  })

  test('allows additional properties in forms, but not in responses of the settings', () => {
    const open = Object.entries(contract.document.components.schemas)
      .filter(([, schema]) => 'properties' in schema && !isClosed(schema))
      .map(([name]) => name)
    const further = options.dynamicRegistration === undefined ? [] : ['RegisteredClient']
    const forms = [
      'NewClient',
      'ClientChange',
      'Overlap',
      'NewPersonalToken',
      'PersonalTokenChange',
      'Selection',
      'Undo',
    ]
    const protocol = ['TokenRequest', 'ServerMetadata', 'ResourceMetadata', ...further]
    const sessions = options.resourceOwner ? [] : ['SessionEnd', 'PasswordChange']
    const expected = [
      ...forms,
      ...sessions,
      'ActivityForm',
      'LeakedForm',
      'AdministrationForm',
      'AdminClientForm',
      'AdminTokenForm',
      'UserForm',
      'UserSearch',
      ...protocol,
    ]
    expect(open.toSorted()).toEqual(expected.toSorted())
  })
})

describe('the endpoint /openapi.json', () => {
  test('is public, cacheable, and readable from any site', async () => {
    await using app = await startServer({ basePath: '/auth' })
    const response = await fetch(`${app.issuer}/openapi.json`, {
      headers: { origin: 'https://elsewhere.example' },
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('set-cookie')).toBeNull()
    expect(await response.json()).toMatchObject({ servers: [{ url: app.issuer }] })
    const head = await fetch(`${app.issuer}/openapi.json`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    const post = await fetch(`${app.issuer}/openapi.json`, { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('describes how scripts authenticate under the configured settings', async () => {
    const schemes = async (options: TestOptions) => {
      await using app = await startServer(options)
      return (await Contract.of(app)).document.components.securitySchemes
    }
    expect(await schemes({})).toMatchObject({
      session: { type: 'apiKey', in: 'cookie', name: 'oauth2server_session' },
      sessionJwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      accessToken: { type: 'http', scheme: 'bearer' },
    })
    expect(await schemes({ jwtAuthHeaderType: 'JWT' })).toMatchObject({
      sessionJwt: { type: 'http', scheme: 'jwt' },
    })
    expect(await schemes({ jwtAuthHeader: 'X-Session' })).toMatchObject({
      sessionJwt: { type: 'apiKey', in: 'header', name: 'X-Session' },
    })
    expect(await schemes(hostLogin)).not.toHaveProperty('session')
  })
})

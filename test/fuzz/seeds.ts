import { assertionType, type Session, type TestData } from '../support/observed-test-data.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import type { Body, Pair, Shape } from './shape.ts'

/** Creates a valid request from the data of the server. */
export type Seed = (testData: TestData, random: SeededRandom) => Shape

/** The relative frequency of a seed. */
export interface WeightedSeed {
  readonly weight: number
  readonly seed: Seed
}

type Fields = Readonly<Record<string, string>>

export const pairsOf = (fields: Fields): Pair[] => Object.entries(fields).map(([n, v]) => [n, v])

/** Returns the headers that every request has, with a random client address in `X-Forwarded-For`. */
const common = (random: SeededRandom): [string, string][] => [
  ['Host', 'localhost'],
  ['User-Agent', 'Fuzz/1.0'],
  ['X-Forwarded-For', `10.${random.below(256)}.${random.below(256)}.${random.below(256)}`],
]

export const shapeOf = (
  random: SeededRandom,
  {
    endpoint,
    method,
    path,
    query = {},
    headers = {},
    body = { kind: 'none' },
  }: {
    endpoint: string
    method: string
    path: string
    query?: Fields
    headers?: Fields
    body?: Body
  },
): Shape => {
  const type = {
    none: undefined,
    bytes: undefined,
    form: 'application/x-www-form-urlencoded',
    json: 'application/json',
  }[body.kind]
  return {
    endpoint,
    method,
    path,
    query: pairsOf(query),
    headers: [
      ...common(random),
      ...Object.entries(headers),
      ...(type === undefined ? [] : [['Content-Type', type] as [string, string]]),
    ],
    body,
    isAlone: false,
  }
}

const get =
  (
    endpoint: string,
    path: string,
    more: (f: TestData, r: SeededRandom) => { query?: Fields; headers?: Fields } = () => ({}),
  ): Seed =>
  (f, r) =>
    shapeOf(r, { endpoint, method: 'GET', path, ...more(f, r) })

const post =
  (
    endpoint: string,
    path: string,
    make: (f: TestData, r: SeededRandom) => { fields: Fields; headers?: Fields },
  ): Seed =>
  (f, r) => {
    const { fields, headers = {} } = make(f, r)
    return shapeOf(r, {
      endpoint,
      method: 'POST',
      path,
      headers,
      body: { kind: 'form', pairs: pairsOf(fields) },
    })
  }

/** Returns the credentials of a client in a Basic header. */
export const basic = ({ id, secret }: { id: string; secret: string }) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
})
/** Returns an access token in a header. */
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const cookie = ({ cookie: value }: Session): Fields => ({ cookie: value })

/** Returns the credentials of the client with a random method: Basic, in the body, or a signed assertion. */
const asClient = (f: TestData, r: SeededRandom): { fields: Fields; headers: Fields } => {
  const { id, secret } = f.confidential
  const form = r.below(10)
  if (form < 6) return { fields: {}, headers: basic(f.confidential) }
  if (form < 9) return { fields: { client_id: id, client_secret: secret }, headers: {} }
  return {
    fields: {
      client_assertion_type: assertionType,
      client_assertion: r.pick(f.signing.assertions),
    },
    headers: {},
  }
}

const token = (endpoint: string, fields: (f: TestData, r: SeededRandom) => Fields): Seed =>
  post(endpoint, '/oauth/token', (f, r) => {
    const client = asClient(f, r)
    return { fields: { ...fields(f, r), ...client.fields }, headers: client.headers }
  })

/** Returns some parameters of OpenID Connect. */
const openidFields = (f: TestData, r: SeededRandom): Fields => ({
  scope: 'openid notes:read',
  nonce: 'n-1',
  ...(r.chance(30) && { max_age: '600' }),
  ...(r.chance(30) && { id_token_hint: r.pick(f.idTokens) }),
  ...(r.chance(30) && { login_hint: f.email }),
  ...(r.chance(30) && { claims: '{"userinfo":{"email":{"essential":true}},"id_token":null}' }),
  ...(r.chance(30) && { claims_locales: 'de', acr_values: '1', display: 'page' }),
})

/**
 * Returns the parameters of a logout request of a client. No seed sends them with the cookie of the session, because
 * the logout would end a session that other requests need.
 */
const logoutFields = (f: TestData, r: SeededRandom): Fields => ({
  state: 'xyz',
  ...(r.chance(70) && { id_token_hint: r.pick(f.idTokens) }),
  ...(r.chance(50) && { client_id: f.confidential.id }),
  ...(r.chance(70) && { post_logout_redirect_uri: f.returnUri }),
  ...(r.chance(10) && { logout_hint: f.email, ui_locales: 'de ar' }),
})

const authorizeFields = (f: TestData, r: SeededRandom): Fields => ({
  response_type: r.pick(['code', 'code', 'code', 'token', 'id_token', 'code id_token']),
  ...(r.chance(50) && { nonce: 'n-1' }),
  client_id: r.chance(70) ? f.confidential.id : f.publicId,
  redirect_uri: f.redirectUri,
  scope: r.pick(['notes:read', 'notes:read notes:write', 'user:email', 'openid notes:read', '']),
  state: 'xyz',
  code_challenge: f.challenge,
  code_challenge_method: 'S256',
  ...(r.chance(20) && { prompt: r.pick(['none', 'consent', 'login']) }),
  ...(r.chance(10) && { resource: f.issuer }),
  ...(r.chance(10) && { ui_locales: 'de ar' }),
  ...(r.chance(10) && { response_mode: 'query' }),
  ...(r.chance(20) && openidFields(f, r)),
})

const exchanged = 'urn:ietf:params:oauth:token-type:access_token'
const device = 'urn:ietf:params:oauth:grant-type:device_code'

const anyToken = (f: TestData, r: SeededRandom): string =>
  r.pick([r.pick(f.pairs).access, r.pick(f.pairs).refresh, r.pick(f.personal), f.bound.access])

/** Returns a credential of a random kind for a protected endpoint. */
const credential = (f: TestData, r: SeededRandom): { query?: Fields; headers?: Fields } =>
  r.pick([
    () => ({ headers: bearer(r.pick(f.pairs).access) }),
    () => ({ headers: bearer(r.pick(f.personal)) }),
    () => ({ headers: { ...cookie(f.session), ...bearer(f.session.jwt) } }),
    () => ({ headers: cookie(f.session) }),
    () => ({ query: { access_token: r.pick(f.pairs).access } }),
    () => ({ headers: { authorization: `DPoP ${f.bound.access}`, dpop: r.pick(f.pingProofs) } }),
    () => ({}),
  ])()

const pages = [
  '/',
  '/login',
  '/oauth/device',
  '/oauth/errors',
  '/account/settings/',
  '/account/settings/applications/',
  '/account/settings/sessions/',
  '/account/settings/applications/clients/new/',
  '/account/settings/applications/tokens/new/',
  '/admin/overview/',
  '/admin/applications/',
  '/admin/tokens/',
]

const metadata = {
  redirect_uris: ['https://client.example/cb'],
  client_name: 'Fuzz',
  scope: 'notes:read',
  grant_types: ['authorization_code', 'refresh_token', 'implicit'],
  response_types: ['code', 'code id_token'],
  token_endpoint_auth_method: 'client_secret_basic',
  client_uri: 'https://client.example/',
  logo_uri: 'https://client.example/logo.png',
  contacts: ['a@client.example'],
  software_id: 'fuzz',
}

const registration = (f: TestData, r: SeededRandom): Shape => {
  const path = `/oauth/register/${f.registered.id}`
  const headers = bearer(f.registered.token)
  const method = r.pick(['GET', 'GET', 'PUT', 'PUT', 'PUT', 'DELETE'])
  const body: Body =
    method === 'PUT'
      ? { kind: 'json', value: { client_id: f.registered.id, ...structuredClone(metadata) } }
      : { kind: 'none' }
  return shapeOf(r, { endpoint: 'register: manage', method, path, headers, body })
}

/** Valid requests for every endpoint. Requests that hash a password, or delete objects that others need, are rare. */
export const seeds: readonly WeightedSeed[] = [
  {
    weight: 120,
    seed: (f, r) =>
      get('authorize', '/oauth/authorize', () => ({
        query: authorizeFields(f, r),
        headers: r.chance(80) ? cookie(f.session) : {},
      }))(f, r),
  },
  {
    weight: 20,
    seed: post('authorize: POST', '/oauth/authorize', (f, r) => ({
      fields: authorizeFields(f, r),
      headers: cookie(f.session),
    })),
  },
  {
    weight: 20,
    seed: (f, r) =>
      get('authorize: pushed', '/oauth/authorize', () => ({
        query: { client_id: f.publicId, request_uri: r.pick(f.requestUris) },
        headers: cookie(f.session),
      }))(f, r),
  },
  {
    weight: 20,
    seed: (f, r) =>
      get('authorize: request object', '/oauth/authorize', () => ({
        query: {
          client_id: f.signing.id,
          redirect_uri: f.redirectUri,
          request: r.pick(f.signing.requestObjects),
        },
        headers: cookie(f.session),
      }))(f, r),
  },
  {
    weight: 40,
    seed: post('authorize: decision', '/oauth/authorize', (f, r) => ({
      fields: {
        authorization_request: f.pending,
        csrf_token: f.session.csrf,
        confirm: r.pick(['yes', 'no']),
      },
      headers: cookie(f.session),
    })),
  },
  {
    weight: 90,
    seed: token('token: code', (f, r) => ({
      grant_type: 'authorization_code',
      code: r.pick(f.codes),
      redirect_uri: f.redirectUri,
      code_verifier: f.verifier,
    })),
  },
  {
    weight: 90,
    seed: token('token: refresh', (f, r) => ({
      grant_type: 'refresh_token',
      refresh_token: r.pick(f.refreshable).refresh,
      scope: 'notes:read',
    })),
  },
  {
    weight: 60,
    seed: token('token: client', (_f, r) => ({
      grant_type: 'client_credentials',
      scope: r.pick(['notes:read', '']),
    })),
  },
  {
    weight: 40,
    seed: token('token: exchange', (f, r) => ({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: anyToken(f, r),
      subject_token_type: exchanged,
      requested_token_type: exchanged,
      scope: 'notes:read',
    })),
  },
  {
    weight: 40,
    seed: post('token: device', '/oauth/token', (f, r) => ({
      fields: { grant_type: device, device_code: r.pick(f.devices).code, client_id: f.publicId },
    })),
  },
  {
    weight: 20,
    seed: post('token: DPoP', '/oauth/token', (f, r) => ({
      fields: { grant_type: 'refresh_token', refresh_token: f.bound.refresh },
      headers: { ...basic(f.confidential), dpop: r.pick(f.tokenProofs) },
    })),
  },
  {
    weight: 2,
    seed: token('token: password', (f) => ({
      grant_type: 'password',
      username: f.email,
      password: f.password,
    })),
  },
  {
    weight: 40,
    seed: post('revoke', '/oauth/revoke', (f, r) => ({
      fields: {
        token: r.pick(f.revocable)[r.pick(['access', 'refresh'] as const)],
        token_type_hint: r.pick(['access_token', 'refresh_token']),
      },
      headers: basic(f.confidential),
    })),
  },
  {
    weight: 60,
    seed: post('introspect', '/oauth/introspect', (f, r) => ({
      fields: { token: anyToken(f, r), token_type_hint: r.pick(['access_token', 'refresh_token']) },
      headers: basic(f.confidential),
    })),
  },
  {
    weight: 50,
    seed: post('par', '/oauth/par', (f, r) => ({
      fields: { ...authorizeFields(f, r), client_id: f.confidential.id },
      headers: basic(f.confidential),
    })),
  },
  {
    weight: 40,
    seed: (_f, r) =>
      shapeOf(r, {
        endpoint: 'register',
        method: 'POST',
        path: '/oauth/register',
        body: { kind: 'json', value: structuredClone(metadata) },
      }),
  },
  { weight: 30, seed: registration },
  {
    weight: 40,
    seed: post('device_authorization', '/oauth/device_authorization', (f) => ({
      fields: { client_id: f.publicId, scope: 'notes:read' },
    })),
  },
  {
    weight: 30,
    seed: post('device: code', '/oauth/device', (f, r) => ({
      fields: { user_code: r.pick(f.devices).userCode, csrf_token: f.session.csrf },
      headers: cookie(f.session),
    })),
  },
  {
    weight: 20,
    seed: post('device: decision', '/oauth/device', (f, r) => ({
      fields: {
        device_confirmation: f.pendingDevice,
        csrf_token: f.session.csrf,
        confirm: r.pick(['yes', 'no']),
      },
      headers: cookie(f.session),
    })),
  },
  { weight: 15, seed: get('metadata', '/.well-known/oauth-authorization-server') },
  { weight: 10, seed: get('resource metadata', '/.well-known/oauth-protected-resource') },
  { weight: 10, seed: get('discovery', '/.well-known/openid-configuration') },
  { weight: 10, seed: get('jwks', '/oauth/jwks') },
  { weight: 30, seed: (f, r) => get('userinfo', '/oauth/userinfo', () => credential(f, r))(f, r) },
  {
    weight: 20,
    seed: post('userinfo: form', '/oauth/userinfo', (f, r) => ({
      fields: { access_token: r.pick(f.pairs).access },
    })),
  },
  {
    weight: 30,
    seed: (f, r) =>
      get('RP logout', '/oauth/logout', () => ({
        query: logoutFields(f, r),
        headers: r.chance(50) ? cookie(f.admin) : {},
      }))(f, r),
  },
  {
    weight: 20,
    seed: post('RP logout: POST', '/oauth/logout', (f, r) => ({ fields: logoutFields(f, r) })),
  },
  {
    weight: 10,
    // `yes` would end the session that other requests need.
    seed: post('RP logout: decision', '/oauth/logout', (f) => ({
      fields: { logout_request: f.pendingLogout, csrf_token: f.session.csrf, confirm: 'no' },
      headers: cookie(f.session),
    })),
  },
  { weight: 8, seed: get('openapi', '/openapi.json') },
  {
    weight: 15,
    seed: (f, r) =>
      get(
        'files',
        r.pick([
          '/oauth/style.css',
          '/oauth/page.js',
          '/oauth/session.js',
          '/oauth/logos/{digest}'.replace('{digest}', `${r.below(99)}`.padStart(43, 'a')),
          '/health/live',
          '/health/ready',
          '/metrics',
        ]),
      )(f, r),
  },
  { weight: 60, seed: (f, r) => get('ping', '/oauth/ping', () => credential(f, r))(f, r) },
  { weight: 20, seed: (f, r) => get('info', '/oauth/info', () => credential(f, r))(f, r) },
  {
    weight: 120,
    seed: (f, r) =>
      get('guarded GET', r.pick(['/api/notes', '/api/me', '/api/public']), () => credential(f, r))(
        f,
        r,
      ),
  },
  {
    weight: 40,
    seed: (f, r) =>
      shapeOf(r, {
        endpoint: 'guarded POST',
        method: 'POST',
        path: '/api/notes',
        ...credential(f, r),
        body: { kind: 'json', value: { text: 'A note' } },
      }),
  },
  {
    weight: 20,
    seed: (f, r) =>
      shapeOf(r, {
        endpoint: 'guarded DELETE',
        method: 'DELETE',
        path: `/api/notes/${r.below(99)}`,
        ...credential(f, r),
      }),
  },
  {
    weight: 60,
    seed: (f, r) =>
      get('pages', r.pick(pages), () => ({ headers: cookie(r.chance(80) ? f.session : f.admin) }))(
        f,
        r,
      ),
  },
  {
    weight: 8,
    seed: get('error page', '/oauth/errors', () => ({
      query: { error: 'invalid_request', error_description: 'Something.' },
    })),
  },
  {
    weight: 2,
    seed: post('login', '/login', (f) => ({
      fields: { email: f.email, password: 'not the one', csrf_token: f.session.csrf, next: '/' },
      headers: cookie(f.session),
    })),
  },
  {
    weight: 1,
    seed: post('logout', '/logout', (f) => ({
      fields: { csrf_token: f.admin.csrf },
      headers: cookie(f.admin),
    })),
  },
]

// Creates test data: a valid value for every credential and identifier that a request can contain.
import { createHash, randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import type { AuthorizationServer, User } from 'svc-oauth2server'

export interface Session {
  readonly cookie: string
  readonly csrf: string
  readonly jwt: string
}

export interface Pair {
  readonly access: string
  readonly refresh: string
}

export interface Device {
  readonly code: string
  readonly userCode: string
}

/** Valid credentials and identifiers. Several sets of test data on one server share only the users. */
export interface TestData {
  readonly issuer: string
  readonly redirectUri: string
  /** The URL to which the browser returns after a logout. */
  readonly returnUri: string
  readonly email: string
  readonly password: string
  readonly session: Session
  readonly admin: Session
  readonly confidential: { readonly id: string; readonly secret: string }
  readonly publicId: string
  /** A client that registered itself. */
  readonly registered: { readonly id: string; readonly secret: string; readonly token: string }
  readonly signing: {
    readonly id: string
    readonly assertions: readonly string[]
    readonly requestObjects: readonly string[]
  }
  readonly verifier: string
  readonly challenge: string
  /** Authorization codes of the confidential client. */
  readonly codes: readonly string[]
  /**
   * Token pairs of separate authorizations. A request that refreshes or revokes one pair does not affect the others.
   */
  readonly pairs: readonly Pair[]
  readonly refreshable: readonly Pair[]
  readonly revocable: readonly Pair[]
  /** ID tokens of the session of the user. */
  readonly idTokens: readonly string[]
  /** IDs of clients and tokens that only the settings forms change, so that other requests are not affected. */
  readonly clientIds: readonly string[]
  readonly tokenIds: readonly string[]
  readonly personal: readonly string[]
  readonly personalIds: readonly string[]
  /** The ID of the logout request that the user has not decided yet. */
  readonly pendingLogout: string
  /** Request URIs of the public client. */
  readonly requestUris: readonly string[]
  readonly pending: string
  readonly devices: readonly Device[]
  readonly pendingDevice: string
  /** A token pair that is bound to the key of the proofs for `GET /oauth/ping`. */
  readonly bound: Pair
  readonly tokenProofs: readonly string[]
  readonly pingProofs: readonly string[]
}

const redirectUri = 'https://client.example/cb'
const returnUri = 'https://client.example/logged-out'
const password = 'correct horse battery staple'
const verifier = 'a-verifier-of-forty-three-characters-or-more'
const challenge = createHash('sha256').update(verifier).digest('base64url')
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const scope = 'openid user:email notes:read notes:write'

const userOf = async (
  { users }: AuthorizationServer,
  email: string,
  isAdmin: boolean,
): Promise<User> =>
  (await users.findByEmail(email)) ?? (await users.create({ email, password, isAdmin }))

export const field = (html: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]+)"`).exec(html)?.[1] ?? ''

/** Sends requests with a given IP address in `X-Forwarded-For`. */
export class Visitor {
  readonly #issuer: string
  readonly #headers: Record<string, string>

  constructor(issuer: string, address: string) {
    this.#issuer = issuer
    this.#headers = { 'x-forwarded-for': address, 'user-agent': 'Fuzz/1.0' }
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.#issuer}${path}`, {
      headers: { ...this.#headers, ...headers },
      redirect: 'manual',
    })
  }

  post(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return fetch(`${this.#issuer}${path}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { ...this.#headers, ...headers },
      redirect: 'manual',
    })
  }

  async json(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Record<string, string>> {
    const response = await this.post(path, fields, headers)
    const body = await response.text()
    if (!response.ok) throw new Error(`${path} returned ${response.status}: ${body}`)
    return JSON.parse(body)
  }

  async logIn(email: string): Promise<Session> {
    const page = await this.get('/login')
    const before = page.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const csrf_token = field(await page.text(), 'csrf_token')
    const response = await this.post('/login', { email, password, csrf_token }, { cookie: before })
    const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const home = await (await this.get('/', { cookie })).text()
    return { cookie, csrf: field(home, 'csrf_token'), jwt: field(home, 'authorized_token') }
  }
}

export const authorizePath = (parameters: Record<string, string>): string =>
  `/oauth/authorize?${new URLSearchParams({
    response_type: 'code',
    redirect_uri: redirectUri,
    scope,
    state: 'xyz',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...parameters,
  })}`

const times = async <T>(count: number, make: () => Promise<T>): Promise<readonly T[]> => {
  const all: T[] = []
  for (let turn = 0; turn < count; turn += 1) all.push(await make())
  return all
}

/**
 * Creates test data. The steps run one after the other, so that a server with the same random seed creates the same
 * identifiers and tokens in each run. Signatures and keys differ.
 */
export const createTestData = async (
  server: AuthorizationServer,
  set: number,
): Promise<TestData> => {
  const { issuer } = server
  const email = 'user@example.org'
  const user = await userOf(server, email, false)
  await userOf(server, 'admin@example.org', true)
  const visitor = new Visitor(issuer, `10.${(set >> 16) & 255}.${(set >> 8) & 255}.${set & 255}`)
  const session = await visitor.logIn(email)
  const admin = await visitor.logIn('admin@example.org')

  const common = { userId: user.id, redirectUris: [redirectUri], defaultScopes: ['notes:read'] }
  const own = await server.clients.create({
    name: `Confidential ${set}`,
    ...common,
    responseTypes: ['code', 'token', 'id_token', 'code id_token', 'id_token token'],
    openid: { post_logout_redirect_uris: [returnUri] },
  })
  const open = await server.clients.create({ name: 'Public', ...common, isConfidential: false })
  const confidential = { id: own.client.clientId, secret: own.clientSecret }
  const publicId = open.client.clientId
  await server.consents.grant(user.id, confidential.id, scope.split(' '))
  const authorization = `Basic ${btoa(`${confidential.id}:${confidential.secret}`)}`

  const key = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(key.publicKey)
  const signer = await server.clients.create({
    name: 'Signing',
    ...common,
    jwks: JSON.stringify({ keys: [{ ...jwk, kid: 'one' }] }),
    tokenEndpointAuthMethod: 'private_key_jwt',
  })
  const signingId = signer.client.clientId
  const now = Math.floor(Date.now() / 1000)
  const assertions = await times(10, () =>
    new SignJWT({ iss: signingId, sub: signingId, aud: issuer, jti: randomUUID() })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuedAt(now)
      .setExpirationTime(now + 240)
      .sign(key.privateKey),
  )
  const requestObject = (claims: JWTPayload) =>
    new SignJWT({
      client_id: signingId,
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: 'openid notes:read',
      max_age: 3_600,
      claims: { userinfo: { name: null } },
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .sign(key.privateKey)
  const requestObjects = [
    await requestObject({}),
    ...(await times(6, () => requestObject({ jti: randomUUID(), exp: now + 3_000 }))),
  ]
  const proof = (htm: string, path: string, token?: string) =>
    new SignJWT({
      jti: randomUUID(),
      htm,
      htu: `${issuer}${path}`,
      ...(token && { ath: createHash('sha256').update(token).digest('base64url') }),
    })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
      .setIssuedAt()
      .sign(key.privateKey)

  const code = async (): Promise<string> => {
    const path = authorizePath({ client_id: confidential.id })
    const response = await visitor.get(path, { cookie: session.cookie })
    const location = new URL(response.headers.get('location') ?? '', issuer)
    const value = location.searchParams.get('code')
    if (!value) throw new Error(`The response contains no code: ${response.status} ${location}`)
    return value
  }
  const redeem = async (
    headers: Record<string, string> = {},
  ): Promise<Pair & { readonly idToken: string }> => {
    const fields = {
      grant_type: 'authorization_code',
      code: await code(),
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }
    const body = await visitor.json('/oauth/token', fields, { authorization, ...headers })
    return {
      access: body.access_token ?? '',
      refresh: body.refresh_token ?? '',
      idToken: body.id_token ?? '',
    }
  }
  const pairs = await times(4, () => redeem())
  const refreshable = await times(6, () => redeem())
  const revocable = await times(6, () => redeem())
  const listed = await times(6, () => redeem())
  const bound = await redeem({ dpop: await proof('POST', '/oauth/token') })
  const tokenIds: string[] = []
  for (const { access } of listed) {
    const found = await server.tokens.find({ accessToken: access })
    if (found) tokenIds.push(String(found.token.id))
  }
  const personal = () =>
    server.tokens.createPersonal('Laptop', user.id, { scopes: ['notes:read', 'notes:write'] })
  const personals = await times(3, personal)
  const listedPersonals = await times(6, personal)
  const listedClients = await times(6, () => server.clients.create({ name: 'Fuzz', ...common }))
  const pushed = {
    response_type: 'code',
    client_id: publicId,
    redirect_uri: redirectUri,
    scope: 'notes:read',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }
  const requestUris = await times(
    2,
    async () => (await visitor.json('/oauth/par', pushed)).request_uri ?? '',
  )
  const consent = await visitor.get(authorizePath({ client_id: publicId, scope: 'notes:read' }), {
    cookie: session.cookie,
  })
  const devices = await times(3, async () => {
    const asked = { client_id: publicId, scope: 'notes:read' }
    const body = await visitor.json('/oauth/device_authorization', asked)
    return { code: body.device_code ?? '', userCode: body.user_code ?? '' }
  })
  const entered = await visitor.post(
    '/oauth/device',
    { user_code: devices[0]?.userCode ?? '', csrf_token: session.csrf },
    { cookie: session.cookie },
  )
  const leaving = await visitor.get('/oauth/logout', { cookie: session.cookie })
  const registration = await fetch(`${issuer}/oauth/register`, {
    method: 'POST',
    body: JSON.stringify({ redirect_uris: [redirectUri], client_name: 'Registered' }),
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': `10.${(set >> 8) & 255}.${set & 255}.1`,
    },
  })
  const registered = (await registration.json()) as Record<string, string>

  return {
    issuer,
    redirectUri,
    returnUri,
    email,
    password,
    session,
    admin,
    confidential,
    publicId,
    registered: {
      id: registered.client_id ?? 'none',
      secret: registered.client_secret ?? 'none',
      token: registered.registration_access_token ?? 'none',
    },
    signing: { id: signingId, assertions, requestObjects },
    verifier,
    challenge,
    codes: await times(12, code),
    pairs,
    refreshable,
    revocable,
    idTokens: pairs.map(({ idToken }) => idToken),
    clientIds: listedClients.map(({ client }) => client.clientId),
    tokenIds,
    personal: personals.map(({ accessToken }) => accessToken),
    personalIds: listedPersonals.map(({ id }) => String(id)),
    pendingLogout: field(await leaving.text(), 'logout_request'),
    requestUris,
    pending: field(await consent.text(), 'authorization_request'),
    devices,
    pendingDevice: field(await entered.text(), 'device_confirmation'),
    bound,
    tokenProofs: await times(6, () => proof('POST', '/oauth/token')),
    pingProofs: await times(6, () => proof('GET', '/oauth/ping', bound.access)),
  }
}

export { assertionType }

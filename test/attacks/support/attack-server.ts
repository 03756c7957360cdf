import { type ClientInput, Scope, type User } from 'svc-oauth2server'
import { expect } from 'vitest'
import { password } from '../../support/known-password.ts'
import { register } from '../../support/registration.ts'
import {
  isOnNodes,
  startServer,
  type TestOptions,
  type TestServer,
  testScopes,
} from '../../support/server.ts'
import { browser, type LoggedIn, logIn } from '../../support/session.ts'
import { formIn, newPkce, UserAgent } from '../../support/user-agent.ts'
import { audit, remember } from './auditor.ts'

export { isOnNodes }

/**
 * The scopes that the tests request. In the project `nodes`, the processes have the scopes of the notes application.
 * The client `conf` may not request `rwAll`.
 */
export const scopes = isOnNodes
  ? {
      r: 'notes:read',
      w: 'notes:write',
      rwAll: 'user:email',
      email: 'user:email',
      internal: 'test:scope',
    }
  : { r: 'r', w: 'w', rwAll: 'rw:all', email: 'user:email', internal: 'sys:internal' }

const registeredScopes: readonly Scope[] = [
  ...testScopes,
  new Scope('r', { helpText: 'Read' }),
  new Scope('w', { helpText: 'Write' }),
  new Scope('rw:all', { helpText: 'Read and write everything' }),
  new Scope('sys:internal', { internal: true }),
]

export type UserName = 'a' | 'b' | 'm'
export type ClientName = 'conf' | 'conf2' | 'm2m' | 'pub' | 'spa' | 'imp' | 'evil'

/** A user with the password for the login. */
export interface Person {
  readonly user: User
  readonly id: User['id']
  readonly email: string
  readonly password: string
}

export interface AttackClient {
  readonly clientId: string
  readonly clientSecret: string
  /** The first registered redirect URI. */
  readonly redirectUri: string
  readonly isConfidential: boolean
}

/** Overrides of parameters. The value undefined omits a parameter, and a list repeats it. */
export type Over = Readonly<Record<string, string | readonly string[] | undefined>>

/** A response and its redirect. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed JSON body, or an empty object for other bodies. */
  readonly body: Readonly<Record<string, unknown>>
  /** The URL of the response. */
  readonly url: string
  readonly issuer: string
  /** The value of the Location header. */
  readonly location: string | undefined
  /** The parameters of `location`. */
  readonly query: Readonly<Record<string, string>>
  readonly fragment: Readonly<Record<string, string>>
  /** The `Location` values of all followed redirects and of this response. */
  readonly locations: readonly string[]
}

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
  readonly scope: string
  readonly response: HttpResponse
}

/** Options of an authorization request. */
export interface Asking {
  /** The client of the request; `conf` by default. */
  readonly client?: ClientName | AttackClient
  /** The user of the browser; null for a browser that is not logged in. */
  readonly as?: UserName | null
  /** The browser that sends the request; by default, the browser of `as`. */
  readonly agent?: UserAgent
  /** The decision on the consent form; null does not submit the form. */
  readonly submit?: 'yes' | 'no' | null
  /** Additional fields of the decision; undefined omits a field. */
  readonly fields?: Over
  readonly method?: 'GET' | 'POST'
  /** A text that is appended to the query or body unchanged, such as `&state=b`. */
  readonly append?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Redeeming {
  /** The client of the request; `conf` by default. */
  readonly client?: ClientName | AttackClient
  /** The client authentication: Basic by default, or only the client ID for a public client. */
  readonly auth?: 'basic' | 'post' | 'none'
  readonly headers?: Readonly<Record<string, string>>
  /** A text that is appended to the body unchanged. */
  readonly append?: string
  /** The server that receives the request; by default, this server. */
  readonly at?: Pick<TestServer, 'issuer'>
}

/** A listening server with users and clients for attacks. Closing the server runs the auditor. */
export interface AttackServer {
  readonly server: TestServer
  readonly issuer: string
  readonly users: Readonly<Record<UserName, Person>>
  readonly clients: Readonly<Record<ClientName, AttackClient>>
  /** The PKCE verifier and challenge. */
  readonly verifier: string
  readonly challenge: string
  /** Returns the logged-in browser of a user, which all calls share. */
  browser(name: UserName): Promise<LoggedIn>
  /** Logs in the user with another browser. */
  newBrowser(name: UserName): Promise<LoggedIn>
  /** Returns the URL of an authorization request with valid parameters, changed by `over`. */
  authorizeUrl(over?: Over, asking?: Pick<Asking, 'client' | 'append'>): string
  /**
   * Sends an authorization request, follows redirects within the server, and submits the consent form. Returns the
   * redirect to the client, or the last page.
   */
  authorize(over?: Over, asking?: Asking): Promise<HttpResponse>
  /** Follows redirects of a response within the server. */
  follow(answer: HttpResponse, agent: UserAgent): Promise<HttpResponse>
  /** Submits the first form of a page with its hidden fields, and follows redirects within the server. */
  submit(page: HttpResponse, agent: UserAgent, fields: Over): Promise<HttpResponse>
  /** Sends an authorization request with consent, and returns the code. */
  code(over?: Over, asking?: Asking): Promise<string>
  /** Sends a token request. Adds the required parameters if the grant is an authorization code. */
  token(over?: Over, redeeming?: Redeeming): Promise<HttpResponse>
  /** Sends a pushed authorization request (RFC 9126). */
  push(over?: Over, redeeming?: Redeeming): Promise<HttpResponse>
  /** Sends a token request with a refresh token. */
  refresh(refreshToken: string, over?: Over, redeeming?: Redeeming): Promise<HttpResponse>
  /** Runs the code flow and returns the tokens. `over` changes parameters of the authorization request. */
  grant(over?: Over, asking?: Asking): Promise<Tokens>
  /** Requests /oauth/ping with an access token. */
  ping(token: string, at?: Pick<TestServer, 'issuer'>): Promise<HttpResponse>
  /** Expects that /oauth/ping rejects the access token, and that a refresh is rejected. */
  expectDead(tokens: Tokens, redeeming?: Redeeming): Promise<void>
  /** Expects that /oauth/ping accepts the access token. */
  expectAlive(tokens: Pick<Tokens, 'accessToken'>): Promise<void>
  /** Sends any request, without following redirects. */
  request(path: string, init?: RequestInit & { readonly agent?: UserAgent }): Promise<HttpResponse>
  tokensIn(answer: HttpResponse): Tokens
  /** Creates another logged-in user, which the test may change. */
  newPerson(): Promise<Person & LoggedIn>
  /** Registers another client, whose owner is user-a by default. */
  client(input?: Partial<ClientInput>): Promise<AttackClient>
  /** Creates a personal token. The auditor reports changes of the token unless the test calls `touched`. */
  personalToken(name?: UserName, scopes?: readonly string[]): Promise<{ id: number; value: string }>
  /** Declares that the test changes this personal token. */
  touched(personalTokenId: number): void
  /** Adds secrets that the auditor must not find. The secrets in responses to this object are added automatically. */
  saw(...secrets: readonly (string | undefined)[]): void
  /** Returns the rows that a rejected request must not change, for a comparison. */
  state(): Promise<Readonly<Record<string, readonly unknown[]>>>
  /** Disables the audit for a test that writes to the database directly. */
  leaveUnaudited(reason: string): void
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** The options of the server. A test starts another node with them: `startServer({ beside, ...attackOptions })`. */
export const attackOptions: TestOptions = {
  ...(isOnNodes ? {} : { scopes: registeredScopes }),
  allowPrivateUseRedirectUris: true,
  deviceAuthorization: true,
  dynamicRegistration: 'open',
  // Log everything, so that the auditor can find secrets in the log.
  logLevel: 'debug',
}

export const startAttackServer = async (options: TestOptions = {}): Promise<AttackServer> => {
  const server = await startServer({ ...attackOptions, ...options })
  try {
    return await withFixtures(server, options)
  } catch (error) {
    await server.close()
    throw error
  }
}

const withFixtures = async (server: TestServer, options: TestOptions): Promise<AttackServer> => {
  const { issuer } = server
  const memory = remember(server)
  const [b, m] = await Promise.all(
    ['b', 'm'].map((name) => server.newUser({ email: `user-${name}@example.org` })),
  )
  const users = {
    a: personOf(server.user, server.password),
    b: personOf(b as User, password),
    m: personOf(m as User, password),
  }
  memory.saw(password)

  const client = async (input: Partial<ClientInput> = {}): Promise<AttackClient> => {
    const made = await server.client(input)
    memory.saw(made.clientSecret)
    const [redirectUri = 'https://client.example/cb'] = [input.redirectUris ?? []].flat()
    return { ...made, redirectUri, isConfidential: input.isConfidential ?? true }
  }
  const { r, w } = scopes
  const codeAndRefresh = ['authorization_code', 'refresh_token'] as const
  const confidential = {
    redirectUris: ['https://client.example/cb'],
    allowedScopes: [r, w],
    grantTypes: codeAndRefresh,
    responseTypes: ['code'],
    tokenEndpointAuthMethod: 'client_secret_basic',
  } as const
  const evil = async (): Promise<AttackClient> => {
    const redirectUri = 'https://evil.example/cb'
    const asked = { client_name: 'Evil', redirect_uris: [redirectUri] }
    const { status, body: made } = await register(server, asked)
    // Create the client directly if dynamic registration is disabled or does not allow codes.
    if (status !== 201)
      return client({ name: 'Evil', userId: users.m.id, redirectUris: [redirectUri] })
    memory.saw(made.client_secret, made.registration_access_token)
    return {
      clientId: made.client_id,
      clientSecret: made.client_secret,
      redirectUri,
      isConfidential: true,
    }
  }
  const native = ['http://127.0.0.1/cb', 'http://[::1]/cb', 'com.example.app:/cb']
  const clients: Record<ClientName, AttackClient> = {
    conf: await client({ ...confidential, name: 'Conf' }),
    conf2: await client({ ...confidential, name: 'Conf 2', userId: users.b.user.id }),
    m2m: await client({
      name: 'M2M',
      redirectUris: [],
      allowedScopes: [r],
      defaultScopes: [r],
      grantTypes: ['client_credentials'],
    }),
    pub: await client({
      name: 'Pub',
      isConfidential: false,
      redirectUris: (options.allowPrivateUseRedirectUris ?? true) ? native : native.slice(0, 2),
      grantTypes: codeAndRefresh,
    }),
    spa: await client({
      name: 'Spa',
      isConfidential: false,
      redirectUris: ['https://spa.example/cb'],
      grantTypes: codeAndRefresh,
    }),
    imp: await client({ name: 'Imp', redirectUris: ['https://imp.example/cb'] }),
    evil: await evil(),
  }
  const named = (which: ClientName | AttackClient = 'conf'): AttackClient =>
    typeof which === 'string' ? clients[which] : which

  const browsers = new Map<UserName, Promise<LoggedIn>>()
  const newBrowser = async (name: UserName): Promise<LoggedIn> => {
    const loggedIn = await logIn({ issuer, ...users[name] })
    memory.saw(loggedIn.identifier, loggedIn.jwt)
    return loggedIn
  }
  const browserOf = (name: UserName): Promise<LoggedIn> => {
    const there = browsers.get(name) ?? newBrowser(name)
    browsers.set(name, there)
    return there
  }
  const { verifier, challenge } = newPkce()

  const parametersOf = (over: Over, which: Asking['client']): Over => {
    const { clientId, redirectUri } = named(which)
    return {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: r,
      state: 'xyz',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...over,
    }
  }
  const responseOf = async (
    response: Response,
    url: string,
    before: readonly string[] = [],
  ): Promise<HttpResponse> => {
    const answer = await plain(response, url, issuer, before)
    for (const name of secretMembers) {
      memory.saw(answer.body[name], answer.query[name], answer.fragment[name])
    }
    return answer
  }
  const follow = async (answer: HttpResponse, agent: UserAgent): Promise<HttpResponse> => {
    const { location, url, locations } = answer
    if (location === undefined || locations.length > 10) return answer
    const target = URL.canParse(location, url) ? new URL(location, url) : undefined
    if (target?.origin !== new URL(issuer).origin) return answer
    return follow(await responseOf(await agent.fetch(target), target.href, locations), agent)
  }
  const submit = async (
    page: HttpResponse,
    agent: UserAgent,
    fields: Over,
  ): Promise<HttpResponse> => {
    const { action, hidden } = formIn(page.text)
    const url = new URL(action, page.url).href
    const body = new URLSearchParams(pairsOf({ ...hidden, ...fields }))
    const response = await agent.fetch(url, { method: 'POST', body })
    return follow(await responseOf(response, url, page.locations), agent)
  }
  const authorizeUrl: AttackServer['authorizeUrl'] = (over = {}, asking = {}) =>
    `${issuer}/oauth/authorize?${formOf(parametersOf(over, asking.client))}${asking.append ?? ''}`

  const authorize: AttackServer['authorize'] = async (over = {}, asking = {}) => {
    const { as = 'a', submit: decision = 'yes', method = 'GET', fields = {}, headers = {} } = asking
    const agent =
      asking.agent ??
      (as === null ? new UserAgent({ 'user-agent': browser }) : (await browserOf(as)).agent)
    const url = authorizeUrl(over, asking)
    const [address = '', query = ''] = url.split(/\?(.*)/s)
    const form = {
      method,
      body: query,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    }
    const target = method === 'POST' ? address : url
    const response = await agent.fetch(target, method === 'POST' ? form : { headers })
    const page = await follow(await responseOf(response, target), agent)
    const isForm = page.status === 200 && isConsentPage(page)
    if (!isForm || decision === null) return page
    return submit(page, agent, { confirm: decision, ...fields })
  }

  /** Sends a form with the client's credentials. */
  const send = async (path: string, form: Over, redeeming: Redeeming): Promise<HttpResponse> => {
    const { clientId, clientSecret, isConfidential } = named(redeeming.client)
    const { auth = isConfidential ? 'basic' : 'none', headers = {}, append = '' } = redeeming
    const url = `${redeeming.at?.issuer ?? issuer}${path}`
    const proof = {
      basic: {},
      post: { client_id: clientId, client_secret: clientSecret },
      none: { client_id: clientId },
    }[auth]
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      body: `${formOf({ ...proof, ...form })}${append}`,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(auth === 'basic' ? { authorization: basic(clientId, clientSecret) } : {}),
        ...headers,
      },
    })
    return responseOf(response, url)
  }
  const token: AttackServer['token'] = (over = {}, redeeming = {}) => {
    const isCode = !('grant_type' in over) || over.grant_type === 'authorization_code'
    const { redirectUri } = named(redeeming.client)
    const filledIn = isCode ? { redirect_uri: redirectUri, code_verifier: verifier } : {}
    const form = { grant_type: 'authorization_code', ...filledIn, ...over }
    return send('/oauth/token', form, redeeming)
  }
  const push: AttackServer['push'] = (over = {}, redeeming = {}) =>
    send('/oauth/par', parametersOf(over, redeeming.client), redeeming)
  const code: AttackServer['code'] = async (over, asking) => {
    const answer = await authorize(over, asking)
    const value = answer.query.code
    if (value === undefined) throw new Error(`The response contains no code: ${summary(answer)}`)
    return value
  }
  const request: AttackServer['request'] = async (path, { agent, ...init } = {}) => {
    const url = path.startsWith('http') ? path : `${issuer}${path}`
    const all = { redirect: 'manual', ...init } as const
    return responseOf(await (agent ? agent.fetch(url, all) : fetch(url, all)), url)
  }
  const ping: AttackServer['ping'] = (value, at = server) =>
    request(`${at.issuer}/oauth/ping`, { headers: { authorization: `Bearer ${value}` } })
  let people = 0
  const newPerson: AttackServer['newPerson'] = async () => {
    people += 1
    const user = await server.newUser({ email: `person-${people}@example.org` })
    const person = personOf(user, password)
    const loggedIn = await logIn({ issuer, ...person })
    memory.saw(loggedIn.identifier, loggedIn.jwt)
    return { ...person, ...loggedIn }
  }
  let unaudited: string | undefined
  let isClosed = false
  const close = async (): Promise<void> => {
    if (isClosed) return
    isClosed = true
    try {
      if (unaudited === undefined) await audit(server)
    } finally {
      await server.close()
    }
  }
  const attack: AttackServer = {
    server,
    issuer,
    users,
    clients,
    verifier,
    challenge,
    browser: browserOf,
    newBrowser,
    authorizeUrl,
    authorize,
    follow,
    submit,
    code,
    token,
    push,
    request,
    refresh: (refreshToken, over = {}, redeeming = {}) =>
      token({ grant_type: 'refresh_token', refresh_token: refreshToken, ...over }, redeeming),
    async grant(over = {}, asking = {}) {
      const given = 'redirect_uri' in over ? { redirect_uri: over.redirect_uri } : {}
      const parameters = { code: await code(over, asking), ...given }
      return tokensIn(await token(parameters, asking.client ? { client: asking.client } : {}))
    },
    ping,
    async expectDead({ accessToken, refreshToken }, redeeming) {
      expectBearer(await ping(accessToken), 'invalid_token')
      expectJson(await attack.refresh(refreshToken, {}, redeeming), 400, 'invalid_grant')
    },
    async expectAlive({ accessToken }) {
      expect((await ping(accessToken)).status).toBe(200)
    },
    newPerson,
    tokensIn,
    client,
    async personalToken(name = 'a', given = [r]) {
      const { id } = users[name].user
      const made = await server.server.tokens.createPersonal('Personal', id, { scopes: given })
      memory.saw(made.accessToken)
      await memory.keep(made.id)
      return { id: made.id, value: made.accessToken }
    },
    touched: memory.touched,
    saw: memory.saw,
    state: () => stateOf(server),
    leaveUnaudited(reason) {
      unaudited = reason
    },
    close,
    [Symbol.asyncDispose]: close,
  }
  await attack.personalToken('a', [r, w])
  return attack
}

const personOf = (user: User, secret: string): Person => ({
  user,
  id: user.id,
  email: user.email,
  password: secret,
})

/** Members of responses that contain credentials. */
const secretMembers = [
  'access_token',
  'refresh_token',
  'code',
  'client_secret',
  'registration_access_token',
  'device_code',
  'request_uri',
]

/** Returns the value of a Basic header, form-encoded before base64. RFC 6749 §2.3.1. */
export const basic = (clientId: string, clientSecret: string): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64')}`

const pairsOf = (over: Over): [string, string][] =>
  Object.entries(over).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, one]),
  )

/** Encodes parameters as a query or a body. */
export const formOf = (over: Over): string => new URLSearchParams(pairsOf(over)).toString()

/** Returns whether a page is a consent page. */
export const isConsentPage = ({ text }: Pick<HttpResponse, 'text'>): boolean =>
  text.includes('name="authorization_request"')

/** Returns whether a page is the login page. */
export const isLoginPage = ({ status, url, text }: HttpResponse): boolean =>
  status === 200 && new URL(url).pathname.endsWith('/login') && text.includes('name="password"')

const plain = async (
  response: Response,
  url: string,
  issuer: string,
  before: readonly string[],
): Promise<HttpResponse> => {
  const text = await response.text()
  const location = response.headers.get('location') ?? undefined
  const target = location && URL.canParse(location, url) ? new URL(location, url) : undefined
  const isJson = /^application\/(?:[a-z-]+\+)?json\b/.test(
    response.headers.get('content-type') ?? '',
  )
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : {},
    url,
    issuer,
    location,
    query: Object.fromEntries(target?.searchParams ?? []),
    fragment: Object.fromEntries(new URLSearchParams(target?.hash.slice(1))),
    locations: location === undefined ? before : [...before, location],
  }
}

/** Returns the tokens of a successful response. */
const tokensIn = (answer: HttpResponse): Tokens => {
  if (answer.status !== 200) throw new Error(`The response contains no tokens: ${summary(answer)}`)
  const { access_token, refresh_token, scope } = answer.body as Record<string, string>
  return {
    accessToken: access_token ?? '',
    refreshToken: refresh_token ?? '',
    scope: scope ?? '',
    response: answer,
  }
}

const summary = ({ status, location, text }: HttpResponse): string =>
  `${status} ${location ?? ''} ${text.slice(0, 300)}`

/** Expects that a rejected action changes nothing. */
export const expectNoChange = async (
  attack: AttackServer,
  act: () => Promise<unknown>,
): Promise<void> => {
  const before = await attack.state()
  await act()
  expect(await attack.state()).toEqual(before)
}

const tables = {
  clients: 'oauth2server_client',
  authorizations: 'oauth2server_authorization',
  tokens: 'oauth2server_token',
  rotated: 'oauth2server_rotated_refresh_token',
  consents: 'oauth2server_consent',
  users: 'oauth2server_user',
} as const

const stateOf = async (server: TestServer): Promise<Record<string, readonly unknown[]>> => {
  const state: Record<string, readonly unknown[]> = {}
  for (const [name, table] of Object.entries(tables)) {
    // Remove the last use of tokens, because it changes with every request.
    state[name] = (await server.query(`select * from ${table} order by 1`)).map(
      ({ last_used_at, last_used_address, ...row }) => row,
    )
  }
  // Read only codes in the database, because Redis also contains codes of other tests.
  state.codes = await server.query(
    "select key from oauth2server_transient where key like 'authorization_code:%' and key not like '%:failures' order by 1",
  )
  return state
}

/** Expects a page of this server with status 400, without a previous redirect to another site. */
export const expectLocal400 = (answer: HttpResponse): void => {
  const { origin } = new URL(answer.issuer)
  for (const location of answer.locations) {
    expect(new URL(location, answer.issuer).origin, location).toBe(origin)
  }
  expect(summary(answer)).toMatch(/^400 /)
  expect(answer.location).toBeUndefined()
  expect(answer.headers.get('content-type')).toMatch(/^text\/html\b/)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.text).toContain('</html>')
}

/**
 * Expects a redirect to the registered URI with one error, state and issuer, and without a code.
 * @param redirectUri the expected redirect URI; by default, the redirect URI of the client `conf`
 * @param state the expected state, or null if the redirect must not contain a state
 */
export const expectRedirect = (
  answer: HttpResponse,
  error: string,
  {
    redirectUri = 'https://client.example/cb',
    state = 'xyz',
  }: { readonly redirectUri?: string; readonly state?: string | null } = {},
): void => {
  expect([302, 303], summary(answer)).toContain(answer.status)
  const location = answer.location ?? ''
  expect(
    location.startsWith(`${redirectUri}${redirectUri.includes('?') ? '&' : '?'}`),
    location,
  ).toBe(true)
  const parameters = [...new URL(location).searchParams]
  const of = (name: string) =>
    parameters.filter(([given]) => given === name).map(([, text]) => text)
  expect(of('error'), location).toEqual([error])
  expect(of('state')).toEqual(state === null ? [] : [state])
  expect(of('iss')).toEqual([answer.issuer])
  expect(of('code')).toEqual([])
  expect(location).not.toContain('access_token')
}

/** Expects an uncached JSON error (RFC 6749 §5.2), with a challenge if the request used Basic. */
export const expectJson = (
  answer: HttpResponse,
  status: number,
  error: string,
  { triedBasic }: { readonly triedBasic?: boolean } = {},
): void => {
  expect(`${answer.status} ${answer.body.error}`, answer.text).toBe(`${status} ${error}`)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('pragma')).toBe('no-cache')
  expect(Object.keys(answer.body)).not.toContain('access_token')
  // RFC 6749 §5.2 allows only ASCII characters without quotes and backslashes.
  expect(answer.body.error_description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
  if (triedBasic !== undefined) {
    const challenge = answer.headers.get('www-authenticate')
    if (triedBasic) expect(challenge).toMatch(/^Basic realm="/)
    else expect(challenge).toBeNull()
  }
}

/** Expects status 401 and a Bearer challenge with this error, or without an error. */
export const expectBearer = (answer: HttpResponse, error?: string): void => {
  expect(answer.status, answer.text).toBe(401)
  const challenge = answer.headers.get('www-authenticate') ?? ''
  expect(challenge).toMatch(/^Bearer /)
  if (error === undefined) expect(challenge).not.toContain('error=')
  else expect(challenge).toContain(`error="${error}"`)
  expect(answer.location).toBeUndefined()
}

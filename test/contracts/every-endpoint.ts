import type { AroundStore, User, UserLinkPurpose } from 'svc-oauth2server'
import { vi } from 'vitest'
import { homeEndpoint } from '../../src/protocol/endpoints/operations/home.ts'
import type { Endpoint } from '../../src/protocol/plug-ins.ts'
import { Contract, type PlacedOperation } from '../pages/api/contract.ts'
import { createUserObjects, type UserObjects } from '../pages/api/things.ts'
import { Device } from '../support/device.ts'
import { everything } from '../support/observed-server.ts'
import { type RawResponse, rawHttp } from '../support/raw-http.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { browser, type LoggedIn, logIn } from '../support/session.ts'
import { authorizationOf } from '../support/tokens.ts'
import { UserAgent } from '../support/user-agent.ts'

/** The fields of a form or of a query. A list is a repeated field. */
export type Fields = Readonly<Record<string, string | readonly string[]>>

/** An endpoint of the running server, with one of its methods. */
export interface Operation {
  /** The method and the path, such as `POST /oauth/token`. */
  readonly name: string
  readonly method: string
  /** The path with its parameters, such as `/oauth/register/:client_id`. */
  readonly pattern: string
  readonly endpoint: Endpoint
  /** The operation of the OpenAPI document; undefined for pages without a JSON response. */
  readonly described: PlacedOperation | undefined
}

/** A request that the server accepts. */
export interface Accepted {
  readonly path: string
  readonly query: Fields
  readonly headers: Readonly<Record<string, string>>
  /** The fields of the form in the body. */
  readonly form?: Fields
  /** The JSON in the body. */
  readonly json?: object
}

/** What a test changes in an accepted request. */
export interface Change {
  readonly method?: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Header lines that are sent in addition, even if their name is repeated. */
  readonly lines?: readonly string[]
}

export const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
export const formType = 'application/x-www-form-urlencoded'
const challenge = 'a'.repeat(43)
const metricsToken = 'm'.repeat(43)

/** Encodes fields as a form; repeats the field for each item of a list. */
export const encoded = (fields: Fields): string =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, one]),
    ),
  ).toString()

/** The running server with every option, and an accepted request for each of its operations. */
export class EveryEndpoint implements AsyncDisposable {
  readonly app: TestServer
  readonly contract: Contract
  readonly endpoints: readonly Endpoint[]
  /** An administrator, who owns every object of `own`. */
  readonly admin: User
  readonly session: LoggedIn
  readonly own: UserObjects
  /** The objects of another user. */
  readonly others: UserObjects
  readonly otherSession: LoggedIn
  /** The last link that the server sent, by purpose. */
  readonly links: ReadonlyMap<UserLinkPurpose, string>
  readonly client: { readonly clientId: string; readonly clientSecret: string }

  private constructor(given: Pick<EveryEndpoint, Given>) {
    this.app = given.app
    this.contract = given.contract
    this.endpoints = given.endpoints
    this.admin = given.admin
    this.session = given.session
    this.links = given.links
    this.own = given.own
    this.others = given.others
    this.otherSession = given.otherSession
    this.client = given.client
  }

  static async start(aroundStore?: AroundStore): Promise<EveryEndpoint> {
    let endpoints: readonly Endpoint[] = []
    const links = new Map<UserLinkPurpose, string>()
    const app = await startServer({
      ...everything,
      ...(aroundStore && { aroundStore }),
      trustedProxies: [],
      dangerouslyIgnoreLimits: true,
      metricsToken,
      signUp: true,
      sendUserLink: ({ purpose, url }) => void links.set(purpose, url),
      acceptUnsignedLeakReports: true,
      extensions: [
        // The path `/` belongs to the notes application, whose page contains the JWT of the session.
        { name: 'home', endpoints: [{ ...homeEndpoint, path: () => '/home/' }] },
        {
          name: 'witness',
          // The hook receives the endpoints that the router serves.
          metadata: (server) => {
            endpoints = server.endpoints
            return {}
          },
        },
      ],
    })
    await fetch(`${app.issuer}/.well-known/oauth-authorization-server`)
    const admin = await app.newUser({ email: 'admin@example.org', isAdmin: true })
    const { issuer, password } = app
    return new EveryEndpoint({
      app,
      endpoints,
      links,
      contract: await Contract.of(app),
      admin,
      session: await logIn({ issuer, password, user: admin }),
      otherSession: await logIn(app),
      own: await createUserObjects(app, admin),
      others: await createUserObjects(app, app.user),
      client: await app.client({ userId: admin.id }),
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.app.close()
  }

  /** Each endpoint of the running server with each of its methods. */
  get operations(): readonly Operation[] {
    return this.endpoints.flatMap((endpoint) => {
      const pattern = endpoint.path(this.app.server.settings)
      return endpoint.methods.map((method) => ({
        name: `${method} ${pattern}`,
        method,
        pattern,
        endpoint,
        described: this.contract.operations.find(
          ({ method: own, path }) =>
            own === method && path === pattern.replaceAll(/:(\w+)/g, '{$1}'),
        ),
      }))
    })
  }

  /** Returns a request that the operation accepts. Creates an object first if the request consumes one. */
  async accepted(operation: Operation): Promise<Accepted> {
    const { method, pattern, endpoint } = operation
    const { [operation.name]: special = {} } = specialRequests
    const described = await this.#describedBy(operation)
    const specific = typeof special === 'function' ? await special(this) : special
    const given = {
      ...described,
      ...specific,
      ...(described.form && { form: { ...described.form, ...specific.form } }),
    }
    const isPage = endpoint.errors === 'page'
    const isForm = method === 'POST' && given.json === undefined
    const path = given.path ?? this.#pathOf(pattern)
    const { csrf_token = this.session.csrfToken } = given.form ?? {}
    return {
      query: {},
      ...given,
      path,
      headers: { ...(isPage && { ...this.asSession(), accept: html }), ...given.headers },
      ...(isForm && {
        // Without another ID, the server repeats its response to an equal form.
        form: { ...(isPage && { csrf_token, form_id: `form ${++forms}` }), ...given.form },
      }),
    }
  }

  /** The credentials and the token that the description of an operation requires. */
  async #describedBy({ described }: Operation): Promise<Partial<Accepted>> {
    const accepts = (scheme: string): boolean =>
      described?.security?.some((one) => scheme in one) === true
    if (accepts('accessToken')) return withToken(this)
    if (!accepts('client')) return {}
    const schema = described?.requestBody?.content[formType]?.schema ?? {}
    const needsToken =
      'required' in schema && Array.isArray(schema.required) && schema.required.includes('token')
    return {
      headers: basic(this.client),
      form: needsToken ? { token: await this.app.personalToken() } : {},
    }
  }

  /** Sends a request that the operation accepts, with changes. */
  async send(operation: Operation, change: Change = {}): Promise<RawResponse> {
    return this.sendAs(operation, await this.accepted(operation), change)
  }

  /** Sends a request with changes. `operation` only determines the method. */
  sendAs({ method }: Operation, accepted: Accepted, change: Change = {}): Promise<RawResponse> {
    const { path, query, headers, form, json } = accepted
    const body = change.body ?? (form ? encoded(form) : json ? JSON.stringify(json) : '')
    const type = form ? formType : 'application/json'
    const given: Record<string, string> = {
      ...(change.lines === undefined && (form || json) && { 'content-type': type }),
      ...headers,
      ...change.headers,
    }
    const search = change.query ?? encoded(query)
    return rawHttp(this.app, {
      method: change.method ?? method,
      target: `${path}${search === '' ? '' : `?${search}`}`,
      headers: [
        ...Object.entries(given).map(([name, value]) => `${name}: ${value}`),
        ...(change.lines ?? []),
      ],
      body,
    })
  }

  asSession({ cookie }: LoggedIn = this.session): Readonly<Record<string, string>> {
    return { cookie, 'user-agent': browser }
  }

  /** Everything that a request can change, except routine events, which the server writes later. */
  async written(): Promise<unknown> {
    const rows = await Promise.all(
      tables.map(([table, columns, which = '']) =>
        this.app.query(`select ${columns} from oauth2server_${table} ${which}`),
      ),
    )
    return rows.map((all) => all.map((row) => JSON.stringify(row)).toSorted())
  }

  #pathOf(pattern: string): string {
    const { clientId, tokenId, deviceId, authorizedId } = this.own
    const isDevice = /view\/$|revoke\/$/.test(pattern)
    return pattern
      .replace(':client_id', pattern.includes('/authorized/') ? authorizedId : clientId)
      .replace(
        ':id',
        pattern.startsWith('/admin/users')
          ? String(this.app.user.id)
          : String(isDevice ? deviceId : tokenId),
      )
      .replace(':digest', 'x'.repeat(43))
  }
}

let forms = 0

type Given =
  | 'app'
  | 'contract'
  | 'endpoints'
  | 'admin'
  | 'session'
  | 'links'
  | 'own'
  | 'others'
  | 'otherSession'
  | 'client'

const tables = [
  ['client', '*'],
  ['token', 'id, client_key, user_id, access_token_digest, expires, scopes, successor_id'],
  ['authorization', '*'],
  ['consent', '*'],
  ['session', 'id, user_id, address, user_agent'],
  // The server writes these events some time after the request.
  ['audit', '*', "where is_routine = 0 and event <> 'login.failed'"],
] as const

type Special =
  | Partial<Accepted>
  | ((world: EveryEndpoint) => Partial<Accepted> | Promise<Partial<Accepted>>)

const basic = ({ clientId, clientSecret }: EveryEndpoint['client']): Record<string, string> => ({
  authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}`,
})

/** A request with an access token of the user for all scopes. */
const withToken = async ({ app, own }: EveryEndpoint): Promise<Partial<Accepted>> => {
  const scopes = ['openid', 'notes:read']
  const { accessToken } = await authorizationOf(app, own.authorizedId, { scopes })
  return { headers: { authorization: `Bearer ${accessToken}` } }
}

const registered: Special = async ({ app }) => {
  const response = await fetch(`${app.issuer}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [redirectUri] }),
  })
  const body = (await response.json()) as Record<string, string>
  return {
    path: new URL(body.registration_client_uri ?? '').pathname,
    headers: { authorization: `Bearer ${body.registration_access_token}` },
    json: { redirect_uris: [redirectUri], client_id: body.client_id },
  }
}

const authorizationRequest = ({ client }: EveryEndpoint): Fields => ({
  response_type: 'code',
  client_id: client.clientId,
  redirect_uri: redirectUri,
  scope: 'notes:read',
  code_challenge: challenge,
  code_challenge_method: 'S256',
})

const list = '/account/settings/applications'

const clientForm: Fields = {
  name: 'Typed',
  description: 'Typed, too',
  website: 'https://typed.example',
  redirect_uris: 'https://typed.example/cb\r\nhttps://typed.example/2',
  default_scopes: ['notes:read', 'user:email'],
  optional_scopes: ['notes:read'],
}
const tokenForm: Fields = { name: 'Typed', scopes: ['notes:read', 'user:email'] }

let users = 0

const newUser = ({ app }: EveryEndpoint): Promise<User> => {
  users += 1
  return app.newUser({ email: `user-${users}@example.org` })
}

/** The session of a new user, for a request that ends the session or changes the user. */
const newSession = async (world: EveryEndpoint, form: (user: User) => Fields = () => ({})) => {
  const user = await newUser(world)
  const { issuer, password } = world.app
  const session = await logIn({ issuer, password, user })
  return {
    headers: world.asSession(session),
    form: { csrf_token: session.csrfToken, ...form(user) },
  }
}

/** A new application that the administrator has authorized. */
const newAuthorization = async ({ app, admin }: EveryEndpoint) => {
  const { clientId } = await app.client({ userId: null })
  const { token } = await authorizationOf({ ...app, user: admin }, clientId)
  return { clientId, id: token.id }
}

const newToken = async ({ app, admin }: EveryEndpoint): Promise<number> =>
  (await app.server.tokens.createPersonal('Old', admin.id)).id

/** A link to reset the password of a new user. */
const resetLink: Special = async (world) => {
  const { app, links } = world
  const { email } = await newUser(world)
  const before = links.get('reset_password')
  const visitor = new UserAgent()
  await visitor.submit(await visitor.browse(`${app.issuer}/login/forgot-password`), { email })
  const link = await vi.waitFor(() => {
    const found = links.get('reset_password')
    if (found === undefined || found === before) throw new Error('No link was sent.')
    return found
  })
  const token = new URL(link).searchParams.get('token') ?? ''
  const more = { token, new_password: `a new password ${users}` }
  return { query: { token }, form: more }
}

/** The parts of accepted requests that do not follow from the declaration of the endpoint. */
const specialRequests: Readonly<Record<string, Special>> = {
  'GET /oauth/authorize': (world) => ({ query: authorizationRequest(world) }),
  'POST /oauth/authorize': (world) => ({ form: authorizationRequest(world) }),
  'POST /oauth/token': { form: { grant_type: 'client_credentials' } },
  'POST /oauth/par': (world) => ({ form: authorizationRequest(world) }),
  'POST /oauth/device_authorization': { form: { scope: 'notes:read' } },
  'POST /oauth/register': { json: { redirect_uris: [redirectUri] } },
  'GET /oauth/register/:client_id': registered,
  'PUT /oauth/register/:client_id': registered,
  'DELETE /oauth/register/:client_id': registered,
  'GET /metrics': { headers: { authorization: `Bearer ${metricsToken}` } },
  'POST /oauth/leaked': { json: [{ token: 'x', type: 'notes_token', url: 'https://a.example' }] },
  'GET /oauth/errors': { query: { error: 'invalid_scope' } },
  'POST /login': (world) =>
    newSession(world, ({ email }) => ({ email, password: world.app.password })),
  'POST /logout': (world) => newSession(world),
  'GET /login/link': resetLink,
  'POST /login/link': resetLink,
  'POST /login/forgot-password': { form: { email: 'nobody@example.org' } },
  'POST /login/sign-up': { form: { email: 'newcomer@example.org' } },
  'POST /oauth/device': async ({ app }) => {
    const device = await Device.register(app)
    return { form: { user_code: (await device.codes()).user_code } }
  },
  'POST /account/settings/password/': (world) =>
    newSession(world, () => ({
      current_password: world.app.password,
      new_password: 'another long password',
    })),
  'POST /account/settings/sessions/': { form: { others: 'yes' } },
  'POST /account/settings/leaked/': async ({ app }) => ({
    form: { credential: await app.personalToken() },
  }),
  [`POST ${list}/clients/new/`]: { form: { ...clientForm, is_confidential: 'false' } },
  [`POST ${list}/clients/:client_id/`]: { form: clientForm },
  [`POST ${list}/tokens/new/`]: { form: { ...tokenForm, expires: '2027-01-31' } },
  [`POST ${list}/tokens/:id/`]: { form: tokenForm },
  [`POST ${list}/tokens/:id/revoke/`]: async (world) => ({
    path: `${list}/tokens/${(await newAuthorization(world)).id}/revoke/`,
  }),
  [`POST ${list}/authorized/:client_id/revoke/`]: async (world) => ({
    path: `${list}/authorized/${(await newAuthorization(world)).clientId}/revoke/`,
  }),
  [`POST ${list}/tokens/selected/`]: async (world) => ({
    form: { id: String(await newToken(world)) },
  }),
  [`POST ${list}/authorized/selected/`]: async (world) => ({
    form: { id: (await newAuthorization(world)).clientId },
  }),
  [`POST ${list}/tokens/undo/`]: async (world) => {
    const { app, session } = world
    const ended = await fetch(`${app.issuer}${list}/tokens/${await newToken(world)}/`, {
      method: 'POST',
      headers: {
        ...world.asSession(),
        accept: 'application/json',
        authorization: `Bearer ${session.jwt}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ delete: 'yes' }),
    })
    return { form: (await ended.json()) as { readonly undo: string } }
  },
  'POST /admin/applications/': ({ own }) => ({ form: { client_id: own.clientId, act: 'verify' } }),
  'POST /admin/applications/:client_id/': { form: { act: 'verify' } },
  'POST /admin/tokens/': async (world) => ({
    form: { token_id: String(await newToken(world)), act: 'delete' },
  }),
  'POST /admin/users/': ({ app }) => ({ form: { user: app.user.email } }),
  'POST /admin/users/:id/': { form: { act: 'activate' } },
  'POST /admin/activity/': { form: { event: 'user.created' } },
}

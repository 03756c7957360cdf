import { expect } from 'vitest'
import { rawHttp } from '../../support/raw-http.ts'
import { claimsOf } from '../../support/session.ts'
import { UserAgent } from '../../support/user-agent.ts'
import { type ClientCredentials, type Embedded, password, redirectUri } from './harness.ts'

/** The `User-Agent` of the user's browser. */
export const browser = 'Mozilla/5.0 (the browser of the adapter contract)'
/** The IP address of the user, which a trusted proxy reports. */
export const machine = '203.0.113.7'

/** A logged-in browser, with the values of the application's page. */
export interface SignedIn {
  readonly agent: UserAgent
  readonly cookie: string
  readonly jwt: string
  readonly csrfToken: string
}

/** A request with explicit headers. */
export interface Presented {
  readonly method?: string
  readonly authorization?: string | readonly string[]
  readonly cookie?: string | readonly string[]
  readonly query?: string
  readonly headers?: readonly string[]
  readonly body?: string
}

export interface HttpResponse {
  readonly status: number
  /** The parameters of the `WWW-Authenticate` header; `none` without a header, `bare` without an error parameter. */
  readonly challenge: 'none' | 'bare' | Readonly<Record<string, string>>
  readonly body: unknown
}

export interface Account {
  readonly id: string | number
  readonly email: string
}

export const form = 'Content-Type: application/x-www-form-urlencoded'

export const basic = ({ clientId, clientSecret }: ClientCredentials): string =>
  `Basic ${btoa(`${clientId}:${clientSecret}`)}`

/** An application with the users and credentials that the suite presents to it. */
export class World {
  readonly app: Embedded
  readonly user: Account
  readonly other: Account
  readonly client: ClientCredentials
  /** The user's browser. */
  readonly session: SignedIn
  /** A second browser of the user, and the browser of the other user. */
  readonly second: SignedIn
  readonly others: SignedIn

  private constructor(
    fields: Pick<World, 'app' | 'user' | 'other' | 'client' | 'session' | 'second' | 'others'>,
  ) {
    this.app = fields.app
    this.user = fields.user
    this.other = fields.other
    this.client = fields.client
    this.session = fields.session
    this.second = fields.second
    this.others = fields.others
  }

  static async of(app: Embedded): Promise<World> {
    const account = async (email: string) => ({ email, id: await app.control.createUser(email) })
    const user = await account('user-a@example.org')
    const other = await account('user-b@example.org')
    const client = await app.control.createClient(user.id)
    const [session, second, others] = await Promise.all(
      [user, user, other].map((account) => signIn(app, account)),
    )
    if (!session || !second || !others) throw new Error('A user could not log in.')
    return new World({ app, user, other, client, session, second, others })
  }

  /** Returns a path of the application, with the path of the issuer. */
  path(path: string): string {
    return new URL(this.app.url).pathname.replace(/\/$/, '') + path
  }

  /** Returns a path below the prefix of the authorization server. */
  oauth(path: string): string {
    return this.path(this.app.place.oauthPrefix + path)
  }

  /** Returns the claims of the session's JWT with changes. The value undefined removes a claim. */
  claims(changed: Record<string, unknown> = {}): Record<string, unknown> {
    return { ...claimsOf(this.session.jwt), ...changed }
  }

  /** Sends exactly these headers, with the user agent and the IP address of the user by default. */
  async send(path: string, presented: Presented = {}) {
    const { method = 'GET', query = '', body, headers = [] } = presented
    const has = (name: string) => headers.some((line) => line.toLowerCase().startsWith(`${name}:`))
    const lines = (name: string, values: string | readonly string[] = []) =>
      [values].flat().map((value) => `${name}: ${value}`)
    return rawHttp(
      { issuer: this.app.url },
      {
        method,
        target: path + query,
        headers: [
          ...(has('user-agent') ? [] : [`User-Agent: ${browser}`]),
          ...(has('x-forwarded-for') ? [] : forwarded(this.app)),
          ...lines('Authorization', presented.authorization),
          ...lines('Cookie', presented.cookie),
          ...headers,
        ],
        ...(body === undefined ? {} : { body }),
      },
    )
  }

  /** Sends a form to the token endpoint, by default with the client's secret in the header. */
  token(body: string, { authorization = basic(this.client), headers = [form], query = '' } = {}) {
    const credentials = authorization === '' ? {} : { authorization }
    return this.send(this.oauth('/token'), { method: 'POST', ...credentials, headers, body, query })
  }

  /** Returns the URL of an authorization request of the client. */
  authorizeUrl(parameters: Record<string, string> = {}): string {
    const all = {
      response_type: 'code',
      client_id: this.client.clientId,
      redirect_uri: redirectUri,
      scope: 'notes:read',
      ...parameters,
    }
    const { url, place } = this.app
    return `${url}${place.oauthPrefix}/authorize?${new URLSearchParams(all)}`
  }

  /** Requests a guarded resource, and checks the invariants of every response. */
  async ask(path: string, presented: Presented = {}): Promise<HttpResponse> {
    const { status, headers, text } = await this.send(this.path(path), presented)
    expect(headers.get('content-type')).toMatch(/^application\/json\b/)
    expect(headers.get('cache-control')).toContain('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('set-cookie')).toBeNull()
    const challenge = headers.get('www-authenticate')
    return {
      status,
      challenge: challenge === null ? 'none' : this.#challenge(challenge),
      body: JSON.parse(text),
    }
  }

  #challenge(text: string): HttpResponse['challenge'] {
    expect(text).toMatch(/^(?:Bearer|DPoP) [a-z_]+="[^"\\]*"(?:, [a-z_]+="[^"\\]*")*$/)
    const pairs = [...text.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, name, value]) => [name, value])
    const all = Object.fromEntries(pairs)
    expect(all.realm).toBe(this.app.place.issuer)
    return 'error' in all ? all : 'bare'
  }
}

const forwarded = ({ place }: Embedded): string[] =>
  place.isProxied ? [`X-Forwarded-For: ${machine}`] : []

/** Creates a browser with the user agent and the IP address of the user. */
export const newBrowser = (app: Embedded, headers: Record<string, string> = {}): UserAgent =>
  new UserAgent({
    'user-agent': browser,
    ...(app.place.isProxied ? { 'x-forwarded-for': machine } : {}),
    ...headers,
  })

const signIn = async (app: Embedded, { email }: Account): Promise<SignedIn> => {
  const agent = newBrowser(app)
  const form = await agent.browse(`${app.url}${app.place.loginPath}`)
  const answer = await agent.submit(form, { email, password })
  expect(answer.status).toBe(303)
  const page = await pageOf(app, agent)
  const cookie = await agent.jar.getCookieString(app.url)
  return { agent, cookie, jwt: page.jwt, csrfToken: page.csrfToken }
}

/** Requests the page of the application, and returns its JWT and CSRF token. */
export const pageOf = async (app: Embedded, agent: UserAgent, headers = {}) => {
  const response = await agent.fetch(`${app.url}/`, { headers })
  const html = await response.text()
  const field = (name: string): string =>
    new RegExp(`name="${name}" value="([^"]+)"`).exec(html)?.[1] ?? ''
  return {
    status: response.status,
    headers: response.headers,
    html,
    jwt: field('authorized_token'),
    csrfToken: field('csrf_token'),
  }
}

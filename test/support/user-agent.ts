import { createHash, randomBytes } from 'node:crypto'
import type { ClientInput } from 'svc-oauth2server'
import { CookieJar } from 'tough-cookie'
import { expect } from 'vitest'
import { redirectUri } from './redirect-uris.ts'
import type { TestServer } from './server.ts'

/** A simulated browser, which stores cookies, submits forms unchanged, and follows redirects only on request. */
export class UserAgent {
  readonly jar = new CookieJar(undefined, { allowSecureOnLocal: true } as object)
  readonly #headers: Record<string, string>

  constructor(headers: Record<string, string> = {}) {
    this.#headers = headers
  }

  async fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const cookie = await this.jar.getCookieString(String(url))
    const headers = new Headers({ ...this.#headers, ...(cookie === '' ? {} : { cookie }) })
    new Headers(init.headers).forEach((value, name) => {
      headers.set(name, value)
    })
    const response = await fetch(url, { redirect: 'manual', ...init, headers })
    for (const value of response.headers.getSetCookie())
      await this.jar.setCookie(value, String(url))
    return response
  }

  /** Follows redirects on the origin of the server. Returns the redirect to another origin, or the last page. */
  async browse(
    url: string | URL,
    init: RequestInit = {},
  ): Promise<Response & { readonly address: string }> {
    let address = new URL(url).href
    let response = await this.fetch(address, init)
    for (let hops = 0; hops < 10; hops += 1) {
      const location = response.headers.get('location')
      if (location === null) break
      const target = new URL(location, address)
      if (target.origin !== new URL(address).origin) break
      await response.body?.cancel()
      address = target.href
      response = await this.fetch(address)
    }
    return Object.assign(response, { address })
  }

  /** Submits the form of a page with its hidden fields and the given fields. */
  async submit(
    page: Response & { readonly address?: string },
    fields: Record<string, string>,
  ): Promise<Response> {
    const { action, hidden } = formIn(await page.text())
    const url = new URL(action, page.address ?? page.url)
    return this.fetch(url, { method: 'POST', body: new URLSearchParams({ ...hidden, ...fields }) })
  }

  async logIn({
    issuer,
    user,
    password,
  }: Pick<TestServer, 'issuer' | 'user' | 'password'>): Promise<Response> {
    return this.submit(await this.browse(`${issuer}/login`), { email: user.email, password })
  }

  /** Completes login and consent if they are shown; returns the final redirect. */
  async authorize(
    server: Pick<TestServer, 'issuer' | 'user' | 'password'>,
    url: string | URL,
    confirm: 'yes' | 'no' = 'yes',
  ): Promise<URL> {
    let page = await this.browse(url)
    for (let forms = 0; forms < 4; forms += 1) {
      const location = page.headers.get('location')
      if (location !== null) return new URL(location, page.address)
      const isLogin = page.address.includes('/login')
      if (page.status !== 200) return new URL(page.address)
      const fields = isLogin ? { email: server.user.email, password: server.password } : { confirm }
      const answer = await this.submit(page, fields as Record<string, string>)
      const next = answer.headers.get('location')
      if (next === null)
        throw new Error(`The form did not redirect, but returned ${answer.status}.`)
      const target = new URL(next, page.address)
      if (target.origin !== new URL(page.address).origin) return target
      page = await this.browse(target)
    }
    throw new Error('Login and consent did not lead to the final redirect.')
  }
}

/** Returns the URL (`action`) and the hidden fields of the first POST form of a page. */
export const formIn = (html: string): { action: string; hidden: Record<string, string> } => {
  const [form = ''] = /<form method="post"[\s\S]*?<\/form>/.exec(html) ?? []
  const action = attribute(form, 'action') ?? ''
  const fields = [...form.matchAll(/<input type="hidden"[^>]*>/g)].map(([input]) => [
    attribute(input, 'name') ?? '',
    attribute(input, 'value') ?? '',
  ])
  return { action, hidden: Object.fromEntries(fields) }
}

const attribute = (tag: string, name: string): string | undefined => {
  const value = new RegExp(`${name}="([^"]*)"`).exec(tag)?.[1]
  return value
    ?.replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

export interface Pkce {
  readonly verifier: string
  readonly challenge: string
}

export const newPkce = (): Pkce => {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** Returns the URL of an authorization request; undefined omits a parameter. */
export const authorizeUrl = (
  issuer: string,
  parameters: Record<string, string | undefined>,
): string => {
  const given = Object.entries({ response_type: 'code', ...parameters }).filter(
    (pair) => pair[1] !== undefined,
  )
  return `${issuer}/oauth/authorize?${new URLSearchParams(given as [string, string][])}`
}

/** Sends a token request. `basic` adds a Basic header; without it, `parameters` may contain the client's secret. */
export const tokenRequest = async (
  issuer: string,
  parameters: Record<string, string | undefined>,
  {
    basic,
    headers = {},
  }: { basic?: { clientId: string; clientSecret: string }; headers?: Record<string, string> } = {},
): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> => {
  const given = Object.entries(parameters).filter((pair) => pair[1] !== undefined) as [
    string,
    string,
  ][]
  const credentials =
    basic && btoa(`${encodeURIComponent(basic.clientId)}:${encodeURIComponent(basic.clientSecret)}`)
  const response = await fetch(`${issuer}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(given),
    headers: { ...headers, ...(credentials ? { authorization: `Basic ${credentials}` } : {}) },
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  }
}

/**
 * The body of a token response. The members of a successful response are declared as present, although an error
 * response lacks them, so that tests can read them without a type check.
 */
export interface TokenBody {
  readonly access_token: string
  readonly token_type: string
  readonly expires_in: number
  readonly scope: string
  readonly refresh_token: string
  readonly id_token?: string
  readonly user?: {
    readonly id: unknown
    readonly email?: string
    readonly email_verified?: boolean
  }
  readonly error?: string
  readonly error_description?: string
}

export interface TokenResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: TokenBody
}

/** The authentication method of a test client. */
export type Proof = 'basic' | 'post' | 'none'

type Given = Record<string, string | undefined>

/** A client application with the browser of its user. It requests authorizations and redeems codes. */
export class TestClient {
  readonly app: TestServer
  readonly agent: UserAgent
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri: string
  readonly pkce: Pkce = newPkce()
  readonly #proof: Proof

  constructor(
    app: TestServer,
    agent: UserAgent,
    registered: { clientId: string; clientSecret: string; redirectUri: string },
    proof: Proof,
  ) {
    this.app = app
    this.agent = agent
    this.clientId = registered.clientId
    this.clientSecret = registered.clientSecret
    this.redirectUri = registered.redirectUri
    this.#proof = proof
  }

  /** Registers the client. A public client does not authenticate; a confidential client uses Basic by default. */
  static async register(
    app: TestServer,
    agent: UserAgent,
    input: Partial<ClientInput> = {},
    proof: Proof = input.isConfidential === false ? 'none' : 'basic',
  ): Promise<TestClient> {
    const [first = redirectUri] =
      input.redirectUris === undefined ? [] : [input.redirectUris].flat()
    const registered = await app.client(input)
    return new TestClient(app, agent, { ...registered, redirectUri: first }, proof)
  }

  /** Returns the URL of an authorization request with state and challenge; undefined omits a parameter. */
  url(given: Given = {}): string {
    const isCode = !('response_type' in given) || given.response_type?.split(' ').includes('code')
    return authorizeUrl(this.app.issuer, {
      client_id: this.clientId,
      redirect_uri: this.redirectUri,
      scope: 'notes:read',
      state: 'xyz',
      ...(isCode ? { code_challenge: this.pkce.challenge, code_challenge_method: 'S256' } : {}),
      ...given,
    })
  }

  /** Completes the flow in the browser, and returns the final redirect. */
  ask(given: Given = {}, confirm: 'yes' | 'no' = 'yes'): Promise<URL> {
    return this.agent.authorize(this.app, this.url(given), confirm)
  }

  async code(given: Given = {}): Promise<string> {
    const answer = await this.ask(given)
    const code = answer.searchParams.get('code')
    if (code === null) throw new Error(`There is no code in ${answer}.`)
    return code
  }

  /** Sends a token request with this client's credentials. */
  async token(given: Given, proof: Proof = this.#proof): Promise<TokenResponse> {
    const { clientId, clientSecret } = this
    const inBody = {
      basic: {},
      post: { client_id: clientId, client_secret: clientSecret },
      none: { client_id: clientId },
    }[proof]
    const answer = await tokenRequest(
      this.app.issuer,
      { ...inBody, ...given },
      proof === 'basic' ? { basic: this } : {},
    )
    return answer as unknown as TokenResponse
  }

  redeem(code: string, given: Given = {}): Promise<TokenResponse> {
    return this.token({
      grant_type: 'authorization_code',
      code,
      redirect_uri: this.redirectUri,
      code_verifier: this.pkce.verifier,
      ...given,
    })
  }

  refresh(refreshToken: string, given: Given = {}): Promise<TokenResponse> {
    return this.token({ grant_type: 'refresh_token', refresh_token: refreshToken, ...given })
  }

  /** Returns the tokens of a new authorization. */
  async tokens(given: Given = {}): Promise<TokenBody> {
    const { status, body } = await this.redeem(await this.code(given))
    if (status !== 200) throw new Error(`The code was not redeemed: ${JSON.stringify(body)}`)
    return body
  }
}

/** Sends a token to a protected endpoint. @returns the status of the response */
export const ping = async (
  { issuer }: Pick<TestServer, 'issuer'>,
  token: string,
): Promise<number> => {
  const response = await fetch(`${issuer}/oauth/ping`, {
    headers: { authorization: `Bearer ${token}` },
  })
  await response.body?.cancel()
  return response.status
}

/**
 * Checks the format of an error response of the token endpoint (RFC 6749 §5.2).
 * @returns the status and the error code
 */
export const refusal = ({ status, headers, body }: TokenResponse): string => {
  expect(Object.keys(body).sort()).toEqual(['error', 'error_description'])
  expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
  expect(headers.get('content-type')).toMatch(/^application\/json\b/)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('pragma')).toBe('no-cache')
  return `${status} ${body.error}`
}

/**
 * Returns the parameters in the query or the fragment of a redirect to the client. Fails if a parameter occurs twice.
 */
export const responseTo = (
  { redirectUri: uri }: Pick<TestClient, 'redirectUri'>,
  answer: URL,
  place: 'query' | 'fragment' = 'query',
): Record<string, string> => {
  const parameters = (place === 'query' ? answer.search : answer.hash).slice(1)
  expect(`${answer.origin === 'null' ? answer.protocol : answer.origin}${answer.pathname}`).toBe(
    uri.replace(/\?.*/s, ''),
  )
  const pairs = [...new URLSearchParams(parameters)]
  expect(new Set(pairs.map(([name]) => name)).size).toBe(pairs.length)
  return Object.fromEntries(pairs)
}

import { randomUUID } from 'node:crypto'

/** A client that is registered at every server under the same name. */
export interface Registered {
  readonly name: string
  readonly secret: string | null
  readonly redirectUris: readonly string[]
  readonly grantTypes: readonly string[]
}

const cb = 'https://client.example/cb'
const code = ['authorization_code', 'refresh_token'] as const

/** The clients that the cases use. */
export const registered = [
  {
    name: 'web',
    secret: 'a-secret-of-the-client-web-32-bytes-and-more',
    redirectUris: [cb],
    grantTypes: [...code, 'client_credentials'],
  },
  {
    name: 'two',
    secret: 'a-secret-of-the-client-two-32-bytes-and-more',
    redirectUris: [cb, 'https://client.example/other'],
    grantTypes: [...code],
  },
  { name: 'app', secret: null, redirectUris: [cb], grantTypes: [...code] },
  { name: 'native', secret: null, redirectUris: ['http://127.0.0.1/cb'], grantTypes: [...code] },
  {
    name: 'machine',
    secret: 'a-secret-of-the-client-machine-32-bytes-and-more',
    redirectUris: [],
    grantTypes: ['client_credentials'],
  },
] as const satisfies readonly Registered[]

export type ClientName = (typeof registered)[number]['name']

/** The port and the endpoint paths of a server. A path is null if the server does not have the endpoint. */
export interface Addresses {
  readonly port: number
  readonly authorize: string
  readonly token: string
  readonly revoke: string | null
  readonly introspect: string | null
  readonly metadata: string | null
}

export type Given = Readonly<Record<string, string | undefined>>

export interface HttpResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
}

/** The client of a request, and its authentication. */
export interface Proof {
  readonly client?: ClientName
  readonly by?: 'basic' | 'body' | 'nothing'
  readonly secret?: string
  readonly headers?: Readonly<Record<string, string>>
}

export const verifier = 'a-verifier-of-forty-three-characters-or-more'
export const challenge = 'y5UF_tmp_ICTDGza-Ou2vUvx2cu7DBN-Xwf_z0RDfTw'

export const formOf = (given: Given): string =>
  new URLSearchParams(
    Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined),
  ).toString()

/** One of the compared servers, with the browser of a logged-in user. */
export class Peer {
  readonly name: string
  readonly at: Addresses
  readonly #ids: Readonly<Record<string, { id: string; secret: string | null }>>
  readonly #cookies = new Map<string, string>()

  constructor(
    name: string,
    at: Addresses,
    ids: Readonly<Record<string, { id: string; secret: string | null }>> = {},
  ) {
    this.name = name
    this.at = at
    this.#ids = ids
  }

  get origin(): string {
    return `http://localhost:${this.at.port}`
  }

  idOf(name: ClientName): string {
    return this.#ids[name]?.id ?? name
  }

  secretOf(name: ClientName): string {
    const own = registered.find((client) => client.name === name)?.secret
    return this.#ids[name]?.secret ?? own ?? ''
  }

  async send(path: string, init: RequestInit = {}): Promise<HttpResponse> {
    const headers = new Headers(init.headers)
    const cookies = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    if (cookies !== '' && !headers.has('cookie')) headers.set('cookie', cookies)
    headers.set('accept', headers.get('accept') ?? 'text/html')
    const url = new URL(path, this.origin)
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    const text = await response.text()
    const body = /^\s*[{[]/.test(text) ? JSON.parse(text) : {}
    return { status: response.status, headers: response.headers, text, body }
  }

  /** Returns the query of a valid authorization request. `given` replaces parameters; undefined omits a parameter. */
  request(client: ClientName, given: Given = {}): string {
    return formOf({
      response_type: 'code',
      client_id: this.idOf(client),
      redirect_uri: client === 'native' ? 'http://127.0.0.1/cb' : cb,
      scope: 'notes:read',
      state: 'a state',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...given,
    })
  }

  /**
   * Sends an authorization request from the browser, follows redirects, and consents.
   * @returns the redirect to the client, or the page at which the flow stopped
   */
  async authorize(query: string, init: RequestInit = {}): Promise<URL | HttpResponse> {
    let response = await this.send(
      init.method === 'POST' ? this.at.authorize : `${this.at.authorize}?${query}`,
      init.method === 'POST' ? { ...init, body: new URLSearchParams(query) } : init,
    )
    for (let steps = 0; steps < 12; steps += 1) {
      const location = response.headers.get('location')
      if (location !== null) {
        const next = new URL(location, this.origin)
        if (next.origin !== this.origin) return next
        response = await this.send(next.href)
        continue
      }
      const fields = hiddenIn(response.text)
      if (response.status !== 200 || !fields.authorization_request) return response
      const body = new URLSearchParams({ ...fields, confirm: 'yes' })
      response = await this.send(this.at.authorize, { method: 'POST', body })
    }
    return response
  }

  async code(client: ClientName = 'web', given: Given = {}): Promise<string> {
    const end = await this.authorize(this.request(client, given))
    const value = end instanceof URL ? end.searchParams.get('code') : null
    if (value === null)
      throw new Error(`${this.name} returned no code: ${end instanceof URL ? end : end.text}`)
    return value
  }

  /** Sends a form to an endpoint with the authentication of a client. */
  post(path: string | null, given: Given | string, proof: Proof = {}): Promise<HttpResponse> {
    if (path === null) throw new Error(`${this.name} has no such endpoint.`)
    const { client = 'web', headers = {} } = proof
    const isPublic = client === 'app' || client === 'native'
    const { by = isPublic ? 'nothing' : 'basic', secret = this.secretOf(client) } = proof
    const id = this.idOf(client)
    const inBody = {
      basic: {},
      body: { client_id: id, client_secret: secret },
      nothing: { client_id: id },
    }[by]
    const body = typeof given === 'string' ? given : formOf({ ...inBody, ...given })
    return this.send(path, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        cookie: '',
        ...(by === 'basic' && { authorization: `Basic ${btoa(`${id}:${secret}`)}` }),
        ...headers,
      },
    })
  }

  token(given: Given | string, proof: Proof = {}): Promise<HttpResponse> {
    return this.post(this.at.token, given, proof)
  }

  /** Sends a valid token request for a code. `given` replaces parameters; undefined omits a parameter. */
  redeem(code: string, given: Given = {}, proof: Proof = {}): Promise<HttpResponse> {
    const redirect_uri = proof.client === 'native' ? 'http://127.0.0.1/cb' : cb
    const own = { grant_type: 'authorization_code', code, redirect_uri, code_verifier: verifier }
    return this.token({ ...own, ...given }, proof)
  }

  async tokens(
    client: ClientName = 'web',
    given: Given = {},
  ): Promise<{ access: string; refresh: string }> {
    const { body, text } = await this.redeem(await this.code(client, given), {}, { client })
    if (!body.access_token) throw new Error(`${this.name} returned no tokens: ${text}`)
    return { access: String(body.access_token), refresh: String(body.refresh_token) }
  }

  refresh(refresh_token: string, given: Given = {}, proof: Proof = {}): Promise<HttpResponse> {
    return this.token({ grant_type: 'refresh_token', refresh_token, ...given }, proof)
  }
}

const hiddenIn = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  )

/** Returns a token that no server has issued. */
export const unknown = (): string => randomUUID().replaceAll('-', '').repeat(2).slice(0, 43)

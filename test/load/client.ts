export interface Pair {
  accessToken: string
  refreshToken: string
}

/** The credentials of a user and of a confidential client. */
export interface LoadClientOptions {
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri: string
  readonly email: string
  readonly password: string
}

const expectStatus = (response: Response, status: number): void => {
  if (response.status !== status) throw new Error(`${response.url} returned ${response.status}`)
}

export class LoadClient {
  readonly #options: LoadClientOptions
  #cookie = ''

  constructor(options: LoadClientOptions) {
    this.#options = options
  }

  /** Logs the user in at one server. The session is valid at every server. */
  async logIn(url: string): Promise<void> {
    const page = await fetch(`${url}/login`)
    const cookie = cookieOf(page)
    const token = /name="csrf_token" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
    const { email, password } = this.#options
    const response = await fetch(`${url}/login`, {
      method: 'POST',
      body: new URLSearchParams({ email, password, csrf_token: token }),
      headers: { cookie },
      redirect: 'manual',
    })
    expectStatus(response, 303)
    this.#cookie = cookieOf(response)
  }

  /** Requests a code at the server `from`, where the user has consented before. Redeems the code at the server `at`. */
  async newPair(from: string, at: string): Promise<Pair> {
    const { clientId, redirectUri } = this.#options
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'user:email',
    })
    const response = await fetch(`${from}/oauth/authorize?${query}`, {
      headers: { cookie: this.#cookie },
      redirect: 'manual',
    })
    const code = new URL(response.headers.get('location') ?? '', from).searchParams.get('code')
    if (code === null) throw new Error(`${from} returned ${response.status} without a code`)
    return this.#pair(at, { grant_type: 'authorization_code', code, redirect_uri: redirectUri })
  }

  refresh(at: string, { refreshToken }: Pair): Promise<Pair> {
    return this.#pair(at, { grant_type: 'refresh_token', refresh_token: refreshToken })
  }

  async ownToken(at: string): Promise<void> {
    await this.#token(at, { grant_type: 'client_credentials' })
  }

  /** Sends a request with the access token. Throws unless the status is 200. */
  async use(at: string, { accessToken }: Pair): Promise<void> {
    const response = await fetch(`${at}/oauth/ping`, {
      headers: { authorization: `Bearer ${accessToken}` },
    })
    await response.arrayBuffer()
    expectStatus(response, 200)
  }

  /** Opens a page as the user. @returns the status of the response */
  async open(address: string): Promise<number> {
    const response = await fetch(address, { headers: { cookie: this.#cookie }, redirect: 'manual' })
    await response.arrayBuffer()
    return response.status
  }

  async #pair(at: string, parameters: Record<string, string>): Promise<Pair> {
    const { access_token: accessToken, refresh_token: refreshToken } = await this.#token(
      at,
      parameters,
    )
    return { accessToken: String(accessToken), refreshToken: String(refreshToken) }
  }

  async #token(at: string, parameters: Record<string, string>): Promise<Record<string, unknown>> {
    const { clientId, clientSecret } = this.#options
    const response = await fetch(`${at}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams(parameters),
      headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
    })
    const body = (await response.json()) as Record<string, unknown>
    if (response.status !== 200)
      throw new Error(`${parameters.grant_type} returned ${response.status} ${body.error}`)
    return body
  }
}

const cookieOf = (response: Response): string =>
  response.headers.getSetCookie()[0]?.split(';')[0] ?? ''

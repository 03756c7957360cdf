import {
  authorizePath,
  field,
  type Pair,
  type TestData,
  Visitor,
} from '../support/observed-test-data.ts'
import { seededRandom } from '../support/seeded-random.ts'

/** The server returned 429 because of a limit. This is not a failure, because a client would retry later. */
export class TooMany extends Error {
  override readonly name = 'TooMany'
}

/** Milliseconds for which a worker uses an authorization. This is shorter than the lifetime of the tokens. */
const maxPairAge = 10_000

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'
const accessType = 'urn:ietf:params:oauth:token-type:access_token'

/** Runs the steps of one worker with the session and the clients of the test data. */
export class Worker {
  readonly #furniture: TestData
  readonly #random = seededRandom(Date.now(), Math.floor(Math.random() * 2 ** 31))
  #pair: { readonly tokens: Pair; readonly since: number } | undefined
  /** The number of responses that this worker received. */
  requests = 0

  constructor(furniture: TestData) {
    this.#furniture = furniture
  }

  /** Returns a random step with its name. Each step has the probability that `#mix` defines in percent. */
  next(): readonly [name: string, step: () => Promise<void>] {
    const chosen = this.#random.below(100)
    let rest = chosen
    for (const [name, share, step] of this.#mix) {
      rest -= share
      if (rest < 0) return [name, step]
    }
    throw new RangeError('The shares of the mix do not add up to a hundred.')
  }

  readonly #mix: readonly (readonly [string, number, () => Promise<void>])[] = [
    ['guarded GET', 42, () => this.#guarded()],
    ['introspection', 10, () => this.#introspection()],
    ['refresh', 12, () => this.#refresh()],
    ['client_credentials', 10, () => this.#clientCredentials()],
    ['code, consent remembered', 6, () => this.#code()],
    ['code, consent asked', 4, () => this.#consent()],
    ['token exchange', 5, () => this.#exchange()],
    ['revocation', 5, () => this.#revocation()],
    ['device', 2, () => this.#device()],
    ['personal token', 4, () => this.#personal()],
  ]

  /** Returns a visitor with a random IP address. */
  get #visitor(): Visitor {
    const part = () => this.#random.below(256)
    return new Visitor(this.#furniture.issuer, `10.${part()}.${part()}.${part()}`)
  }

  async #expect(asked: Promise<Response>, ...statuses: readonly number[]): Promise<Response> {
    const response = await asked
    this.requests += 1
    if (statuses.includes(response.status)) return response
    const text = await response.text()
    if (response.status === 429) throw new TooMany(text)
    throw new Error(`${response.url} returned ${response.status}: ${text.slice(0, 300)}`)
  }

  async #json(
    asked: Promise<Response>,
    ...statuses: readonly number[]
  ): Promise<Record<string, string>> {
    return (await this.#expect(asked, ...statuses)).json() as Promise<Record<string, string>>
  }

  get #basic(): Record<string, string> {
    const { id, secret } = this.#furniture.confidential
    return { authorization: `Basic ${btoa(`${id}:${secret}`)}` }
  }

  #token(fields: Record<string, string>, headers = this.#basic): Promise<Record<string, string>> {
    return this.#json(this.#visitor.post('/oauth/token', fields, headers), 200)
  }

  #redeem(
    code: string,
    more: Record<string, string>,
    headers = this.#basic,
  ): Promise<Record<string, string>> {
    const { redirectUri, verifier } = this.#furniture
    const own = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }
    return this.#token({ ...own, ...more }, headers)
  }

  async #code(): Promise<void> {
    const { confidential, session } = this.#furniture
    const path = authorizePath({ client_id: confidential.id })
    const response = await this.#expect(this.#visitor.get(path, { cookie: session.cookie }), 303)
    const body = await this.#redeem(codeIn(response), {})
    const tokens = { access: body.access_token ?? '', refresh: body.refresh_token ?? '' }
    this.#pair = { tokens, since: Date.now() }
  }

  async #consent(): Promise<void> {
    const { publicId, session } = this.#furniture
    const { cookie, csrf: csrf_token } = session
    const path = authorizePath({ client_id: publicId, scope: 'notes:read' })
    const page = await this.#expect(this.#visitor.get(path, { cookie }), 200)
    const authorization_request = field(await page.text(), 'authorization_request')
    const decision = { authorization_request, csrf_token, confirm: 'yes' }
    const response = await this.#expect(
      this.#visitor.post('/oauth/authorize', decision, { cookie }),
      303,
    )
    await this.#redeem(codeIn(response), { client_id: publicId }, {})
  }

  /** Returns a valid pair of tokens. */
  async #tokens(): Promise<Pair> {
    if (!this.#pair || Date.now() - this.#pair.since > maxPairAge) await this.#code()
    return (this.#pair as { tokens: Pair }).tokens
  }

  async #guarded(): Promise<void> {
    const { personal, session } = this.#furniture
    const { access } = await this.#tokens()
    const headers = this.#random.pick([
      { authorization: `Bearer ${access}` },
      { authorization: `Bearer ${access}` },
      { authorization: `Bearer ${personal[0]}` },
      { authorization: `Bearer ${session.jwt}`, cookie: session.cookie },
    ] as Record<string, string>[])
    const path = this.#random.pick(['/api/notes', '/api/me', '/oauth/ping'])
    const kind = headers.cookie && path === '/oauth/ping' ? '/api/me' : path
    await this.#json(this.#visitor.get(kind, headers), 200)
  }

  async #introspection(): Promise<void> {
    const { access } = await this.#tokens()
    const { active } = await this.#json(
      this.#visitor.post('/oauth/introspect', { token: access }, this.#basic),
      200,
    )
    if (!active) throw new Error('Introspection reported a valid token as inactive.')
  }

  async #refresh(): Promise<void> {
    const { refresh } = await this.#tokens()
    const body = await this.#token({ grant_type: 'refresh_token', refresh_token: refresh })
    const tokens = { access: body.access_token ?? '', refresh: body.refresh_token ?? '' }
    // A refresh does not change `since`, so that the worker replaces the authorization after `maxPairAge`.
    this.#pair = { tokens, since: this.#pair?.since ?? Date.now() }
  }

  async #clientCredentials(): Promise<void> {
    await this.#token({ grant_type: 'client_credentials', scope: 'notes:read' })
  }

  async #exchange(): Promise<void> {
    const { access } = await this.#tokens()
    await this.#token({
      grant_type: exchangeGrant,
      subject_token: access,
      subject_token_type: accessType,
      scope: 'notes:read',
    })
  }

  async #revocation(): Promise<void> {
    const { access, refresh } = await this.#tokens()
    this.#pair = undefined
    const token = this.#random.pick([access, refresh])
    await this.#expect(this.#visitor.post('/oauth/revoke', { token }, this.#basic), 200)
    await this.#expect(this.#visitor.get('/oauth/ping', { authorization: `Bearer ${access}` }), 401)
  }

  async #device(): Promise<void> {
    const { publicId: client_id, session } = this.#furniture
    const { cookie, csrf: csrf_token } = session
    const asked = { client_id, scope: 'notes:read' }
    const codes = await this.#json(this.#visitor.post('/oauth/device_authorization', asked), 200)
    const visitor = this.#visitor
    const typed = { user_code: codes.user_code ?? '', csrf_token }
    const page = await this.#expect(visitor.post('/oauth/device', typed, { cookie }), 200)
    const device_confirmation = field(await page.text(), 'device_confirmation')
    const decision = { device_confirmation, csrf_token, confirm: 'yes' }
    const response = await this.#expect(
      visitor.post('/oauth/device', decision, { cookie }),
      200,
      303,
    )
    await response.text()
    await this.#token(
      { grant_type: deviceGrant, device_code: codes.device_code ?? '', client_id },
      {},
    )
  }

  async #personal(): Promise<void> {
    const { cookie, jwt } = this.#furniture.session
    const headers = { cookie, authorization: `Bearer ${jwt}`, accept: 'application/json' }
    const folder = '/account/settings/applications/tokens'
    const fields = { name: 'Soak', scopes: 'notes:read' }
    const made = await this.#json(this.#visitor.post(`${folder}/new/`, fields, headers), 201)
    await this.#json(
      this.#visitor.get('/api/notes', { authorization: `Bearer ${made.access_token}` }),
      200,
    )
    const gone = await this.#expect(
      this.#visitor.post(`${folder}/${made.id}/`, { delete: 'yes' }, headers),
      200,
      204,
    )
    await gone.text()
  }
}

const codeIn = (response: Response): string => {
  const code = new URL(response.headers.get('location') ?? '', response.url).searchParams.get(
    'code',
  )
  if (code === null) throw new Error(`${response.url} returned no code.`)
  return code
}

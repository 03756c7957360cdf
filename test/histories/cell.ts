import { setTimeout as delay } from 'node:timers/promises'
import { call, each, type Outcome } from '../support/load.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import { authorizeUrl, formIn, newPkce } from '../support/user-agent.ts'
import type { Cluster } from './cluster.ts'
import type { Answer, Operation } from './history.ts'
import type { Given } from './node.ts'

// A cell is one user with a browser and one client, which nobody else uses. Its operations form one history.

const redirectUri = 'https://client.example.org/callback'

/** The number of concurrent workers of a cell. */
const workers = 4

/**
 * A cell ends after this number of operations without a response. Each of them may take effect at any later time, so the
 * checker has to try many orders.
 */
const maxUnknown = 8

/** A value that a response contained, with its label in the history. */
interface Known {
  readonly label: string
  readonly value: string
  /** The authorization: the label of its code. */
  readonly of: string
}

export interface CellHistory {
  readonly operations: readonly Operation[]
  /** Responses that no request may get. */
  readonly unexpected: readonly string[]
}

/** The part of an operation that its response decides. */
type Facts = Partial<Pick<Operation, 'of' | 'access' | 'refresh' | 'newSecret' | 'session'>>

export interface CellOptions {
  /** The name of the cell, which no other cell of the database has. */
  readonly name: string
  /** The number of operations of each worker. */
  readonly length: number
  /** The probability in percent of a pause in the middle, in which the leeway of refresh tokens ends. */
  readonly rests: number
  /** Ends the cell early. */
  readonly signal: AbortSignal
}

/** Runs random operations of one cell. */
export const runCell = async (
  cluster: Cluster,
  random: SeededRandom,
  { name, length, rests, signal }: CellOptions,
): Promise<CellHistory> => {
  const cell = new Cell(cluster, random)
  await cell.start(name)
  const rest = random.chance(rests) ? cluster.rules.leeway * 1_300 : 0
  await Promise.all(Array.from({ length: workers }, () => cell.work(length, rest, signal)))
  if (!signal.aborted) await cell.checkAll()
  return cell
}

class Cell implements CellHistory {
  readonly operations: Operation[] = []
  readonly unexpected: string[] = []
  readonly #cluster: Cluster
  readonly #random: SeededRandom
  readonly #labels = new Map<string, string>()
  readonly #pkce = newPkce()
  #user = 0
  #client = ''
  #unknown = 0
  #secrets: Known[] = []
  #sessions: Known[] = []
  /** Consent pages that are not yet decided, with the session of each page. */
  #pages: { readonly session: Known; readonly html: string }[] = []
  #codes: Known[] = []
  readonly #presented = new Set<Known>()
  #accessTokens: Known[] = []
  #refreshTokens: Known[] = []

  constructor(cluster: Cluster, random: SeededRandom) {
    this.#cluster = cluster
    this.#random = random
  }

  /** Creates the user and the client, and logs the user in. */
  async start(name: string): Promise<void> {
    const owner = await this.#create({ do: 'create user', name: `owner-${name}` })
    const user = await this.#create({ do: 'create user', name: `user-${name}` })
    const client = await this.#create({ do: 'create client', user: Number(owner.id) })
    this.#user = Number(user.id)
    this.#client = String(client.id)
    this.#secrets = [{ label: 'S0', value: String(client.secret), of: '' }]
    await this.#until(() => this.#signIn())
    await this.#until(() => this.#operate('grant'))
  }

  // A creation whose response is lost is repeated with another name.
  async #create(given: Partial<Given>): Promise<Outcome['body']> {
    for (let tries = 0; tries < 100; tries += 1) {
      const name = `${given.name ?? ''}-${tries}`
      const { status, body } = await this.#post({ ...given, name })
      if (status === 200) return body
      if (typeof status === 'number' && status !== 503) throw new Error(JSON.stringify(body))
      await delay(100)
    }
    throw new Error(`${given.do} got no response.`)
  }

  async work(length: number, rest: number, signal: AbortSignal): Promise<void> {
    for (let turn = 0; turn < length && this.#unknown < maxUnknown; turn += 1) {
      if (signal.aborted) return
      if (turn === Math.floor(length / 2)) await delay(rest)
      const answer = await this.#act()
      if (answer === 'unknown') await this.#recovered()
      else await delay(this.#random.below(15))
    }
  }

  /** Checks every token at the end, so that a lost revocation is noticed. */
  async checkAll(): Promise<void> {
    const check = async (token: Known) => void (await this.#until(() => this.#check(token)))
    const introspect = async (token: Known) =>
      void (await this.#until(() => this.#introspect(token)))
    await Promise.all([
      each(this.#accessTokens.slice(-20), 2, check),
      each(this.#refreshTokens.slice(-20), 2, introspect),
    ])
  }

  /** Repeats an operation until it gets a response. */
  async #until(act: () => Promise<Answer | undefined>): Promise<Answer | undefined> {
    for (let tries = 0; tries < 50; tries += 1) {
      const answer = await act()
      if (answer !== 'unknown' && answer !== undefined) return answer
      await this.#recovered()
    }
    return 'unknown'
  }

  /** Waits until a node is ready, because further operations would probably also get no response. */
  async #recovered(): Promise<void> {
    for (let tries = 0; tries < 100; tries += 1) {
      await delay(50 + this.#random.below(100))
      const { url } = this.#cluster.pick(this.#random)
      const { status } = await call({ url: `${url}/health/ready` })
      if (status === 200) return
    }
  }

  #act(): Promise<Answer | undefined> {
    const random = this.#random
    const acts: (readonly [number, () => Promise<Answer | undefined>])[] = [
      [14, () => this.#authorize()],
      [6, () => this.#approve()],
      [16, () => this.#redeem()],
      [20, () => this.#refresh()],
      [16, () => this.#check(this.#recent(this.#accessTokens))],
      [10, () => this.#introspect(this.#recent(this.#anyTokens()))],
      [3, () => this.#revoke(this.#recent(this.#anyTokens()))],
      [3, () => this.#signIn()],
      [2, () => this.#interlude(() => this.#signOut(), 'sign in')],
      [3, () => this.#interlude(() => this.#operate('withdraw'), 'grant')],
      [3, () => this.#interlude(() => this.#operate('deactivate'), 'activate')],
      [2, () => this.#interlude(() => this.#operate('disable'), 'enable')],
      [2, () => this.#operate('grant')],
      // After a lost response, the client needs another secret.
      [2, () => this.#until(() => this.#reset())],
    ]
    let point = random.below(acts.reduce((sum, [weight]) => sum + weight, 0))
    for (const [weight, act] of acts) {
      point -= weight
      if (point < 0) return act()
    }
    throw new Error('The weights are wrong.')
  }

  /** Runs an operation that withdraws a permission, then some requests that need it, and then permits them again. */
  async #interlude(
    first: () => Promise<Answer | undefined>,
    then: 'sign in' | 'grant' | 'activate' | 'enable',
  ): Promise<Answer | undefined> {
    const answer = await first()
    for (let turn = 0; turn < 3; turn += 1) {
      const needing = [
        () => this.#check(this.#recent(this.#accessTokens)),
        () => this.#redeem(),
        () => this.#refresh(),
      ]
      await this.#random.pick(needing)()
    }
    await this.#until(() => (then === 'sign in' ? this.#signIn() : this.#operate(then)))
    return answer
  }

  /** Mostly the latest value, sometimes the value before, seldom an older value. */
  #recent(values: readonly Known[]): Known | undefined {
    if (values.length === 0) return undefined
    const point = this.#random.below(100)
    return this.#random.pick(values.slice(point < 65 ? -1 : point < 94 ? -2 : -10))
  }

  #anyTokens(): readonly Known[] {
    return this.#random.chance(50) ? this.#accessTokens : this.#refreshTokens
  }

  // The current secret, sometimes a former secret.
  #secret(): Known {
    const known = this.#random.chance(95) ? this.#secrets.slice(-1) : this.#secrets
    return this.#random.pick(known)
  }

  async #authorize(): Promise<Answer | undefined> {
    const session = this.#recent(this.#sessions)
    if (!session) return undefined
    const node = this.#cluster.pick(this.#random)
    const url = authorizeUrl(node.url, {
      client_id: this.#client,
      redirect_uri: redirectUri,
      scope: 'notes:read',
      code_challenge: this.#pkce.challenge,
      code_challenge_method: 'S256',
    })
    const outcome = await call({ url, headers: headersWith(session) })
    return this.#decided(
      { do: 'authorize', session: session.label, node: node.number },
      outcome,
      session,
    )
  }

  /** Records the response of the authorization endpoint: a redirect with a code, a consent page, or a refusal. */
  #decided(
    asked: Pick<Operation, 'do' | 'session' | 'node'>,
    outcome: Outcome,
    session: Known,
  ): Answer | undefined {
    const { location } = outcome.headers
    const target =
      typeof location === 'string' && URL.canParse(location) ? new URL(location) : undefined
    const code = target?.searchParams.get('code')
    if (code) {
      const label = this.#label('C', code)
      const answer = this.#add(asked, outcome, () => ({ of: label }))
      this.#codes.push({ label, value: code, of: label })
      return answer
    }
    const error = target?.searchParams.get('error')
    if (error === 'temporarily_unavailable') return this.#add(asked, { ...outcome, status: 503 })
    if (outcome.status === 200) this.#pages.push({ session, html: outcome.text ?? '' })
    const why = error ?? `${outcome.status} ${location ?? ''}`.trim()
    const isAnswered = typeof outcome.status === 'number' && outcome.status < 500
    return this.#add(asked, isAnswered ? { ...outcome, status: 409, error: why } : outcome)
  }

  async #approve(): Promise<Answer | undefined> {
    const page = this.#pages.pop()
    if (!page) return undefined
    const { session, html } = page
    const node = this.#cluster.pick(this.#random)
    const { action, hidden } = formIn(html)
    const url = new URL(action, `${node.url}/oauth/authorize`).href
    const fields = { ...hidden, confirm: 'yes' }
    const outcome = await call({ url, fields, headers: headersWith(session) })
    return this.#decided(
      { do: 'approve', session: session.label, node: node.number },
      outcome,
      session,
    )
  }

  // Presents some codes again, or twice at the same time.
  async #redeem(): Promise<Answer | undefined> {
    const code = this.#codes.at(-1)
    if (!code || (this.#presented.has(code) && this.#random.chance(60))) return this.#authorize()
    this.#presented.add(code)
    const present = () =>
      this.#token('redeem', code, {
        grant_type: 'authorization_code',
        code: code.value,
        redirect_uri: redirectUri,
        code_verifier: this.#pkce.verifier,
      })
    const [answer] = await Promise.all([present(), ...(this.#random.chance(20) ? [present()] : [])])
    return answer
  }

  async #refresh(): Promise<Answer | undefined> {
    const token = this.#recent(this.#refreshTokens)
    if (!token) return undefined
    const fields = { grant_type: 'refresh_token', refresh_token: token.value }
    return this.#token('refresh', token, fields)
  }

  async #token(
    name: string,
    { label, of }: Known,
    fields: Readonly<Record<string, string>>,
  ): Promise<Answer | undefined> {
    return this.#asClient({ do: name, of, token: label }, 'token', fields, ({ body }) => {
      const access = this.#label('A', String(body.access_token))
      const refresh = this.#label('R', String(body.refresh_token))
      const remember = (tokens: Known[], token: string, value: unknown) => {
        if (!tokens.some((known) => known.label === token))
          tokens.push({ label: token, value: String(value), of })
      }
      remember(this.#accessTokens, access, body.access_token)
      remember(this.#refreshTokens, refresh, body.refresh_token)
      return { access, refresh }
    })
  }

  async #introspect(token: Known | undefined): Promise<Answer | undefined> {
    if (!token) return undefined
    const { label, of, value } = token
    return this.#asClient({ do: 'introspect', of, token: label }, 'introspect', { token: value })
  }

  async #revoke(token: Known | undefined): Promise<Answer | undefined> {
    if (!token) return undefined
    const { label, of, value } = token
    return this.#asClient({ do: 'revoke', of, token: label }, 'revoke', { token: value })
  }

  /** Sends a request in which the client authenticates itself. */
  async #asClient(
    asked: Pick<Operation, 'do' | 'of' | 'token'>,
    endpoint: string,
    fields: Readonly<Record<string, string>>,
    read: (outcome: Outcome) => Facts = () => ({}),
  ): Promise<Answer | undefined> {
    const secret = this.#secret()
    const node = this.#cluster.pick(this.#random)
    const credentials = Buffer.from(`${this.#client}:${secret.value}`).toString('base64')
    const url = `${node.url}/oauth/${endpoint}`
    const headers = { authorization: `Basic ${credentials}` }
    const outcome = await call({ url, headers, fields })
    // An inactive token is a refusal, like the response to a request with this token.
    const isInactive = endpoint === 'introspect' && outcome.body.active === false
    const seen = isInactive ? { ...outcome, status: 409 } : outcome
    return this.#add({ ...asked, secret: secret.label, node: node.number }, seen, read)
  }

  async #check(token: Known | undefined): Promise<Answer | undefined> {
    if (!token) return undefined
    const node = this.#cluster.pick(this.#random)
    const headers = { authorization: `Bearer ${token.value}` }
    const outcome = await call({ url: `${node.url}/oauth/ping`, headers })
    const asked = { do: 'check', of: token.of, token: token.label, node: node.number }
    return this.#add(asked, outcome.status === 401 ? { ...outcome, status: 409 } : outcome)
  }

  async #signIn(): Promise<Answer | undefined> {
    return this.#operate('sign in', {}, ({ body }) => {
      const value = String(body.cookie)
      const session = this.#label('B', value)
      this.#sessions.push({ label: session, value, of: '' })
      return { session }
    })
  }

  async #signOut(): Promise<Answer | undefined> {
    const session = this.#recent(this.#sessions)
    if (!session) return undefined
    // Later requests mostly use other sessions.
    if (this.#random.chance(80)) this.#sessions = this.#sessions.filter((one) => one !== session)
    return this.#operate('sign out', { cookie: session.value }, () => ({}), session.label)
  }

  async #reset(): Promise<Answer | undefined> {
    return this.#operate('reset', {}, ({ body }) => {
      const value = String(body.secret)
      const newSecret = this.#label('S', value)
      this.#secrets.push({ label: newSecret, value, of: '' })
      return { newSecret }
    })
  }

  async #operate(
    name: Given['do'],
    given: Partial<Given> = {},
    read: (outcome: Outcome) => Facts = () => ({}),
    session?: string,
  ): Promise<Answer | undefined> {
    let number = 0
    const ids = { user: this.#user, client: this.#client }
    const outcome = await this.#post({ ...ids, ...given, do: name }, (at) => {
      number = at
    })
    const asked = { do: name, node: number, ...(session !== undefined && { session }) }
    return this.#add(asked, outcome, read)
  }

  #post(given: Partial<Given>, sentTo: (number: number) => void = () => {}): Promise<Outcome> {
    const { url, number } = this.#cluster.pick(this.#random)
    sentTo(number)
    const fields = Object.fromEntries(Object.entries(given).map(([key, one]) => [key, String(one)]))
    return call({ url: `${url}/operate`, fields })
  }

  /** Adds an operation to the history. Returns undefined if the request was not sent. */
  #add(
    asked: Pick<Operation, 'do' | 'of' | 'token' | 'session' | 'secret' | 'node'>,
    outcome: Outcome,
    read: (outcome: Outcome) => Facts = () => ({}),
  ): Answer | undefined {
    const answer = answerOf(outcome)
    if (answer === undefined) return undefined
    if (answer === 'unexpected')
      this.unexpected.push(`${asked.do}: ${outcome.status} ${JSON.stringify(outcome.body)}`)
    if (answer === 'unknown' || answer === 'unexpected') {
      // A lost response matters only if the request may have changed something.
      if (reading.has(asked.do)) return 'unknown'
      this.#unknown += 1
    }
    const { began, ended } = outcome
    const times = { call: Math.floor(began * 1_000), return: Math.ceil(ended * 1_000) }
    const known = answer === 'unexpected' ? 'unknown' : answer
    const why = known !== 'ok' && outcome.error !== undefined && { why: outcome.error }
    this.operations.push({
      ...asked,
      ...times,
      answer: known,
      ...(known === 'ok' && read(outcome)),
      ...why,
    })
    return known
  }

  /** Returns the label of a value, such as `A1` for an access token. */
  #label(kind: string, value: string): string {
    const known = this.#labels.get(value)
    if (known !== undefined) return known
    const label = `${kind}${this.#labels.size + 1}`
    this.#labels.set(value, label)
    return label
  }
}

/** The operations whose lost response changes nothing that anybody can see. */
const reading = new Set(['authorize', 'check', 'introspect', 'sign in'])

const headersWith = ({ value }: Known) => ({ cookie: value, 'user-agent': 'histories' })

/** Undefined for a request that was not sent; `unexpected` for a response that no request may get. */
const answerOf = ({ status, cause }: Outcome): Answer | 'unexpected' | undefined => {
  const isRefused = (cause as { readonly code?: string } | undefined)?.code === 'ECONNREFUSED'
  if (status === 'cut') return isRefused ? undefined : 'unknown'
  if (status === 'hang' || status === 503) return 'unknown'
  if (status === 200 || status === 303) return 'ok'
  if (status === 400 || status === 409) return 'refused'
  return status === 401 ? 'unauthenticated' : 'unexpected'
}

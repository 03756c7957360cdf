import { randomString, systemRandom } from '../crypto/random.ts'
import { accepted, listOf, oneOf, onlyMembers, text, userId } from '../model/members.ts'
import type { User, UserId } from '../model/user.ts'
import { sqlite } from '../store/sqlite.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import { createAuthorizationServer } from './create-authorization-server.ts'
import type { AuthorizationServerOptions } from './options.ts'

/** A clock that does not move until the test advances it. */
export interface TestClock {
  /** Returns milliseconds since the epoch. Pass this function as the option `clock`. */
  readonly now: () => number
  /** Moves the clock forward. */
  advance(seconds: number): void
}

/** Creates a test clock. @param start milliseconds since the epoch */
export const testClock = (start: number): TestClock => {
  let now = start
  return {
    now: () => now,
    advance: (seconds) => {
      now += seconds * 1000
    },
  }
}

/** Creates an authorization server that stores everything in memory, for tests of an application. */
export const createTestServer = (
  options: Partial<AuthorizationServerOptions> = {},
): Promise<AuthorizationServer> =>
  createAuthorizationServer({
    issuer: 'http://localhost',
    secretKeys: ['a secret key for tests, and for tests alone'],
    store: sqlite(':memory:'),
    sweepInterval: 0,
    log: () => undefined,
    ...options,
  })

/** Sends requests as a user, with a credential. */
export interface Actor {
  readonly user: { readonly id: UserId }
  /** The headers with the credential, for supertest, Fastify's `inject` or Hono's `request`. */
  readonly headers: Readonly<Record<string, string>>
  /** Calls the global `fetch` with the headers of the actor. */
  readonly fetch: typeof fetch
}

/** The options of `actAs`. */
export interface ActAs {
  /** An existing user or the ID of the user. The default is a new user in the built-in table. */
  readonly user?: UserId | Pick<User, 'id'>
  /** The scopes of the token. Ignored for a session, which has no scopes. */
  readonly scopes?: readonly string[]
  /**
   * The credential: a personal token (default), an access token that the user granted to a new client, or a session with
   * its JWT.
   */
  readonly as?: 'personal_token' | 'client' | 'session'
  /**
   * The IP address from which a session is used. The server refuses the session from another network. Default:
   * `127.0.0.1`. Requests of Hono's `app.request()` have no IP address: pass an empty string.
   */
  readonly address?: string
}

const checkOptions = onlyMembers<ActAs>('actAs()', {
  user: accepted(
    'a user or the ID of a user',
    (value) => userId.fits(value) || (typeof value === 'object' && value !== null && 'id' in value),
  ),
  scopes: listOf(text),
  as: oneOf('personal_token', 'client', 'session'),
  address: text,
})

/** Creates a credential for a user, and returns an actor that uses it. */
export const actAs = async (server: AuthorizationServer, options: ActAs = {}): Promise<Actor> => {
  checkOptions(options)
  const { user, scopes = [], as = 'personal_token', address = '127.0.0.1' } = options
  const id = user === undefined ? await newUser(server) : typeof user === 'object' ? user.id : user
  const headers =
    as === 'session'
      ? await sessionHeaders(server, id, address)
      : { authorization: `Bearer ${await newToken(server, id, scopes, as)}` }
  return {
    user: { id },
    headers,
    fetch: (input, init) => {
      const request = new Request(input, init)
      for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
      return fetch(request)
    },
  }
}

const newToken = async (
  server: AuthorizationServer,
  id: UserId,
  scopes: readonly string[],
  as: 'personal_token' | 'client',
): Promise<string> => {
  if (as === 'personal_token')
    return (await server.tokens.createPersonal('Test', id, { scopes })).accessToken
  const { client } = await server.clients.create({ name: 'Test', userId: id })
  const subject = await server.users.find(id)
  if (!subject) throw new TypeError(`There is no user ${id}.`)
  const granted = server.scopes.validated(scopes)
  const redemption = { client, subject, scopes: granted, refreshable: false } as const
  return (await server.tokens.issue({ type: 'user', ...redemption })).accessToken
}

const userAgent = 'svc-oauth2server/testing'

const sessionHeaders = async (
  { sessions, settings, pageSession }: AuthorizationServer,
  id: UserId,
  address: string,
): Promise<Readonly<Record<string, string>>> => {
  const browser = { cookie: null, address, userAgent }
  const [cookie = ''] = (await sessions.signIn(id, browser)).split(';')
  const jwt = (await pageSession({ ...browser, cookie })).jwtToken()
  const { jwtAuthHeader, jwtAuthHeaderType } = settings
  return {
    cookie,
    'user-agent': userAgent,
    [jwtAuthHeader.toLowerCase()]: jwtAuthHeaderType === null ? jwt : `${jwtAuthHeaderType} ${jwt}`,
  }
}

const newUser = async (server: AuthorizationServer): Promise<UserId> => {
  const email = `test-${randomString(22, systemRandom).toLowerCase()}@example.org`
  const { id } = await server.users.create({ email, password: null })
  return id
}

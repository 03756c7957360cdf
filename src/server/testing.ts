import { randomString, systemRandom } from '../crypto/random.ts'
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

/** Sends requests as a user, with a personal access token. */
export interface Actor {
  readonly user: { readonly id: UserId }
  /** The headers with the personal access token, for supertest, Fastify's `inject` or Hono's `request`. */
  readonly headers: { readonly authorization: string }
  /** Sends a request with the personal access token. */
  readonly fetch: typeof fetch
}

/** The options of `actAs`. */
export interface ActAs {
  /** An existing user or the ID of the user. The default is a new user in the built-in table. */
  readonly user?: UserId | Pick<User, 'id'>
  readonly scopes?: readonly string[]
}

/** Creates a personal token for a user, and returns an actor that uses it. */
export const actAs = async (
  server: AuthorizationServer,
  { user, scopes = [] }: ActAs = {},
): Promise<Actor> => {
  const id = user === undefined ? await newUser(server) : typeof user === 'object' ? user.id : user
  const { accessToken } = await server.tokens.createPersonal('Test', id, { scopes })
  const headers = { authorization: `Bearer ${accessToken}` }
  return {
    user: { id },
    headers,
    fetch: (input, init) => {
      const request = new Request(input, init)
      request.headers.set('authorization', headers.authorization)
      return fetch(request)
    },
  }
}

const newUser = async (server: AuthorizationServer): Promise<UserId> => {
  const email = `test-${randomString(22, systemRandom).toLowerCase()}@example.org`
  const { id } = await server.users.create({ email, password: null })
  return id
}

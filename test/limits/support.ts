import { startServer, type TestOptions, type TestServer } from '../support/server.ts'
import { browser } from '../support/session.ts'
import { UserAgent } from '../support/user-agent.ts'

/** Settings with which the header `X-Forwarded-For` sets the IP address of a request. */
export const behindProxy = { trustedProxies: ['127.0.0.1'] } as const

export const from = (address: string) => ({ 'x-forwarded-for': address })
export const [here, elsewhere] = ['192.0.2.1', '198.51.100.2'] as const

/** Starts one node, also in the vitest project `nodes`, which uses PostgreSQL and Redis. */
export const start = (options: TestOptions = {}): Promise<TestServer> =>
  startServer({ ...behindProxy, aroundStore: (_operation, run) => run(), ...options })

/** Creates a function that opens the login page, and returns a function that sends a password in this page. */
export const loginForm = (app: TestServer, address: string) => {
  const agent = new UserAgent({ 'user-agent': browser, ...from(address) })
  return async (password: string, email = app.user.email): Promise<() => Promise<Response>> => {
    const page = await agent.browse(`${app.issuer}/login?prompt=login`)
    return () => agent.submit(page, { email, password })
  }
}

/** Creates a function that tries a password at the login page. */
export const guesser = (app: TestServer, address: string) => {
  const open = loginForm(app, address)
  return async (password: string, email = app.user.email): Promise<Response> =>
    (await open(password, email))()
}

/** Returns the log entries about reached limits. */
export const reached = ({ log }: TestServer): readonly unknown[] =>
  log
    .filter(({ event }) => event === 'limit.reached')
    .map(({ limit, address }) => [limit, address ?? null])

/** Returns the `Retry-After` seconds of a 429. */
export const waitOf = ({ headers }: { readonly headers: Headers }): number =>
  Number(headers.get('retry-after') ?? Number.NaN)

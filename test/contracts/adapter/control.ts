import {
  type AuthorizationServer,
  type Extension,
  Scope,
  type SettingsInput,
  StoreUnavailable,
} from 'svc-oauth2server'
import { createTestServer, type TestClock, testClock } from 'svc-oauth2server/testing'
import { type Control, type Place, password, redirectUri, secretKey } from './harness.ts'

// This file imports the server only from the public package, because it also runs in a folder where only the package
// is installed.

/** An endpoint that responds with two cookies, which an adapter must not join. */
const twoCookies: Extension = {
  name: 'two-cookies',
  endpoints: [
    {
      path: ({ oauthPrefix }) => `${oauthPrefix}/two-cookies`,
      methods: ['GET'],
      errors: 'json',
      async handle() {
        const response = Response.json({})
        response.headers.append('set-cookie', 'a=1; Path=/, x')
        response.headers.append('set-cookie', 'b=2; Path=/')
        return response
      },
    },
  ],
}

/** The server options that a run of the suite may set. */
export type ServerSettings = SettingsInput & { readonly issuer: string }

export interface Controlled {
  readonly server: AuthorizationServer
  readonly control: Control
  readonly place: Place
}

/** Creates a server in memory for one run of the suite. */
export const controlled = async (options: ServerSettings): Promise<Controlled> => {
  const clock = testClock(Date.UTC(2026, 10, 21))
  const events: string[] = []
  const store = { isBroken: false }
  const server = await createTestServer({
    tokenQuota: 1_000_000,
    secretKeys: [secretKey],
    scopes: [
      new Scope('notes:read'),
      new Scope('notes:write'),
      new Scope('test:scope', { internal: true }),
    ],
    extensions: [twoCookies],
    // The suite advances the clock, but the sessions must remain valid.
    sessionIdleExpiresIn: 1_000_000,
    clock: clock.now,
    log: ({ event }) => events.push(event),
    aroundStore: async (_operation, run) => {
      if (store.isBroken) throw new StoreUnavailable('The store is unavailable.')
      return run()
    },
    ...options,
  })
  const { issuer, settings } = server
  const { oauthPrefix, loginPath, logoutPath, trustedProxies } = settings
  const isProxied = trustedProxies.length > 0
  const place = { issuer, oauthPrefix, loginPath, logoutPath, isProxied }
  return { server, control: controlOf(server, clock, store, events), place }
}

const controlOf = (
  server: AuthorizationServer,
  clock: TestClock,
  store: { isBroken: boolean },
  events: readonly string[],
): Control => ({
  createUser: async (email) => (await server.users.create({ email, password })).id,
  async setActive(user, active) {
    await server.users.setActive(user, active)
  },
  async personalToken(user, options) {
    return (await server.tokens.createPersonal('Test', user, options)).accessToken
  },
  async createClient(owner) {
    const { client, clientSecret } = await server.clients.create({
      name: 'Client',
      userId: owner,
      redirectUris: [redirectUri],
      defaultScopes: ['notes:read'],
    })
    return { clientId: client.clientId, clientSecret }
  },
  async accessToken(user, clientId, scopes) {
    const [client, subject] = [await server.clients.find(clientId), await server.users.find(user)]
    if (!client || !subject) throw new Error('There is no such client or user.')
    const issued = await server.tokens.issue({
      type: 'user',
      client,
      subject,
      scopes,
      refreshable: true,
    })
    return issued.accessToken
  },
  async revoke(accessToken) {
    const found = await server.getToken({ accessToken })
    if (found) await server.tokens.revoke(found.token)
  },
  async advance(seconds) {
    clock.advance(seconds)
    return clock.now()
  },
  async breakStore(isBroken) {
    store.isBroken = isBroken
  },
  events: async () => events,
})

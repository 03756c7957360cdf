import pLimit from 'p-limit'
import { type AuthorizationServer, createAuthorizationServer } from '../../../src/index.ts'
import { fromEnvironment } from '../../../src/server/environment/environment.ts'
import type { Variables } from '../servers.ts'
import type { InnocentOptions } from './caller.ts'
import { type LoadDatabase, openDatabase, type StoreName } from './database.ts'
import { type HostProcess, startHost } from './host-process.ts'
import { type RemoteHosts, redirectUri, remoteHosts } from './remote-hosts.ts'

const password = 'correct horse battery staple'
const scopes = ['user:email']

/** A database with its servers, and the data of the well-behaved caller and of the abuser. */
export interface Site extends AsyncDisposable {
  readonly database: LoadDatabase
  /** The servers, which use the same database. */
  readonly hosts: readonly HostProcess[]
  /** The server that the abuser uses. */
  readonly host: HostProcess
  readonly remote: RemoteHosts
  readonly innocents: Pick<InnocentOptions, 'clients' | 'users' | 'pairs'>
  /** The fraction of the usual number of rows that an abuse creates. */
  readonly scale: number
  /** Creates a user with a client, a token of the client, and a token pair. */
  abuser(): Promise<Abuser>
}

export interface Abuser {
  readonly userId: number
  readonly email: string
  readonly password: string
  readonly clientId: string
  readonly clientSecret: string
  readonly access: string
  readonly refresh: string
}

export interface SiteOptions {
  readonly store: StoreName
  readonly nodes?: number
  readonly scale?: number
  /** Additional settings. */
  readonly env?: Variables
}

const environment = (database: LoadDatabase, env: Variables): Variables => ({
  DATABASE_URL: database.url,
  BASE_URL: 'http://localhost:3000',
  SECRET_KEY: 'the secret key of the measurement of neighbours',
  // Accept the many IP addresses of the abuser in X-Forwarded-For.
  TRUSTED_PROXIES: '127.0.0.1',
  // Set the values that cause no start-up warnings.
  OAUTH2SERVER_ALLOWED_RESPONSE_TYPES: 'code',
  OAUTH2SERVER_ACCEPT_QUERY_ACCESS_TOKEN: 'false',
  ...env,
})

const users = 10
const clients = 8
const pairs = 240

/** The concurrency of the set-up. Higher concurrency could cause connection timeouts on a busy machine. */
const limit = pLimit(4)

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)

/** Creates a client of the user, and a token pair of the user and the client. */
const pairOf = async (
  server: AuthorizationServer,
  client: Awaited<ReturnType<AuthorizationServer['clients']['create']>>['client'],
  subject: Awaited<ReturnType<AuthorizationServer['users']['create']>>,
) => {
  const issued = await server.tokens.issue({
    type: 'user',
    client,
    subject,
    scopes,
    refreshable: true,
  })
  return { access: issued.accessToken, refresh: issued.refreshToken ?? '' }
}

const registered = (server: AuthorizationServer, userId: number, name: string) =>
  server.clients.create({
    name,
    userId,
    redirectUris: [redirectUri],
    defaultScopes: scopes,
    allowedScopes: scopes,
  })

const createInnocents = async (server: AuthorizationServer): Promise<Site['innocents']> => {
  const made = await Promise.all(
    range(users).map((number) =>
      limit(() => server.users.create({ email: `innocent-${number}@example.org`, password })),
    ),
  )
  const userAt = (number: number) => made[number % made.length] as (typeof made)[number]
  const theirs = await Promise.all(
    range(clients).map((number) =>
      registered(server, Number(userAt(number).id), `Innocent ${number}`),
    ),
  )
  const clientAt = (number: number) => theirs[number % clients] as (typeof theirs)[number]
  return {
    users: made.map(({ email }) => ({ email, password })),
    clients: theirs.map(({ client, clientSecret }) => ({
      clientId: client.clientId,
      clientSecret,
    })),
    pairs: await Promise.all(
      range(pairs).map((number) =>
        limit(async () => ({
          ...(await pairOf(server, clientAt(number).client, userAt(number))),
          client: number % clients,
        })),
      ),
    ),
  }
}

export const startNeighbours = async ({
  store,
  nodes = 1,
  scale = 1,
  env: settings = {},
}: SiteOptions): Promise<Site> => {
  await using opened = new AsyncDisposableStack()
  const database = await openDatabase(store)
  opened.defer(() => database.remove())
  const env = environment(database, settings)
  // This process inserts rows as application code does, but runs no timers, which could disturb the measurement.
  const { options } = await fromEnvironment(env)
  const server = await createAuthorizationServer({ ...options, sweepInterval: 0, log: () => {} })
  opened.defer(() => server.close())
  const innocents = await createInnocents(server)
  // All nodes start with a small database, so they use the plans that PostgreSQL makes for a small database.
  const hosts: HostProcess[] = []
  for (let node = 0; node < nodes; node += 1) {
    const started = await startHost(env)
    opened.defer(() => started.stop())
    hosts.push(started)
  }
  const [host] = hosts
  if (!host) throw new Error('A site needs a node.')
  const remote = await remoteHosts()
  opened.defer(() => remote.close())
  const all = opened.move()
  let abusers = 0
  return {
    database,
    hosts,
    host,
    remote,
    innocents,
    scale,
    async abuser() {
      abusers += 1
      const email = `abuser-${abusers}@example.org`
      const user = await server.users.create({ email, password })
      await server.users.setAdmin(user.id, true)
      const userId = Number(user.id)
      const { client, clientSecret } = await registered(server, userId, `Abuser ${abusers}`)
      await server.consents.grant(user.id, client.clientId, scopes)
      const pair = await pairOf(server, client, user)
      return { userId, email, password, clientId: client.clientId, clientSecret, ...pair }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

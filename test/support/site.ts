import type { AuthorizationServer, User } from 'svc-oauth2server'
import {
  type Cluster,
  createUserAndClient,
  type Node,
  type NodeClient,
  openRecords,
  startNode,
} from './nodes.ts'
import { makeDatabase, type TestDatabase } from './postgres.ts'
import { type TemporaryFolder, temporaryFolder } from './processes.ts'
import { browser } from './session.ts'
import { UserAgent } from './user-agent.ts'

/** Several node processes on one PostgreSQL database. This process acts as the command line of the operator. */
export interface Site extends AsyncDisposable {
  readonly cluster: Cluster
  /** The running nodes. A test may remove and add nodes. */
  readonly nodes: Node[]
  readonly database: TestDatabase
  readonly records: AuthorizationServer
  readonly user: User
  /** A client that the user registered. */
  readonly client: NodeClient
  /** The browser of the user. */
  readonly agent: UserAgent
  /** Returns a running node. Successive numbers return different nodes. */
  node(turn: number): Node
  /** Returns the headers of the user's browser. The user must be logged in. */
  browserHeaders(): Promise<Readonly<Record<string, string>>>
}

export interface SiteOptions {
  readonly count?: number
  readonly env?: Readonly<Record<string, string>>
  /** Returns environment variables for one node. */
  readonly envOf?: (index: number) => Readonly<Record<string, string>>
  /** Returns the network namespace of a node: see `ProgramOptions`. */
  readonly namespaceOf?: (index: number) => string | undefined
  /** The Redis for short-lived values. By default, the database stores them. */
  readonly redisUrl?: string | undefined
  /** The database. Default: a new database on the shared server. */
  readonly database?: TestDatabase
}

/** The maximum lifetime of a node in milliseconds, which exceeds the duration of any test file. */
const lifetime = 900_000

export const startSite = async ({
  count = 3,
  env = {},
  envOf = () => ({}),
  namespaceOf = () => undefined,
  redisUrl,
  database: given,
}: SiteOptions = {}): Promise<Site> => {
  const folder: TemporaryFolder = await temporaryFolder()
  const database = given ?? (await makeDatabase())
  const cluster: Cluster = {
    data: folder.path,
    issuer: 'http://localhost:8080',
    env: {
      DATABASE_URL: database.url,
      ...(redisUrl !== undefined && { OAUTH2_CACHE_REDIS_URL: redisUrl }),
      ...env,
    },
    lifetime,
  }
  // Start all nodes concurrently, so that all of them find an empty database.
  const nodes = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      startNode({
        ...cluster,
        env: { ...cluster.env, ...envOf(index) },
        namespace: namespaceOf(index),
      }),
    ),
  )
  const records = await openRecords(cluster)
  const agent = new UserAgent({ 'user-agent': browser })
  return {
    cluster,
    nodes,
    database,
    records,
    ...(await createUserAndClient(records)),
    agent,
    browserHeaders: async () => ({
      'user-agent': browser,
      cookie: await agent.jar.getCookieString('http://localhost'),
    }),
    node(turn) {
      const node = nodes[turn % nodes.length]
      if (!node) throw new Error('There are no nodes.')
      return node
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map(({ program }) => program.crash()))
      await records.close()
      await database.drop()
      await folder[Symbol.asyncDispose]()
    },
  }
}

import type { AuthorizationServer, User } from 'svc-oauth2server'
import {
  type Cluster,
  furnish,
  type Node,
  type NodeClient,
  openRecords,
  startNode,
} from './nodes.ts'
import { makeDatabase, type TestDatabase } from './postgres.ts'
import { type TemporaryFolder, temporaryFolder } from './processes.ts'
import { browser } from './session.ts'
import { UserAgent } from './user-agent.ts'

/** Several node processes on one PostgreSQL database, and this process beside them as the operator's. */
export interface Site extends AsyncDisposable {
  readonly cluster: Cluster
  /** Those that are there; a test may take away from them and add to them. */
  readonly nodes: Node[]
  readonly database: TestDatabase
  readonly records: AuthorizationServer
  readonly user: User
  /** Of the user. */
  readonly client: NodeClient
  /** The user's browser. */
  readonly agent: UserAgent
  /** The node whose turn it is. */
  node(turn: number): Node
  /** What the user's browser sends along once it is logged in. */
  browserHeaders(): Promise<Readonly<Record<string, string>>>
}

export interface SiteOptions {
  readonly count?: number
  readonly env?: Readonly<Record<string, string>>
  /** What one node alone is told. */
  readonly envOf?: (index: number) => Readonly<Record<string, string>>
  /** The network namespace of a node: see `ProgramOptions`. */
  readonly namespaceOf?: (index: number) => string | undefined
  /** Where transients are kept; in the database where it is not given. */
  readonly redisUrl?: string | undefined
  /** Without it, a new one of the server that all tests share. */
  readonly database?: TestDatabase
}

/** Milliseconds: longer than any file of tests takes. */
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
  // At once, so that all of them find an empty database.
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
    ...(await furnish(records)),
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

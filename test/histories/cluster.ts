import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Node, query, type Cluster as Shared, startNode } from '../support/nodes.ts'
import { startPostgres } from '../support/own-postgres.ts'
import { makeDatabase } from '../support/postgres.ts'
import { temporaryFolder } from '../support/processes.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import { startProxy } from '../support/tcp-proxy.ts'
import type { Rules } from './history.ts'

export type StoreName = 'sqlite' | 'postgres'

/** How often each kind of trouble happened. */
export type Troubles = Record<string, number>

/** The nodes of a run on one database: three on PostgreSQL, two on SQLite. */
export interface Cluster extends AsyncDisposable {
  readonly store: StoreName
  readonly rules: Rules
  /** Returns a node that is not known to be killed. */
  pick(random: SeededRandom): { readonly url: string; readonly number: number }
  /** Runs a statement directly on the database. */
  query(sql: string): Promise<readonly Record<string, unknown>[]>
  /** Kills, pauses and cuts off nodes, and restarts PostgreSQL, until the signal aborts. Counts troubles and rounds. */
  trouble(random: SeededRandom, end: AbortSignal, counts: Troubles): Promise<void>
}

/** When the connection of a node to PostgreSQL is cut: before or after a statement, or a commit. */
interface Cut {
  readonly when: 'before' | 'after'
  readonly atCommit: boolean
}

/** The maximum lifetime of a node in milliseconds. */
const lifetime = 12 * 3_600_000

const leeway = 1

const settings = {
  OAUTH2SERVER_REFRESH_TOKEN_LEEWAY: `${leeway}`,
  OAUTH2SERVER_AUTHORIZATION_CODE_EXPIRES_IN: '600',
  OAUTH2SERVER_AUTHORIZATIONS_PER_APPLICATION: '100000',
  OAUTH2SERVER_DANGEROUSLY_IGNORE_LIMITS: 'true',
  OAUTH2SERVER_INTROSPECTION: 'true',
  OAUTH2SERVER_REVOCATION: 'true',
  OAUTH2SERVER_LOG_LEVEL: 'error',
}

/** A place for the data of all nodes. */
interface Place extends AsyncDisposable {
  readonly data: string
  /** The URL of the database for one node; undefined for SQLite. */
  readonly urls: readonly (string | undefined)[]
  query(sql: string): Promise<readonly Record<string, unknown>[]>
  /** Cuts the connection of one node. */
  readonly cut?: (number: number, cut: Cut) => void
  readonly restart?: (how: 'fast' | 'immediate') => Promise<void>
  /** How often a connection was cut. */
  readonly cuts: Troubles
}

const sqlitePlace = async (): Promise<Place> => {
  const folder = await temporaryFolder()
  return {
    data: folder.path,
    urls: [undefined, undefined],
    query: async (sql) => query(folder.path, sql),
    cuts: {},
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

const postgresPlace = async (): Promise<Place> => {
  const folder = await temporaryFolder()
  const postgres = await startPostgres()
  const database = await makeDatabase(postgres.url)
  const cuts: Troubles = {}
  const armed: (Cut | undefined)[] = [undefined, undefined, undefined]
  const proxies = await Promise.all(
    armed.map((_, number) =>
      startProxy(database.url, (close) => {
        let isLast = false
        return {
          toServer(bytes) {
            const cut = armed[number]
            if (!cut || (cut.atCommit && !bytes.includes('commit'))) return bytes
            armed[number] = undefined
            const kind = `cut ${cut.when} a ${cut.atCommit ? 'commit' : 'statement'}`
            cuts[kind] = (cuts[kind] ?? 0) + 1
            if (cut.when === 'before') {
              close()
              return undefined
            }
            isLast = true
            return bytes
          },
          toClient(bytes) {
            if (!isLast) return bytes
            close()
            return undefined
          },
        }
      }),
    ),
  )
  return {
    data: folder.path,
    urls: proxies.map(({ url }) => url),
    query: (sql) => database.query(sql),
    cut(number, cut) {
      armed[number] = cut
    },
    cuts,
    async restart(how) {
      await postgres.stop(how)
      await postgres.start()
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(proxies.map((proxy) => proxy[Symbol.asyncDispose]()))
      await postgres[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

export const startCluster = async (store: StoreName): Promise<Cluster> => {
  const place = await (store === 'postgres' ? postgresPlace() : sqlitePlace())
  const shared: Shared = {
    data: place.data,
    issuer: 'http://localhost:8080',
    program: join(import.meta.dirname, 'node.ts'),
    env: settings,
    lifetime,
  }
  const start = (number: number): Promise<Node> => {
    const url = place.urls[number]
    const env = { ...settings, ...(url !== undefined && { DATABASE_URL: url }) }
    return startNode({ ...shared, env })
  }
  const nodes: (Node | undefined)[] = await Promise.all(
    place.urls.map((_, number) => start(number)),
  )

  const kill = async (number: number): Promise<void> => {
    const node = nodes[number]
    nodes[number] = undefined
    await node?.program.crash()
    // A cut of the connection may end the start.
    for (let tries = 0; !nodes[number] && tries < 5; tries += 1)
      nodes[number] = await start(number).catch(() => undefined)
    if (!nodes[number]) throw new Error(`Node ${number} does not start again.`)
  }
  const pause = async (number: number, milliseconds: number): Promise<void> => {
    const { program } = nodes[number] ?? {}
    program?.kill('SIGSTOP')
    await delay(milliseconds)
    program?.kill('SIGCONT')
  }

  return {
    store,
    rules: { leeway },
    pick(random) {
      const running = nodes.flatMap((node, number) => (node ? [{ url: node.url, number }] : []))
      return random.pick(running)
    },
    query: place.query,
    async trouble(random, end, counts) {
      const { cut, restart } = place
      const node = () => random.below(nodes.length)
      const kinds: (readonly [string, () => Promise<void> | void])[] = [
        ['node killed', () => kill(node())],
        ['node paused', () => pause(node(), 50 + random.below(1_500))],
      ]
      if (cut)
        for (const atCommit of [true, false])
          for (const when of ['before', 'after'] as const)
            kinds.push(['cut ordered', () => cut(node(), { when, atCommit })])
      // A restart affects all nodes, so a round has only one.
      if (restart)
        kinds.push(['PostgreSQL restarted', () => restart(random.pick(['fast', 'immediate']))])
      // Each round has every kind once, in another order.
      for (;;) {
        const order = kinds.map((one) => ({ one, place: random.below(1_000_000) }))
        for (const { one } of order.sort((a, b) => a.place - b.place)) {
          const milliseconds = 100 + random.below(600)
          await delay(milliseconds, undefined, { signal: end }).catch(() => {})
          if (end.aborted) return
          const [kind, act] = one
          await act()
          counts[kind] = (counts[kind] ?? 0) + 1
          Object.assign(counts, place.cuts)
        }
        counts.rounds = (counts.rounds ?? 0) + 1
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node?.program.crash()))
      await place[Symbol.asyncDispose]()
    },
  }
}

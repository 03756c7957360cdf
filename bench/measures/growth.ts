import { statfs } from 'node:fs/promises'
import { createAuthorizationServer } from '../../src/index.ts'
import {
  type GrowthDatabase,
  postgresGrowth,
  sqliteGrowth,
} from '../../test/load/growth-databases.ts'
import { type Databases, query, server } from '../support/databases.ts'
import { load } from '../support/load.ts'
import type { GrowthName, GrowthPoint, GrowthResults, Round, Run } from '../support/results.ts'
import { Target } from '../support/target.ts'
import { secretKey, type WorkName } from '../support/works.ts'
import type { StoreKind } from '../targets.ts'

const works = ['token', 'resources', 'refresh'] as const
const rounds = 3
const seconds = 4
const connections = 32
/** The bytes that a token needs, including its authorization, all indexes, and space to build the indexes. */
const bytesPerToken = 1_800

const log = (line: string): void => void process.stderr.write(`${line}\n`)

type Works = Partial<Record<WorkName, Round[]>>

const measure = async (target: Target, atOnce: number, results: Works): Promise<void> => {
  for (const work of works) {
    const call = target.works[work]
    if (!call) continue
    const { requestsPerSecond, cpu, p99 } = await load(target, call, {
      connections: atOnce,
      seconds,
    })
    results[work] ??= []
    results[work].push({ requestsPerSecond, cpu, p99 })
  }
}

const warmUp = async (target: Target): Promise<void> => {
  for (const work of works) {
    const call = target.works[work]
    if (call) await load(target, call, { connections, seconds: 1 })
  }
}

const start = (
  store: StoreKind,
  at: string,
  { file = 'ours.ts', cores = '0', processes = 1 } = {},
): Promise<Target> => {
  const environment = {
    BENCH_STORE: store,
    BENCH_DATABASE: at,
    BENCH_REFRESH_TOKENS: '4000',
    BENCH_PROCESSES: String(processes),
  }
  return Target.start('ours', file, environment, cores)
}

/** Issues one token, and fills the tables with copies of the token. Each copy has a different digest. */
const fill = async (store: StoreKind, database: GrowthDatabase, rows: number): Promise<void> => {
  const server = await createAuthorizationServer({
    store: database.opener,
    issuer: 'http://localhost:3000',
    secretKeys: [secretKey],
    sweepInterval: 0,
    log: () => undefined,
  })
  const user = await server.users.create({ email: 'load@example.org', password: null })
  const redirectUris = ['https://client.example/cb']
  const { client } = await server.clients.create({ name: 'Load', userId: user.id, redirectUris })
  const scopes = ['user:email']
  await server.tokens.issue({ type: 'user', client, subject: user, scopes, refreshable: true })
  await server.close()
  await database.fill(rows, 0)
  if (store === 'sqlite') return
  // The copies were inserted with explicit IDs, so advance the sequences.
  for (const table of ['oauth2server_token', 'oauth2server_authorization'])
    await query(
      `select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`,
      database.at,
    )
}

const hasRoom = async (database: GrowthDatabase, rows: number): Promise<boolean> => {
  const { bavail, bsize } = await statfs(await database.folder())
  return bavail * bsize > rows * bytesPerToken
}

const compare = async (
  of: GrowthName,
  targets: readonly { readonly count: number; readonly target: Target; readonly atOnce?: number }[],
): Promise<readonly GrowthPoint[]> => {
  const points = targets.map((each) => ({ ...each, results: {} as Works }))
  for (const { target } of new Map(points.map((point) => [point.target, point])).values())
    await warmUp(target)
  for (let round = 1; round <= rounds; round += 1) {
    log(`${of}: round ${round} of ${rounds}`)
    for (const { target, atOnce = connections, results } of points)
      await measure(target, atOnce, results)
  }
  return points.map(({ count, results }) => ({ of, count, works: results }))
}

/** Measures how the cost of a request grows with tokens, connections and processes. */
export const measureGrowth = async (
  store: StoreKind,
  counts: readonly number[],
  databases: Databases,
  run: Run,
): Promise<GrowthResults> => {
  const filled: GrowthDatabase[] = []
  const targets: Target[] = []
  databases.onRemove(async () => {
    for (const target of targets.splice(0)) await target.stop()
    for (const database of filled.splice(0)) await database.remove()
  })
  const byRows: { count: number; target: Target }[] = []
  for (const count of counts) {
    const database = await (store === 'postgres' ? postgresGrowth(server) : sqliteGrowth())
    filled.push(database)
    if (!(await hasRoom(database, count))) {
      log(`${store}: not enough disk space for ${count} tokens`)
      continue
    }
    log(`${store}: creating ${count} tokens`)
    await fill(store, database, count)
    const target = await start(store, database.at)
    targets.push(target)
    byRows.push({ count, target })
  }
  const points: GrowthPoint[] = [...(await compare('rows', byRows))]

  const [few] = byRows
  if (few) {
    const { target } = few
    const atOnce = [1, 32, 512].map((count) => ({ count, target, atOnce: count }))
    points.push(...(await compare('connections', atOnce)))
  }
  const several: { count: number; target: Target }[] = []
  for (const count of [1, 2, 4]) {
    const at = await databases.make(store)
    const options = { file: 'cluster.ts', cores: '0,1', processes: count }
    const target = await start(store, at, options)
    targets.push(target)
    several.push({ count, target })
  }
  points.push(...(await compare('processes', several)))
  return { ...run, store, points }
}

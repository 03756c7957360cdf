/**
 * Measures the cost of ten million tokens: the duration of look-ups compared with a small table, the bytes on disk, and
 * the effect of a purge on look-ups.
 *
 *     npm run test:load -- growth [--rows TOKENS] [--expired ROWS]
 *
 * Each token has two rows: the token and its authorization. By default, a tenth of the tokens are expired.
 *
 * Uses SQLite files, or new databases on the PostgreSQL server at DATABASE_URL.
 */
import { statfs } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Digest } from '../../src/crypto/digest.ts'
import { type AuthorizationServer, createAuthorizationServer } from '../../src/index.ts'
import type { OpenStore } from '../../src/store/store.ts'
import { type GrowthDatabase, postgresGrowth, sqliteGrowth } from './growth-databases.ts'

const small = 10_000
const lookups = 20_000
/** The number of look-ups per second while the script measures look-ups. */
const rate = 250
/** Milliseconds for which the script measures look-ups before and after a purge. */
const idle = 15_000
/**
 * The required disk space relative to the size of the tables. Indexes and the write-ahead log need additional space.
 */
const spaceFactor = 1.6

interface Filled {
  readonly database: GrowthDatabase
  readonly store: OpenStore
  readonly server: AuthorizationServer
  readonly digests: readonly Digest[]
}

/** Opens a server on the database, and creates the token that `fill()` copies. */
const prepare = async (database: GrowthDatabase): Promise<AuthorizationServer> => {
  const server = await createAuthorizationServer({
    store: database.opener,
    issuer: 'http://localhost:3000',
    secretKeys: ['the secret key of the measurement'],
    sweepInterval: 0,
    log: () => undefined,
  })
  const user = await server.users.create({ email: 'load@example.org', password: 'a long password' })
  const { client } = await server.clients.create({
    name: 'Load',
    userId: user.id,
    redirectUris: ['https://client.example/cb'],
  })
  await server.tokens.issue({
    type: 'user',
    client,
    subject: user,
    scopes: ['user:email'],
    refreshable: true,
  })
  return server
}

const fill = async (database: GrowthDatabase, rows: number, expired: number): Promise<Filled> => {
  const begun = performance.now()
  const server = await prepare(database)
  await database.fill(rows, Math.floor(expired / 2))
  const digests = (await database.digests(lookups, expired / 2 / rows)) as readonly Digest[]
  console.log(`${rows} tokens made in ${Math.round((performance.now() - begun) / 1000)} s`)
  return { database, server, store: await database.opener.open(), digests }
}

const at = (times: readonly number[], share: number): number => {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

const shown = (milliseconds: number): string => milliseconds.toFixed(3)

const find = async ({ store, digests }: Filled, index: number): Promise<void> => {
  const digest = digests[index % digests.length]
  if (!digest || !(await store.tokens.findByAccess(digest))) throw new Error('A token is missing.')
}

/**
 * Measures look-ups in milliseconds. Alternates between the tables, so that other load on the machine affects all
 * tables.
 */
const compare = async (all: readonly Filled[]): Promise<readonly (readonly number[])[]> => {
  const times: number[][] = all.map(() => [])
  for (let index = -2_000; index < lookups; index += 1) {
    for (const [which, filled] of all.entries()) {
      const begun = performance.now()
      await find(filled, Math.abs(index))
      if (index >= 0) times[which]?.push(performance.now() - begun)
    }
  }
  return times
}

/** Runs look-ups at a fixed rate, and measures each look-up from its scheduled time. */
const arrivals = (filled: Filled) => {
  const times: number[] = []
  const begun = performance.now()
  let isOver = false
  const one = async (index: number): Promise<void> => {
    await find(filled, index * 7919)
    times.push(performance.now() - begun - (index * 1000) / rate)
  }
  const run = async (): Promise<void> => {
    const going: Promise<void>[] = []
    for (let index = 0; !isOver; ) {
      for (; ((performance.now() - begun) * rate) / 1000 >= index; index += 1)
        going.push(one(index))
      await delay(1)
    }
    await Promise.all(going)
  }
  const running = run()
  return async (): Promise<readonly number[]> => {
    isOver = true
    await running
    return times
  }
}

const duringIdle = async (filled: Filled): Promise<readonly number[]> => {
  const end = arrivals(filled)
  await delay(idle)
  return end()
}

const purge = async (filled: Filled) => {
  const end = arrivals(filled)
  const begun = performance.now()
  const removed = await filled.server.sweep()
  const seconds = (performance.now() - begun) / 1000
  return { removed, seconds, times: await end() }
}

/**
 * Measures look-ups before, during and after a purge.
 * @returns whether look-ups during the purge take less than twice the time of look-ups without a purge
 */
export const purgeDuringLookups = async (filled: Filled): Promise<boolean> => {
  // Ignore the first look-ups, which are slow after many inserts.
  await duringIdle(filled)
  const before = await duringIdle(filled)
  const { removed, seconds, times } = await purge(filled)
  const after = await duringIdle(filled)
  // Compare with the faster of the two measurements, because other load on the machine could hide an effect.
  const idleP99 = Math.min(at(before, 0.99), at(after, 0.99))
  const p99 = at(times, 0.99)
  console.log(
    `idle p99 ${shown(idleP99)} ms (before ${shown(at(before, 0.99))}, after ${shown(at(after, 0.99))})`,
  )
  console.log(
    `purge of ${removed} rows in ${Math.round(seconds)} s: p99 ${shown(p99)} ms of ${times.length} look-ups, ${(p99 / idleP99).toFixed(2)} times idle (under 2)`,
  )
  return p99 < idleP99 * 2
}

const hasRoom = async (database: GrowthDatabase, needed: number): Promise<boolean> => {
  const folder = await database.folder()
  const { bavail, bsize } = await statfs(folder)
  const [need, free] = [needed, bavail * bsize].map((bytes) => (bytes / 2 ** 30).toFixed(1))
  console.log(`needs ${need} GiB in ${folder}, where ${free} GiB are free`)
  return bavail * bsize > needed
}

/** Fills the databases, measures, and prints the figures. @returns whether look-ups remain fast */
export const run = async (args: readonly string[]): Promise<boolean> => {
  const { values } = parseArgs({
    args: [...args],
    options: { rows: { type: 'string' }, expired: { type: 'string' } },
  })
  const rows = Number(values.rows ?? 10_000_000)
  const expired = Number(values.expired ?? rows / 10)
  const make = () =>
    process.env.DATABASE_URL ? postgresGrowth(process.env.DATABASE_URL) : sqliteGrowth()
  const databases = [await make(), await make()] as const
  const open: Filled[] = []
  try {
    const few = await fill(databases[0], small, small / 10)
    open.push(few)
    const bytes = (await few.database.bytes()) / small
    console.log(`${Math.round(bytes)} bytes per token, with its authorization and all indexes`)
    if (!(await hasRoom(few.database, bytes * rows * spaceFactor))) return false
    const many = await fill(databases[1], rows, expired)
    open.push(many)
    console.log(`${Math.round((await many.database.bytes()) / rows)} bytes per token of ${rows}`)

    const [fewTimes = [], manyTimes = []] = await compare(open)
    const ratio = at(manyTimes, 0.5) / at(fewTimes, 0.5)
    for (const [name, times] of [
      [small, fewTimes],
      [rows, manyTimes],
    ] as const)
      console.log(
        `look-up of ${name}: median ${shown(at(times, 0.5))} ms, p99 ${shown(at(times, 0.99))} ms`,
      )
    console.log(`ratio of the medians ${ratio.toFixed(2)} (at most 1.5)`)

    return (await purgeDuringLookups(many)) && ratio <= 1.5
  } finally {
    for (const { server, store } of open) {
      await store.close()
      await server.close()
    }
    for (const database of databases) await database.remove()
  }
}

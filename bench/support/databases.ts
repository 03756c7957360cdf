import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { StoreKind } from '../targets.ts'

/** The URL of a PostgreSQL server, with a user who may create databases. Empty if no server is configured. */
export const server = process.env.TEST_POSTGRES_URL ?? ''

/** Runs one statement in the database at the URL. */
export const query = async (
  statement: string,
  at = server,
): Promise<readonly Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString: at, connectionTimeoutMillis: 2000 })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

/** Returns the version of the PostgreSQL server, or undefined if none responds. */
export const postgresVersion = async (): Promise<string | undefined> => {
  if (!server) return undefined
  try {
    const [row] = await query('show server_version')
    return String(row?.server_version).split(' ', 1)[0]
  } catch {
    return undefined
  }
}

let postmaster: Promise<string> | undefined

const parentOf = async (process: string): Promise<string> =>
  // The name of the program, in parentheses, may contain blanks.
  (await readFile(`/proc/${process}/stat`, 'utf8')).split(') ')[1]?.split(' ')[1] ?? ''

/**
 * Returns the microseconds of processor time that each process of the PostgreSQL server has used. Returns nothing if
 * the server runs on another machine, or if none is configured.
 */
const postgresTimes = async (): Promise<ReadonlyMap<string, number>> => {
  const times = new Map<string, number>()
  if (!server) return times
  postmaster ??= query("select pid from pg_stat_activity where backend_type = 'checkpointer'").then(
    ([row]) => parentOf(String(row?.pid)),
  )
  const parent = await postmaster
  for (const process of await readdir('/proc')) {
    if (!/^\d+$/.test(process)) continue
    // A process may end at any time.
    if ((await parentOf(process).catch(() => '')) !== parent) continue
    const nanoseconds = await readFile(`/proc/${process}/schedstat`, 'utf8').catch(() => '0')
    times.set(process, Number(nanoseconds.split(' ', 1)[0]) / 1000)
  }
  return times
}

/** Runs the work. @returns its result, and the microseconds of processor time that PostgreSQL used in the meantime */
export const withPostgresCpu = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
  const before = await postgresTimes()
  const result = await work()
  let spent = 0
  // Connections that were closed in the meantime do not count: they were idle.
  for (const [process, time] of await postgresTimes()) spent += time - (before.get(process) ?? 0)
  return [result, spent]
}

/** The databases of one run. Each measured server uses a separate database. `remove` deletes all databases. */
export class Databases {
  readonly #removals: (() => Promise<unknown>)[] = []

  /** Creates a database. @returns the path or URL of the database */
  async make(kind: StoreKind): Promise<string> {
    if (kind === 'sqlite') {
      const folder = await mkdtemp(join(tmpdir(), 'oauth2server-bench-'))
      this.#removals.push(() => rm(folder, { recursive: true, force: true }))
      return join(folder, 'bench.sqlite')
    }
    const name = `oauth2server_bench_${randomBytes(6).toString('hex')}`
    await query(`create database ${name}`)
    this.#removals.push(() => query(`drop database if exists ${name} with (force)`))
    return Object.assign(new URL(server), { pathname: `/${name}` }).href
  }

  /** Registers a clean-up that must run before the databases are removed. */
  onRemove(remove: () => Promise<unknown>): void {
    this.#removals.unshift(remove)
  }

  async remove(): Promise<void> {
    const removals = this.#removals.splice(0)
    for (const remove of removals) await remove()
  }
}

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
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

import { randomBytes } from 'node:crypto'
import { Client } from 'pg'

/** The URL of the PostgreSQL server that all tests of a run share: see services.ts. */
const sharedServer = process.env.TEST_POSTGRES_URL

export interface TestDatabase {
  readonly url: string
  /** Runs one statement directly on the database. */
  query(sql: string, parameters?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
  drop(): Promise<void>
}

/** Runs one statement in the database at a URL. */
export const queryAt = async (
  url: string,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql, parameters as unknown[])).rows
  } finally {
    await client.end()
  }
}

/** Creates a database on the shared or another server. The database is empty, or a copy of a template. */
export const makeDatabase = async (
  at = sharedServer,
  template = 'template1',
): Promise<TestDatabase> => {
  if (!at)
    throw new Error('TEST_POSTGRES_URL is not set. Use vitest, or `npm run with-services -- …`.')
  const name = `oauth2server_test_${randomBytes(6).toString('hex')}`
  await queryAt(at, `create database ${name} template ${template}`)
  // On the shared server, which no test crashes, let commits return before the disk write.
  if (at === sharedServer) await queryAt(at, `alter database ${name} set synchronous_commit = off`)
  const url = Object.assign(new URL(at), { pathname: `/${name}` }).href
  return {
    url,
    query: (sql, parameters) => queryAt(url, sql, parameters),
    drop: async () => {
      await queryAt(at, `drop database if exists ${name} with (force)`)
    },
  }
}

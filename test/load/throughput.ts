/**
 * Measures the throughput of one server process, and the size of its rows, for docs/operations.md.
 *
 *     npm run test:load -- throughput [SECONDS]
 *
 * Uses a SQLite file, or the PostgreSQL database at DATABASE_URL, which must be empty. Requires Linux: the script reads
 * the processor time of the processes from /proc, because other load on the machine does not affect it.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { createAuthorizationServer } from '../../src/index.ts'
import { fromEnvironment } from '../../src/server/environment/environment.ts'
import { LoadClient, type Pair } from './client.ts'
import { startServer, type Variables } from './servers.ts'

const redirectUri = 'https://client.example/cb'
/** The e-mail addresses of several users, because one user would have an unrealistic number of authorizations. */
const emails = Array.from({ length: 64 }, (_, index) => `load-${index}@example.org`)
const password = 'correct horse battery staple'
const workers = 16
const ticksPerSecond = 100

const furnish = async (env: Variables) => {
  const { options } = await fromEnvironment(env)
  const server = await createAuthorizationServer({ ...options, sweepInterval: 0, log: () => {} })
  const users = await Promise.all(emails.map((email) => server.users.create({ email, password })))
  const { client, clientSecret } = await server.clients.create({
    name: 'Load',
    userId: users[0]?.id ?? null,
    redirectUris: [redirectUri],
    defaultScopes: ['user:email'],
  })
  for (const { id } of users) await server.consents.grant(id, client.clientId, ['user:email'])
  await server.close()
  return { clientId: client.clientId, clientSecret }
}

const isFile = (url: string): boolean => url.startsWith('sqlite:')

const ask = async (url: string, sql: string): Promise<Record<string, unknown>[]> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Returns the size of the database with its indexes, in bytes. */
const sizeOf = async (url: string): Promise<number> => {
  if (isFile(url)) {
    const db = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true })
    const { size } = db
      .prepare('select page_count * page_size as size from pragma_page_count, pragma_page_size')
      .get() as { size: number }
    db.close()
    return size
  }
  const [row] = await ask(url, 'select pg_database_size(current_database()) as size')
  return Number(row?.size)
}

/** Returns the IDs of the PostgreSQL processes on this machine: the background writers, and one for each connection. */
const processesOf = async (url: string): Promise<number[]> => {
  const sql = `select pid from pg_stat_activity where pid <> pg_backend_pid()
    and backend_type <> 'autovacuum worker' and (datname is null or datname = current_database())`
  return isFile(url) ? [] : (await ask(url, sql)).map(({ pid }) => Number(pid))
}

const processorSeconds = async (pids: readonly number[]): Promise<number> => {
  const all = pids.map(async (pid) => {
    const [, fields = ''] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')
    const numbers = fields.split(' ')
    return (Number(numbers[11]) + Number(numbers[12])) / ticksPerSecond
  })
  return (await Promise.all(all)).reduce((sum, seconds) => sum + seconds, 0)
}

/** Sends each kind of request for the given number of seconds. @returns whether all requests succeeded */
export const run = async ([seconds = '8']: readonly string[]): Promise<boolean> => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-load-'))
  const DATABASE_URL = process.env.DATABASE_URL ?? `sqlite:${join(folder, 'load.sqlite')}`
  const env = {
    DATABASE_URL,
    BASE_URL: 'http://localhost:3000',
    SECRET_KEY: 'the secret key of the measurement of throughput',
    // Set the values that cause no start-up warnings.
    OAUTH2SERVER_ALLOWED_RESPONSE_TYPES: 'code',
    OAUTH2SERVER_ACCEPT_QUERY_ACCESS_TOKEN: 'false',
  }
  const made = await furnish(env)
  const clients = emails.map((email) => new LoadClient({ ...made, redirectUri, email, password }))
  const clientOf = (number: number) => clients[number % clients.length] as LoadClient
  const client = clientOf(0)
  const server = await startServer(env)
  const { url } = server
  const figures: Record<string, object> = {}

  const measure = async (kind: string, request: (worker: number) => Promise<void>) => {
    const size = await sizeOf(DATABASE_URL)
    const [used, usedByDatabase] = [
      await processorSeconds([server.pid]),
      await processorSeconds(await processesOf(DATABASE_URL)),
    ]
    const begun = performance.now()
    const ends = begun + Number(seconds) * 1_000
    let requests = 0
    const work = async (worker: number) => {
      for (; performance.now() < ends; requests += 1) await request(worker)
    }
    await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))
    const took = (performance.now() - begun) / 1_000
    const own = (await processorSeconds([server.pid])) - used
    // List the processes again, because the server has opened connections since the first list.
    const its = (await processorSeconds(await processesOf(DATABASE_URL))) - usedByDatabase
    figures[kind] = {
      requests,
      'per second': Math.round(requests / took),
      'per processor second': Math.round(requests / own),
      // The time is zero for SQLite, which runs inside the server process.
      'microseconds of the database': Math.round((its * 1_000_000) / requests),
      'bytes each': Math.round(((await sizeOf(DATABASE_URL)) - size) / requests),
    }
  }

  try {
    for (const each of clients) await each.logIn(url)
    const pairs: Pair[] = []
    for (let index = 0; index < workers; index += 1)
      pairs.push(await clientOf(index).newPair(url, url))
    const pairOf = (worker: number) => pairs[worker] as Pair
    for (let turn = 0; turn < 500; turn += 1) await client.use(url, pairOf(turn % workers))
    await measure('client credentials', () => client.ownToken(url))
    await measure('bearer check', (worker) => client.use(url, pairOf(worker)))
    await measure('refresh', async (worker) => {
      pairs[worker] = await client.refresh(url, pairOf(worker))
    })
    let next = 0
    await measure('code: request and redemption', async () => {
      next += 1
      await clientOf(next).newPair(url, url)
    })
    console.table(figures)
    for (const line of server.warnings.slice(0, 20)) console.log(line)
    return server.warnings.length === 0
  } finally {
    await server.stop()
    await rm(folder, { recursive: true })
  }
}

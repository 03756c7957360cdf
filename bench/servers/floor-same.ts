// A minimal server that runs the same SQL statements as svc-oauth2server, with bare node:http. For each kind of
// request, it first records the statements of one request to svc-oauth2server without batches. Then it repeats these
// statements.
import { hash, randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { createAuthorizationServer, Scope } from '../../src/index.ts'
import { postgres } from '../../src/store/postgres.ts'
import { SqliteDatabase } from '../../src/store/sql/sqlite/database.ts'
import { sqlite } from '../../src/store/sqlite.ts'
import { basic, form, place, refreshTokenCount, serve } from '../support/serve.ts'

// Load the copy of the driver that the sources use, so that its methods can be replaced.
const pg = createRequire(new URL('../../src/index.ts', import.meta.url))('pg')

interface RecordedStatement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

let recorded: RecordedStatement[] = []
const record = (sql: string, parameters: readonly unknown[] = []) =>
  recorded.push({ sql, parameters })

if (place.kind === 'postgres') {
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: unknown, ...given: unknown[]) {
    const [config] = given as [string | { text: string; values?: unknown[] }]
    if (typeof config === 'string') record(config)
    else if ('text' in config) record(config.text, config.values)
    return Reflect.apply(query, this, given)
  } as never
} else {
  const { run } = SqliteDatabase.prototype
  SqliteDatabase.prototype.run = function (sql, parameters) {
    record(sql, parameters)
    return run.call(this, sql, parameters)
  }
  const { now } = SqliteDatabase.prototype
  SqliteDatabase.prototype.now = function (sql, parameters) {
    record(sql, parameters)
    return now.call(this, sql, parameters)
  }
}

const server = await createAuthorizationServer({
  issuer: 'http://localhost:3000',
  secretKeys: ['a secret key for measurements, 32 bytes and more'],
  store:
    place.kind === 'postgres'
      ? postgres(place.at, { batch: false })
      : sqlite(place.at, { batch: false }),
  scopes: [new Scope('notes:read')],
  sweepInterval: 0,
  introspection: true,
  log: () => undefined,
})

type Row = Record<string, unknown>
interface Session {
  run(statement: RecordedStatement): Promise<readonly Row[]> | readonly Row[]
  end(): void
}
/** Opens a session for the statements of one request. On PostgreSQL, the session is a separate connection. */
type Open = (isTransaction: boolean) => Promise<Session> | Session

const inSqlite = (): Open => {
  const connections = [0, 1].map(() => {
    const database = new DatabaseSync(place.at, { timeout: 1000 })
    database.exec('pragma synchronous = normal')
    return { database, statements: new Map<string, StatementSync>() }
  })
  return (isTransaction) => ({
    run({ sql, parameters }) {
      // As in svc-oauth2server, a read outside a transaction does not use the connection for writes.
      const isRead = /^select/i.test(sql) && !isTransaction
      const { database, statements } = connections[isRead ? 0 : 1] as (typeof connections)[0]
      let statement = statements.get(sql)
      if (!statement) {
        statement = database.prepare(sql)
        statements.set(sql, statement)
      }
      return statement.all(...(parameters as SQLInputValue[])) as Row[]
    },
    end() {},
  })
}

const inPostgres = (): Open => {
  const parsers = {
    getTypeParser: (oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid)),
  }
  const pool = new pg.Pool({ connectionString: place.at, max: 10, types: parsers as never })
  const names = new Map<string, string>()
  return async () => {
    const client = await pool.connect()
    return {
      async run({ sql, parameters }) {
        if (parameters.length === 0) return (await client.query(sql)).rows
        const name = names.get(sql) ?? `s${names.size}`
        names.set(sql, name)
        return (await client.query({ name, text: sql, values: [...parameters] })).rows
      },
      end: () => client.release(),
    }
  }
}

const open = place.kind === 'postgres' ? inPostgres() : inSqlite()
const execute = async (sql: string) => {
  const session = await open(true)
  const rows = await session.run({ sql, parameters: [] })
  session.end()
  return rows
}

// Start with high IDs, so that `replay` can distinguish IDs from all other recorded numbers.
if (place.kind === 'postgres') {
  await execute('alter sequence oauth2server_token_id_seq restart with 5000011')
  await execute('alter sequence oauth2server_authorization_id_seq restart with 7000011')
}
const user = await server.users.create({ email: 'bench@example.org', password: null })
const { client, clientSecret } = await server.clients.create({
  name: 'Bench',
  userId: user.id,
  redirectUris: ['https://client.example/cb'],
  defaultScopes: ['notes:read'],
})
const issue = () =>
  server.tokens.issue({
    type: 'user',
    client,
    subject: user,
    scopes: ['notes:read'],
    refreshable: true,
  })
if (place.kind === 'sqlite') {
  const { token } = await issue()
  await execute(`update sqlite_sequence set seq = 5000011 where name = 'oauth2server_token'`)
  await execute(
    `update sqlite_sequence set seq = 7000011 where name = 'oauth2server_authorization'`,
  )
  void token
}
const { accessToken, refreshToken } = await issue()

const asClient = { authorization: basic(client.clientId, clientSecret), ...form }
const post = async (path: string, body: string): Promise<Row> => {
  recorded = []
  const url = `http://localhost:3000${path}`
  const answer = await server.fetch(new Request(url, { method: 'POST', headers: asClient, body }))
  if (answer.status !== 200) throw new Error(await answer.text())
  return (await answer.json()) as Row
}
const twice = async (once: () => Promise<unknown>) => {
  await once()
  const first = recorded
  await once()
  return plan(first, [...recorded])
}

/**
 * The statements of the second recorded request. Each repetition replaces the texts in `changing`, which do not occur
 * in the first recorded request.
 */
interface Plan {
  readonly statements: readonly RecordedStatement[]
  readonly changing: ReadonlySet<unknown>
}

const plan = (first: readonly RecordedStatement[], second: readonly RecordedStatement[]): Plan => {
  const known = new Set(first.flatMap(valuesOf))
  const statements = second.map(withRows)
  const changing = second
    .flatMap(valuesOf)
    .filter((value) => typeof value === 'string' && !known.has(value))
  return { statements, changing: new Set(changing) }
}

/** The rows that one statement receives as JSON text. */
class Rows {
  readonly rows: readonly Row[]

  constructor(text: string) {
    this.rows = JSON.parse(text)
  }
}

const withRows = ({ sql, parameters }: RecordedStatement): RecordedStatement => ({
  sql,
  parameters: parameters.map((value) =>
    typeof value === 'string' && value.startsWith('[{') ? new Rows(value) : value,
  ),
})

const valuesOf = (statement: RecordedStatement): unknown[] =>
  withRows(statement).parameters.flatMap((value) =>
    value instanceof Rows ? value.rows.flatMap((row) => Object.values(row)) : value,
  )

const token = await twice(() =>
  post('/oauth/token', 'grant_type=client_credentials&scope=notes%3Aread'),
)
const introspect = await twice(() => post('/oauth/introspect', `token=${accessToken}`))
const resource = await twice(async () => {
  recorded = []
  await server.getToken({ accessToken })
})
const digestOf = (value: unknown) => hash('sha256', `refresh_token:${value}`, 'base64url')
let presented = ''
let current: unknown = refreshToken
const refresh = await twice(async () => {
  presented = digestOf(current)
  const answer = await post('/oauth/token', `grant_type=refresh_token&refresh_token=${current}`)
  current = answer.refresh_token
})
const successor = digestOf(current)
for (let count = 0; count < refreshTokenCount; count += 1) await issue()
await server.close()
const digests = await execute(
  `select refresh_token_digest as digest from oauth2server_token where refresh_token_digest is not null order by id desc limit ${refreshTokenCount}`,
)

const random = (length: number) => randomBytes(length).toString('base64url').slice(0, length)

/**
 * Runs the statements of a plan with new values. @param now the digest of the refresh token in this request
 * @returns the digest of the refresh token for the next request
 */
const replay = async ({ statements, changing }: Plan, now?: string): Promise<string> => {
  const session = await open(statements.some(({ sql }) => /^begin/.test(sql)))
  const values = new Map<unknown, string>(now === undefined ? [] : [[presented, now]])
  let found: Row = {}
  const filled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(filled)
    if (value instanceof Rows) {
      const rows = value.rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, one]) => [name, filled(one)])),
      )
      return JSON.stringify(rows)
    }
    if (typeof value === 'number' && value > 5_000_000 && value < 6_000_000)
      return found.id ?? value
    if (typeof value === 'number' && value > 7_000_000 && value < 8_000_000)
      return found.authorization_id ?? value
    const known = values.get(value)
    if (known !== undefined || typeof value !== 'string' || !changing.has(value))
      return known ?? value
    const issued = random(value.length)
    values.set(value, issued)
    return issued
  }
  for (const { sql, parameters } of statements) {
    const ran = session.run({ sql, parameters: parameters.map(filled) })
    // Don't await in SQLite, because another request could then run its statements in the same transaction.
    const rows = ran instanceof Promise ? await ran : ran
    if (rows[0] && 'authorization_id' in rows[0]) [found] = rows as [Row]
  }
  session.end()
  return values.get(successor) ?? ''
}

const bodyOf = (stream: NodeJS.ReadableStream): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    stream.setEncoding('utf8')
    stream.on('data', (chunk) => {
      text += chunk
    })
    stream.on('end', () => resolve(text))
  })

await serve(
  async (request, response) => {
    const answer = (body: object) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    if (request.url === '/resource') {
      await replay(resource)
      return answer({ notes: [] })
    }
    const body = new URLSearchParams(await bodyOf(request))
    if (request.url === '/introspect') {
      await replay(introspect)
      return answer({ active: true })
    }
    if (body.get('grant_type') === 'refresh_token') {
      const issued = await replay(refresh, body.get('refresh_token') ?? '')
      return answer({ access_token: issued, refresh_token: issued })
    }
    await replay(token)
    return answer({ access_token: random(43), token_type: 'Bearer', expires_in: 3600 })
  },
  () => {
    const post = { method: 'POST', headers: form } as const
    return {
      token: { ...post, path: '/token', body: 'grant_type=client_credentials' },
      resource: { method: 'GET', path: '/resource', headers: {} },
      introspect: { ...post, path: '/introspect', body: 'token=x' },
      refresh: {
        ...post,
        path: '/token',
        body: 'grant_type=refresh_token&refresh_token=',
        refreshTokens: digests.map(({ digest }) => String(digest)),
      },
    }
  },
)

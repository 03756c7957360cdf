// The plain floor: a minimal server for comparison. It uses bare node:http, and runs one SQL statement per request, or
// two for a refresh.
import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { form, place, refreshTokenCount, serve } from '../support/serve.ts'

interface Statements {
  insert(token: string): Promise<void>
  find(token: string): Promise<object | undefined>
  replace(before: string, after: string): Promise<boolean>
}

const table =
  'create table if not exists token (token text primary key, client text not null, scope text not null, expires bigint not null)'
const insert = 'insert into token (token, client, scope, expires) values'
const find = 'select token, client, scope, expires from token where token ='
const remove = 'delete from token where token ='
const expires = Date.now() + 3_600_000

const inSqlite = (): Statements => {
  const database = new DatabaseSync(place.at, { timeout: 1000 })
  database.exec('pragma journal_mode = wal; pragma synchronous = normal')
  database.exec(table)
  const inserting = database.prepare(`${insert} (?, ?, ?, ?)`)
  const finding = database.prepare(`${find} ?`)
  const removing = database.prepare(`${remove} ?`)
  return {
    async insert(token) {
      inserting.run(token, 'client', 'notes:read', expires)
    },
    async find(token) {
      return finding.get(token)
    },
    async replace(before, after) {
      if (removing.run(before).changes === 0) return false
      inserting.run(after, 'client', 'notes:read', expires)
      return true
    },
  }
}

const inPostgres = async (): Promise<Statements> => {
  const pool = new pg.Pool({ connectionString: place.at, max: 10 })
  await pool.query(table)
  const values = (token: string) => [token, 'client', 'notes:read', expires]
  return {
    async insert(token) {
      await pool.query({
        name: 'insert',
        text: `${insert} ($1, $2, $3, $4)`,
        values: values(token),
      })
    },
    async find(token) {
      const { rows } = await pool.query({ name: 'find', text: `${find} $1`, values: [token] })
      return rows[0]
    },
    async replace(before, after) {
      const { rowCount } = await pool.query({
        name: 'remove',
        text: `${remove} $1`,
        values: [before],
      })
      if (rowCount === 0) return false
      await pool.query({
        name: 'insert',
        text: `${insert} ($1, $2, $3, $4)`,
        values: values(after),
      })
      return true
    },
  }
}

const statements = place.kind === 'postgres' ? await inPostgres() : inSqlite()
const random = () => randomBytes(32).toString('base64url')
const token = random()
await statements.insert(token)
const refreshTokens = Array.from({ length: refreshTokenCount }, random)
const tokens = Array.from({ length: 1000 }, random)
for (const each of [...refreshTokens, ...tokens]) await statements.insert(each)

const bodyOf = (request: AsyncIterable<Buffer>): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    const stream = request as unknown as NodeJS.ReadableStream
    stream.setEncoding('utf8')
    stream.on('data', (chunk) => {
      text += chunk
    })
    stream.on('end', () => resolve(text))
  })

await serve(
  async (request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    if (request.url === '/resource') {
      const found = await statements.find(request.headers.authorization?.slice(7) ?? '')
      return answer(found ? 200 : 401, { notes: [] })
    }
    const body = new URLSearchParams(await bodyOf(request))
    if (request.url === '/introspect') {
      return answer(200, { active: (await statements.find(body.get('token') ?? '')) !== undefined })
    }
    const issued = random()
    if (body.get('grant_type') === 'refresh_token') {
      const isDone = await statements.replace(body.get('refresh_token') ?? '', issued)
      return answer(isDone ? 200 : 400, { access_token: issued, refresh_token: issued })
    }
    await statements.insert(issued)
    return answer(200, { access_token: issued, token_type: 'Bearer', expires_in: 3600 })
  },
  () => {
    const post = { method: 'POST', headers: form } as const
    return {
      token: { ...post, path: '/token', body: 'grant_type=client_credentials' },
      resource: { method: 'GET', path: '/resource', headers: { authorization: `Bearer ${token}` } },
      resources: { method: 'GET', path: '/resource', headers: {}, tokens },
      introspect: { ...post, path: '/introspect', body: `token=${token}` },
      refresh: {
        ...post,
        path: '/token',
        body: 'grant_type=refresh_token&refresh_token=',
        refreshTokens,
      },
      key: { method: 'GET', path: '/resource', headers: {}, tokens: tokens.slice(0, 100) },
    }
  },
)

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basicOf, postForm } from '../support/form.ts'
import { browser, logIn } from '../support/session.ts'
import { TestClient } from '../support/user-agent.ts'
import { type Column, schemaOf } from './support/columns.ts'
import {
  type AttackedServer,
  literal,
  type Row,
  startAttacked,
  storeNames,
} from './support/database-writer.ts'

// Two users with two clients have rows in every table. The test exchanges the values of each column of each two rows, and
// then everything that one user or client can read. No response may contain a value of the other, whose texts all contain
// a mark. A refusal is fine. The columns are read from the schema.

const marks = ['alphamark', 'betamark'] as const

const ofName = 'names a personal token on the pages of its user, and gives no access'
const ofAudit = '`audit verify` detects changes: test/records/audit-chain.test.ts'

/** The columns whose values are only displayed, with the reason. */
const displayed: Readonly<Record<string, string>> = {
  'audit.subject': ofAudit,
  'audit.user_id': ofAudit,
  'authorization.user_agent': 'names a device in a list',
  'authorization.user_id': 'lists an authorization; its tokens contain the user under their seal',
  'client.client_key': ofName,
  'client.name': ofName,
  'token.last_used_address': 'is an address in a list',
}

describe.each(storeNames)('on %s', (name) => {
  let it: AttackedServer
  let schema: ReadonlyMap<string, readonly Column[]>
  let reads: readonly (readonly (() => Promise<string>)[])[]
  /** The rows of each table before the first user, after the first, and after the second. */
  const rowsAfter: (readonly (readonly Row[])[])[] = []
  beforeAll(async () => {
    it = await startAttacked(name, { openidConnect: true, dangerouslyIgnoreLimits: true })
    const { app } = it
    schema = await schemaOf(it.db)
    const keepRows = async () => {
      const all: (readonly Row[])[] = []
      for (const table of schema.keys()) all.push(await it.db.run(`select * from ${table}`))
      rowsAfter.push(all)
    }
    await keepRows()
    // One after the other, so that the rows of each user are known.
    const all: (readonly (() => Promise<string>)[])[] = []
    for (const mark of marks) {
      all.push(
        await (async () => {
          const user = await app.newUser({ email: `${mark}@example.org` })
          const { agent } = await logIn({ ...app, user }, { 'user-agent': `${browser} ${mark}` })
          const client = await TestClient.register(app, agent, {
            name: `Client ${mark}`,
            userId: user.id,
            redirectUris: [`https://${mark}.example/cb`],
          })
          const claims = JSON.stringify({ userinfo: { email: null } })
          const issued = await client.tokens({ scope: 'openid notes:read', nonce: mark, claims })
          const accessToken = String(issued.access_token)
          const personal = await app.server.tokens.createPersonal(`Token ${mark}`, user.id)
          const pending = await agent.browse(client.url({ prompt: 'consent' }))
          await pending.body?.cancel()
          const get = (path: string, headers?: Record<string, string>) => async () => {
            const url = `${app.issuer}${path}`
            const response = headers
              ? await fetch(url, { headers })
              : await agent.fetch(url, { headers: { accept: 'text/html' } })
            return `${response.status} ${await response.text()}`
          }
          const bearer = { authorization: `Bearer ${accessToken}` }
          const list = '/account/settings/applications/'
          return [
            get('/oauth/userinfo', bearer),
            get('/oauth/info', { authorization: `Bearer ${personal.accessToken}` }),
            get(`${list}clients/`),
            get(`${list}clients/${client.clientId}/`),
            get(`${list}tokens/`),
            get(`${list}tokens/${personal.id}/`),
            get(`${list}authorized/`),
            get('/account/settings/sessions/'),
            get('/account/settings/activity/'),
            get(`/oauth/authorize?${new URL(client.url({ prompt: 'consent' })).searchParams}`),
            async () =>
              JSON.stringify((await client.token({ grant_type: 'client_credentials' })).body),
            async () => {
              const { body } = await postForm(
                `${app.issuer}/oauth/introspect`,
                { token: accessToken },
                basicOf(client),
              )
              return JSON.stringify(body)
            },
          ]
        })(),
      )
      await keepRows()
    }
    reads = all
  }, 60_000)
  afterAll(() => it.close())

  const responses = async (): Promise<readonly (readonly string[])[]> =>
    Promise.all(reads.map((own) => Promise.all(own.map((read) => read()))))

  const write = async (table: string, rows: readonly Row[]): Promise<void> => {
    await it.db.run(`delete from ${table}`)
    for (const row of rows)
      await it.db.run(
        `insert into ${table} (${Object.keys(row).join(', ')}) values (${Object.values(row).map(literal).join(', ')})`,
      )
  }

  test('DB-05 no exchange of a column between two rows gives anybody a value of another [T4256]', async () => {
    const before = await responses()
    for (const [at, mark] of marks.entries())
      expect(before[at]?.filter((text) => text.includes(mark)).length).toBeGreaterThan(6)
    const leaked: string[] = []
    let tried = 0
    for (const [number, [table, columns]] of [...schema].entries()) {
      const [others = [], first = [], rows = []] = rowsAfter.map((tables) => tables[number] ?? [])
      const pairs = rows
        .slice(first.length)
        .map((other, at) => [rows[others.length + at] ?? other, other] as const)
      for (const { name: column } of columns) {
        const short = `${table.replace('oauth2server_', '')}.${column}`
        for (const [one, other] of pairs.slice(-2)) {
          if (one[column] === other[column]) continue
          const swapped = rows.map((row) =>
            row === one
              ? { ...row, [column]: other[column] ?? null }
              : row === other
                ? { ...row, [column]: one[column] ?? null }
                : row,
          )
          tried += 1
          try {
            await write(table, swapped)
            for (const [at, own] of (await responses()).entries()) {
              const foreign = marks[1 - at] ?? ''
              for (const [index, text] of own.entries()) {
                if (text.includes(foreign) && !(short in displayed))
                  leaked.push(`${short}: response ${index} of ${marks[at]}`)
                if (/^5|server_error/.test(text)) leaked.push(`${short}: 500 of ${index}`)
              }
            }
          } catch (error) {
            // The database refuses the exchange, for instance because of a unique column.
            if (!/constraint|unique/i.test(String(error))) throw error
          } finally {
            await write(table, rows)
          }
        }
      }
    }
    expect([...new Set(leaked)]).toEqual([])
    expect(tried).toBeGreaterThan(50)
    expect(await responses()).toHaveLength(2)
  }, 300_000)
})

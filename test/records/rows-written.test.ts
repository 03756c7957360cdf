import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type AuthorizationServer, type StoreOpener, StoreUnavailable } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { createTestServer } from 'svc-oauth2server/testing'
import { describe, expect, test } from 'vitest'
import { count, execute, query } from '../support/database.ts'
import { databaseFolder } from '../support/database-folder.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'

interface Database {
  readonly opener: StoreOpener
  run(statement: string): Promise<unknown>
  /** Returns SQL for a table whose column `i` contains the numbers from 1 to `to`. */
  numbers(to: number): string
  /** Adds triggers that count each row that a later statement inserts, updates or deletes. */
  watch(): Promise<void>
  written(): Promise<number>
  remove(): Promise<unknown>
}

const events = ['insert', 'update', 'delete']

const inSqlite = async (): Promise<Database> => {
  const folder = await databaseFolder()
  const file = join(folder, 'test.sqlite')
  const run = async (statement: string) => execute(file, statement)
  return {
    opener: sqlite(file),
    run,
    numbers: (to) =>
      `(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${to}) select i from n) as n`,
    async watch() {
      await run('create table written (name text)')
      const tables = query<{ name: string }>(
        file,
        "select name from sqlite_schema where type = 'table' and name like 'oauth2server%'",
      )
      for (const { name } of tables)
        for (const event of events)
          await run(
            `create trigger watch_${name}_${event} after ${event} on ${name} begin insert into written values ('${name}'); end`,
          )
    },
    written: async () => count(file, 'written'),
    remove: () => rm(folder, { recursive: true }),
  }
}

const inPostgres = async (): Promise<Database> => {
  const { url, query: run, drop } = await makeDatabase()
  return {
    opener: postgres(url, { poolSize: 2 }),
    run,
    numbers: (to) => `generate_series(1, ${to}) as n(i)`,
    async watch() {
      await run(`create table written (name text);
        create function watch() returns trigger language plpgsql as
          'begin insert into written values (tg_table_name); return null; end';
        do $$ declare t regclass; begin
          for t in select oid from pg_class where relkind = 'r' and relname like 'oauth2server%' loop
            execute format('create trigger watch after ${events.join(' or ')} on %s for each row execute function watch()', t);
          end loop;
        end $$`)
    },
    written: async () => Number((await run('select count(*) as n from written'))[0]?.n),
    remove: drop,
  }
}

const changes: Record<string, (server: AuthorizationServer, clientId: string) => Promise<unknown>> =
  {
    'another id': (server, clientId) => server.clients.resetClientId(clientId),
    'another secret': (server, clientId) => server.clients.resetClientSecret(clientId),
    'becoming public': (server, clientId) =>
      server.clients.update(clientId, { isConfidential: false }),
  }

const kinds = [
  { name: 'SQLite', make: inSqlite, isLacking: false },
  { name: 'PostgreSQL', make: inPostgres, isLacking: await lacks('postgres') },
]

describe.each(kinds)('the rows that one call writes: $name', ({ make, isLacking }) => {
  test.skipIf(isLacking)('do not depend on the number of tokens of the client', async () => {
    const database = await make()
    const server = await createTestServer({
      store: database.opener,
      // Ignore the rows of a previous client key, which the server removes later in batches.
      async aroundStore({ name }, run) {
        if (name === 'removals.removeSome') throw new StoreUnavailable(name)
        return run()
      },
    })
    try {
      /** Creates a confidential client with `number` authorizations, tokens and rotated refresh tokens. */
      const clientWith = async (number: number) => {
        const { client } = await server.clients.create({ name: `With ${number}` })
        const { clientKey } = client
        const tag = `'${clientKey}-' || i`
        await database.run(
          `insert into oauth2server_authorization (client_key, scopes, created_at, expires_at)
           select ${clientKey}, '', 1, 9e15 from ${database.numbers(number)}`,
        )
        await database.run(
          `insert into oauth2server_token (client_key, token_type, access_token, access_token_digest, expires, ends_at, scopes, is_personal, is_internal, created_at)
           select ${clientKey}, 'bearer', 'x', ${tag}, 9e15, 9e15, '', 0, 0, 1 from ${database.numbers(number)}`,
        )
        await database.run(
          `insert into oauth2server_rotated_refresh_token (digest, authorization_id, successor, parameters, rotated_at, seal)
           select ${tag}, (select max(id) from oauth2server_authorization), '', '', 1, '' from ${database.numbers(number)}`,
        )
        return client.clientId
      }
      const clients: [number, string][] = []
      for (const number of [2, 400])
        for (const _ of Object.keys(changes)) clients.push([number, await clientWith(number)])
      await database.watch()
      const writtenBy = async (number: number) => {
        const written: Record<string, number> = {}
        for (const [name, change] of Object.entries(changes)) {
          const next = clients.findIndex(([of]) => of === number)
          const [[, clientId = ''] = []] = clients.splice(next, 1)
          const before = await database.written()
          await change(server, clientId)
          written[name] = (await database.written()) - before
        }
        return written
      }
      const few = await writtenBy(2)
      for (const rows of Object.values(few)) expect(rows).toBeGreaterThan(0)
      for (const rows of Object.values(few)) expect(rows).toBeLessThan(8)
      expect(await writtenBy(400)).toEqual(few)
    } finally {
      await server.close()
      await database.remove()
    }
  })
})

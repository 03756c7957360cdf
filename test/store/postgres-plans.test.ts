import pg from 'pg'
import { StoreUnavailable } from 'svc-oauth2server'
import { expect, test } from 'vitest'
import { PostgresDialect } from '../../src/store/sql/postgres/dialect.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'

const isLacking = await lacks('postgres')

test.skipIf(isLacking)(
  'throws StoreUnavailable for an outage while a statement is prepared again [T2706]',
  async () => {
    const { url, query, drop } = await makeDatabase()
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => undefined)
    await client.connect()
    const pid = (await client.query('select pg_backend_pid() as pid')).rows[0].pid
    await query('create table changing (a int)')
    let attempts = 0
    const dialect = new PostgresDialect(
      {
        async acquire() {
          return {
            async query(text, values, name) {
              attempts += 1
              // The third attempt prepares the statement again.
              if (attempts === 3) await query(`select pg_terminate_backend(${pid})`)
              const { rows } = await client.query({
                text,
                values: [...values],
                ...(name && { name }),
              })
              return { rows, changes: 0 }
            },
            release: () => undefined,
          }
        },
        end: async () => undefined,
      },
      { prepare: true },
    )
    const read = () => dialect.run('select * from changing', [])
    expect((await read()).rows).toEqual([])
    await query('alter table changing add column b int')
    await expect(read()).rejects.toBeInstanceOf(StoreUnavailable)
    expect(attempts).toBe(3)
    await client.end().catch(() => undefined)
    await drop()
  },
)

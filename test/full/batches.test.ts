import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { sqlite } from 'svc-oauth2server/sqlite'
import { describe, expect, test } from 'vitest'
import { postgres } from '../../src/store/postgres.ts'
import type { StoreOpener } from '../../src/store/store.ts'
import { aClient } from '../store/rows.ts'
import { query } from '../support/database.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { plainEnvironment, temporaryFolder } from '../support/processes.ts'

const fixture = join(import.meta.dirname, 'fixtures/batch.ts')

/** Runs fifty inserts in a child process. @returns the inserts that completed, and the signal that ended the process */
const inserts = async (moment: string, place: string, clientId: string) => {
  const child = fork(fixture, [moment, place, clientId], { env: plainEnvironment() })
  const answered: unknown[] = []
  child.on('message', (id) => answered.push(id))
  const [, signal] = await once(child, 'exit')
  return { answered, signal }
}

const prepared = async (opener: StoreOpener): Promise<string> => {
  const store = await opener.open()
  await store.migrate()
  const clientId = await aClient(store)
  await store.close()
  return clientId
}

const count = 'select count(*) as n from oauth2server_token'

const withoutPostgres = await lacks('postgres')

describe('I2 a process that inserts a batch of tokens', () => {
  describe('SQLite', () => {
    const run = async (moment: string) => {
      await using folder = await temporaryFolder()
      const path = join(folder.path, 'test.sqlite')
      const result = await inserts(moment, path, await prepared(sqlite(path)))
      const [row] = query(path, count)
      expect(query(path, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
      return { ...result, rows: row?.n }
    }

    test.each(['half', 'written'])(
      'completes no insert and stores no row if the process is killed before the commit (%s)',
      async (moment) => {
        expect(await run(moment)).toEqual({ answered: [], signal: 'SIGKILL', rows: 0 })
      },
    )

    test('stores every row, although no insert completes, if the process is killed after the commit', async () => {
      expect(await run('done')).toEqual({ answered: [], signal: 'SIGKILL', rows: 50 })
    })

    test('completes every insert and stores every row if the process is not killed', async () => {
      const { answered, ...rest } = await run('never')
      expect(rest).toEqual({ signal: null, rows: 50 })
      expect(new Set(answered).size).toBe(50)
    })
  })

  describe.skipIf(withoutPostgres)('PostgreSQL', () => {
    const run = async (moment: string) => {
      const database = await makeDatabase()
      try {
        const result = await inserts(moment, database.url, await prepared(postgres(database.url)))
        // PostgreSQL completes a statement that it has received, even if the client has disconnected.
        await expect
          .poll(() =>
            database.query(
              `select 1 from pg_stat_activity where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`,
            ),
          )
          .toEqual([])
        const [row] = await database.query(count)
        return { ...result, rows: Number(row?.n) }
      } finally {
        await database.drop()
      }
    }

    test('stores either every row or no row if the process is killed after it sent the batch', async () => {
      const { rows, ...rest } = await run('sent')
      expect(rest).toEqual({ answered: [], signal: 'SIGKILL' })
      expect([0, 50]).toContain(rows)
    })

    test('stores every row, although no insert completes, if the process is killed after the batch', async () => {
      expect(await run('done')).toEqual({ answered: [], signal: 'SIGKILL', rows: 50 })
    })
  })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from 'svc-oauth2server/sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { execute, query } from '../support/database.ts'
import { migrateToSecond, secondIndex, secondName } from '../support/second-version.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oauth2server-online-'))
})
afterAll(() => rm(folder, { recursive: true }))

test('SQLite: fills a column in batches of 1,000 rows, and continues after an interruption', async () => {
  const path = join(folder, 'test.sqlite')
  const store = await sqlite(path).open()
  await store.migrate()
  execute(
    path,
    `insert into oauth2server_token
      (client_key, token_type, access_token, access_token_digest, scopes, is_personal, is_internal, created_at)
    with recursive copies(copy) as (select 1 union all select copy + 1 from copies where copy < 3500)
    select 1, 'bearer', '', 'copy ' || copy, 'notes:read', 0, 0, 0 from copies`,
  )
  // Make the migration fail at row 2,500, in the third batch.
  execute(
    path,
    `create trigger stop before update on oauth2server_token when new.id = 2500
     begin select raise(abort, 'stopped'); end`,
  )
  await expect(migrateToSecond(store)).rejects.toThrow('stopped')
  const filled = () =>
    query(path, 'select count(scopes_copy) as filled from oauth2server_token')[0]?.filled
  expect(filled()).toBe(2_000)
  const pending = [{ name: secondName, direction: 'up' }]
  expect(await migrateToSecond(store, { dryRun: true })).toEqual(pending)

  execute(path, 'drop trigger stop')
  expect(await migrateToSecond(store)).toEqual(pending)
  expect(filled()).toBe(3_500)
  expect(query(path, `select name from sqlite_master where name = '${secondIndex}'`)).toEqual([
    { name: secondIndex },
  ])
  expect(await migrateToSecond(store)).toEqual([])
  await store.close()
})

test('SQLite: reports a migration once if another process completes its online steps first', async () => {
  const path = join(folder, 'two-processes.sqlite')
  const [first, second] = await Promise.all([sqlite(path).open(), sqlite(path).open()])
  await first.migrate()
  let ofSecond: unknown
  const ofFirst = await migrateToSecond(first, {
    beforeOnline: async () => {
      ofSecond = await migrateToSecond(second)
    },
  })
  expect(ofSecond).toEqual([{ name: secondName, direction: 'up' }])
  expect(ofFirst).toEqual([])
  expect(await migrateToSecond(first)).toEqual([])
  await Promise.all([first.close(), second.close()])
})

import { describe, expect, test, vi } from 'vitest'
import { lacks } from '../support/needs.ts'
import { startPostgres, startReplica } from '../support/own-postgres.ts'
import { queryAt } from '../support/postgres.ts'

describe.skipIf(await lacks('postgres programs'))('a replica for tests of a fail-over', () => {
  test('receives the writes of its primary, and accepts writes after its promotion', async () => {
    await using primary = await startPostgres()
    await using replica = await startReplica(primary)
    const ids = () => queryAt(replica.url, 'select id from note order by id')
    await queryAt(primary.url, 'create table note as select 1 as id')
    await vi.waitFor(async () => expect(await ids()).toEqual([{ id: 1 }]), { timeout: 60_000 })
    const write = () => queryAt(replica.url, 'insert into note values (2)')
    await expect(write()).rejects.toThrow(/read-only/)
    await primary.stop('immediate')
    await replica.promote()
    await write()
    expect(await ids()).toEqual([{ id: 1 }, { id: 2 }])
  })
})

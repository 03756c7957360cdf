import { postgres } from 'svc-oauth2server/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OpenStore } from '../../src/store/store.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase, type TestDatabase } from '../support/postgres.ts'

describe.skipIf(await lacks('postgres'))('the pool of PostgreSQL', () => {
  let database: TestDatabase
  let store: OpenStore
  beforeAll(async () => {
    database = await makeDatabase()
    store = await postgres(database.url, { poolSize: 2 }).open()
    await store.migrate()
  })
  afterAll(async () => {
    await store.close()
    await database.drop()
  })

  test('reports its connections and the number of callers that wait for a connection', async () => {
    expect(store.poolStats?.()).toEqual({ total: 1, idle: 1, waiting: 0 })
    const held = Promise.withResolvers<void>()
    const busy = [1, 2, 3].map(() => store.transaction(() => held.promise))
    await expect.poll(() => store.poolStats?.()).toEqual({ total: 2, idle: 0, waiting: 1 })
    held.resolve()
    await Promise.all(busy)
    expect(store.poolStats?.()).toEqual({ total: 2, idle: 2, waiting: 0 })
  })
})

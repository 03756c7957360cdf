import { postgres } from 'svc-oauth2server/postgres'
import { describe, expect, test } from 'vitest'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { clientUnder, under } from './sealed-contract.ts'

describe.skipIf(await lacks('postgres'))('sealed rows in PostgreSQL', () => {
  test('skips a row that another transaction has locked, without waiting', async () => {
    const database = await makeDatabase()
    const store = await postgres(database.url).open()
    try {
      await store.migrate()
      const clients = [clientUnder('old'), clientUnder('old'), clientUnder('old')]
      for (const client of clients) await store.clients.insert(client)
      const { rows } = await store.sealed.clients.notUnder('new', null, 100)
      const resealed = rows.map((before) => ({ before, sealed: [under('new'), under('new')] }))
      const held = clients[1]?.fields.clientId ?? ''
      await store.transaction(async (tx) => {
        // Finding a row in a transaction locks the row.
        await tx.clients.find(held)
        expect(await store.sealed.clients.reseal(resealed)).toBe(2)
      })
      expect((await store.clients.find(held))?.seal).toMatch('old.')
      expect(await store.sealed.clients.reseal(resealed)).toBe(1)
      expect((await store.clients.find(held))?.seal).toMatch('new.')
    } finally {
      await store.close()
      await database.drop()
    }
  })
})

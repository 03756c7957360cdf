import { randomUUID } from 'node:crypto'
import { postgres } from 'svc-oauth2server/postgres'
import { describe, expect, test } from 'vitest'
import type { RowKey } from '../../src/store/store.ts'
import { lacks } from '../support/needs.ts'
import { pglite } from '../support/pglite.ts'
import { makeDatabase } from '../support/postgres.ts'
import { aClient, clientRow, consentRow } from './rows.ts'
import { under } from './sealed-contract.ts'

describe.skipIf(await lacks('postgres'))('sealed rows in PostgreSQL', () => {
  test('a row that somebody is writing is left out, and nobody waits for it', async () => {
    const database = await makeDatabase()
    const store = await postgres(database.url).open()
    try {
      await store.migrate()
      const clients = [clientRow(), clientRow(), clientRow()]
      for (const client of clients) await store.clients.insert({ ...client, seal: under('old') })
      const { rows } = await store.sealed.clients.notUnder('new', null, 100)
      const resealed = rows.map((before) => ({ before, sealed: [under('new')] }))
      const held = clients[1]?.fields.clientId ?? ''
      await store.transaction(async (tx) => {
        // Reading a row in a transaction holds it.
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

test('consents of users whose keys are of the type uuid are found, part by part', {
  timeout: 60_000,
}, async () => {
  const opener = await pglite()
  const store = await opener.open('elsewhere', 'uuid')
  try {
    await store.migrate()
    const [one, another] = [await aClient(store), await aClient(store)]
    for (let index = 0; index < 5; index += 1) {
      const userId = randomUUID()
      for (const clientId of [one, another])
        await store.consents.put({ ...consentRow({ userId, clientId }), seal: under('old') })
    }
    const found = new Set<string>()
    let after: RowKey | null = null
    do {
      const part = await store.sealed.consents.notUnder('new', after, 3)
      for (const before of part.rows) {
        found.add(before.key.join(' '))
        expect(await store.sealed.consents.reseal([{ before, sealed: [under('new')] }])).toBe(1)
      }
      after = part.next
    } while (after)
    expect(found.size).toBe(10)
    // There are no passwords with us: neither a row, nor a table to look for one.
    expect(await store.sealed.users.notUnder('new', null, 10)).toEqual({ rows: [], next: null })
  } finally {
    await store.close()
    await opener.end()
  }
})

import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { RowKey } from '../../src/store/contract/sealed.ts'
import { pglite } from '../support/pglite.ts'
import { storeContract } from './contract.ts'
import { aClient, consentRow } from './rows.ts'
import { under } from './sealed-contract.ts'

storeContract(
  'PGlite',
  async () => {
    const opener = await pglite()
    return { opener, cleanUp: () => opener.end() }
  },
  { isShared: false },
)

test('finds consents of users with uuid keys, page by page', {
  timeout: 600_000,
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
    // The application manages the passwords, so the store has no table of users.
    expect(await store.sealed.users.notUnder('new', null, 10)).toEqual({ rows: [], next: null })
  } finally {
    await store.close()
    await opener.end()
  }
})

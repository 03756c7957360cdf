import { sqlite } from 'svc-oauth2server/sqlite'
import { expect, test } from 'vitest'
import { aUser, sessionRow } from './rows.ts'

test('a change without a condition and a page after an incomplete place are refused [T4770]', async () => {
  const store = await sqlite(':memory:').open()
  try {
    await store.migrate()
    const userId = await aUser(store)
    const session = sessionRow({ userId })
    await store.sessions.insert(session)
    for (const where of [{}, { userId: undefined }]) {
      await expect(store.sessions.delete(where)).rejects.toThrow(TypeError)
      await expect(store.sessions.update(where, { lastSeenAt: 1 })).rejects.toThrow(TypeError)
    }
    // Without a value of the order, the next page would be empty.
    const place = { by: ['createdAt', 'id'], after: { createdAt: 1 } } as const
    await expect(store.sessions.select({}, place)).rejects.toThrow(TypeError)
    const found = await store.sessions.find(session.id)
    expect(found?.session).toEqual(session)
  } finally {
    await store.close()
  }
})

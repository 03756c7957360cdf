import { sqlite } from 'svc-oauth2server/sqlite'
import { expect, test } from 'vitest'
import { aUser, sessionRow } from './rows.ts'

test('an update or deletion without a condition is refused, because it would reach every row [T4770]', async () => {
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
    const found = await store.sessions.find(session.id)
    expect(found?.session).toEqual(session)
  } finally {
    await store.close()
  }
})

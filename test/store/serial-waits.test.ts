import { expect, test } from 'vitest'
import { makeDatabase } from '../support/postgres.ts'
import { measureSerialWaits } from '../support/serial-waits.ts'

/** The most waits for PostgreSQL of each kind of request, one after the other. */
const most = {
  authorize: 2,
  'code exchange': 3,
  'code exchange with an ID token': 3,
  refresh: 2,
  introspection: 1,
  client_credentials: 1,
  'bearer check': 1,
  'device polling': 5,
  revocation: 8,
}

test('no request waits for PostgreSQL more often than it must [T4500]', async () => {
  const database = await makeDatabase()
  try {
    const counted = await measureSerialWaits(database.url)
    expect(Object.fromEntries(counted)).toEqual(most)
  } finally {
    await database.drop()
  }
})

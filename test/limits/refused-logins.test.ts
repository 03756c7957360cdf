import { postgres } from 'svc-oauth2server/postgres'
import { describe, expect, test } from 'vitest'
import { lacks } from '../support/needs.ts'
import { recordOperations } from '../support/operations.ts'
import { makeDatabase } from '../support/postgres.ts'
import { guesser, here, start } from './support.ts'

/**
 * The maximum number of store operations of a login with a wrong password: one read and two writes of stored guesses,
 * the look-up of the account, the counters of the address and the network, and one write of audit events.
 */
const maxOperations = 7
/**
 * The maximum number of store operations of a login that is rejected before hashing: one read of stored guesses, and
 * one write of audit events.
 */
const maxWhenRefused = 2

const lacksPostgres = await lacks('postgres')

const stores = [
  { name: 'SQLite', options: async () => ({ options: {}, drop: async () => undefined }) },
  {
    name: 'PostgreSQL',
    options: async () => {
      const database = await makeDatabase()
      return { options: { store: postgres(database.url) }, drop: database.drop }
    },
  },
]

describe.each(stores)('a failed login on $name', ({ name, options: open }) => {
  test.skipIf(name === 'PostgreSQL' && lacksPostgres)(
    'needs at most seven store operations, and at most two once the limit is reached',
    async () => {
      const { options, drop } = await open()
      try {
        const { operations: asked, aroundStore } = recordOperations()
        await using app = await start({ ...options, aroundStore })
        const guess = guesser(app, here)
        const costs: (readonly string[])[] = []
        for (let wrong = 0; wrong < 15; wrong += 1) {
          asked.length = 0
          const { status } = await guess(`guess ${wrong}`)
          expect(status).toBe(wrong < 10 ? 403 : 429)
          costs.push([...asked])
        }
        for (const [index, cost] of costs.entries())
          expect(cost.length, cost.join()).toBeLessThanOrEqual(
            index < 10 ? maxOperations : maxWhenRefused,
          )
      } finally {
        await drop()
      }
    },
  )
})

import type { AroundStore } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { describe, expect, test } from 'vitest'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { guesser, here, start } from './support.ts'

/**
 * Operations of the store that a refused login may cost: two for the places of the account, the look-up of the
 * account, the counter of the address, and the audit events of a second, which are written together.
 */
const mostOperations = 5

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

describe.each(stores)('a refused login on $name', ({ name, options: open }) => {
  test.skipIf(name === 'PostgreSQL' && lacksPostgres)(
    'costs a handful of database operations, however many wrong passwords came before',
    async () => {
      const { options, drop } = await open()
      try {
        const asked: string[] = []
        const aroundStore: AroundStore = (operation, run) => {
          asked.push(operation.name)
          return run()
        }
        await using app = await start({ ...options, aroundStore })
        const guess = guesser(app, here)
        const costs: (readonly string[])[] = []
        for (let wrong = 0; wrong < 25; wrong += 1) {
          asked.length = 0
          const { status } = await guess(`guess ${wrong}`)
          expect(status).toBe(wrong < 20 ? 403 : 429)
          costs.push([...asked])
        }
        for (const cost of costs)
          expect(cost.length, cost.join()).toBeLessThanOrEqual(mostOperations)
      } finally {
        await drop()
      }
    },
  )
})

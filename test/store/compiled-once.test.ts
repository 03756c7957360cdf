import { DefaultQueryCompiler } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import { lacks } from '../support/needs.ts'
import { newDatabase } from '../support/new-database.ts'
import { type Around, requestsTo } from '../support/request-kinds.ts'

const isLacking = await lacks('postgres')

describe.each(['SQLite', 'PostgreSQL'] as const)('on %s', (name) => {
  const isSkipped = name === 'PostgreSQL' && isLacking
  test.skipIf(isSkipped)(
    'a request compiles no statement that an earlier request of its kind has compiled [T4731]',
    async () => {
      const { opener, drop } = await newDatabase[name]()
      try {
        await using requests = await requestsTo({ store: opener, tokenExchange: true })
        await requests.send((_kind, send) => send().then(() => undefined))
        const compiled: Record<string, string[]> = {}
        const { compileQuery } = DefaultQueryCompiler.prototype
        using _ = vi.spyOn(DefaultQueryCompiler.prototype, 'compileQuery')
        const count: Around = async (kind, send) => {
          const texts: string[] = []
          compiled[kind] = texts
          vi.mocked(DefaultQueryCompiler.prototype.compileQuery).mockImplementation(function (
            this: DefaultQueryCompiler,
            ...given
          ) {
            const query = compileQuery.apply(this, given)
            // A timer writes routine events and their counts from JSON, up to a second after a request.
            if (!/json_(?:each|populate_recordset)/.test(query.sql)) texts.push(query.sql)
            return query
          })
          await send()
        }
        await requests.send(count)
        expect(Object.keys(compiled)).toHaveLength(10)
        expect(compiled).toEqual(
          Object.fromEntries(Object.keys(compiled).map((kind) => [kind, []])),
        )
      } finally {
        await drop()
      }
    },
  )
})

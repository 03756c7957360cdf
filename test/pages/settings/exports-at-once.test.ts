import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AroundStore } from 'svc-oauth2server'
import { expect, test } from 'vitest'
import { startServer } from '../../support/server.ts'
import { databaseKinds, makeDatabase } from '../../users/databases.ts'
import { at, Person } from './support.ts'

test.each(databaseKinds)(
  'several exports at once read one batch at a time, so that other requests come in between, on %s [T4668]',
  async (kind) => {
    await using all = new AsyncDisposableStack()
    const database = await makeDatabase(kind)
    all.defer(database.remove)
    let running = 0
    let most = 0
    let batches = 0
    const aroundStore: AroundStore = async ({ name }, run) => {
      if (name !== 'audit.list latest') return run()
      running += 1
      batches += 1
      most = Math.max(most, running)
      await nextTurn()
      return run().finally(() => {
        running -= 1
      })
    }
    await using app = await startServer({ store: database.store, aroundStore })
    const person = await Person.logIn(app)
    const address = `${app.issuer}${at.activity}export/?format=jsonl`
    const texts = await Promise.all(
      Array.from({ length: 6 }, async () => (await person.session.agent.fetch(address)).text()),
    )
    expect(new Set(texts).size).toBe(1)
    expect(texts[0]).toContain('login.succeeded')
    expect([batches, most]).toEqual([6, 1])
  },
)

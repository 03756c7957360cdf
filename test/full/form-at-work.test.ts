import { expect, test } from 'vitest'
import { at, Person } from '../pages/settings/support.ts'
import { count } from '../support/database.ts'
import { startServer } from '../support/server.ts'
import { en } from '../support/texts.ts'

// This test is slow, because the second request waits five seconds for the result of the first.
test('sending a form again during a slow first request returns 409 with an explanation, and creates one object', async () => {
  let isHolding = false
  let release: () => void = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await using slow = await startServer({
    aroundStore: async ({ name }, operation) => {
      if (isHolding && name === 'transaction') await held
      return operation()
    },
  })
  const who = await Person.logIn(slow)
  const shown = (await who.get(at.newClient)).form(at.newClient)
  isHolding = true
  const first = who.send(shown, { name: 'Slow' })
  const second = await who.send(shown, { name: 'Slow' })
  expect([second.status, second.text]).toEqual([409, expect.stringContaining(en.problem.atWork)])
  release()
  const { status, location } = await first
  expect(status).toBe(303)
  expect((await who.send(shown, { name: 'Slow' })).location).toBe(location)
  expect(count(slow.database, 'oauth2server_client')).toBe(1)
})

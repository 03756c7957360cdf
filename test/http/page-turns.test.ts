import { setImmediate as nextTurn } from 'node:timers/promises'
import { createTestServer } from 'svc-oauth2server/testing'
import { expect, test } from 'vitest'

/** Requests 60 pages concurrently from one network, and something else one event-loop turn later. */
const pagesBefore = async (path: string, remoteAddress: string): Promise<number> => {
  const server = await createTestServer()
  try {
    const ask = async (of: string, address: string) => {
      const answer = await server.fetch(new Request(`${server.issuer}${of}`), {
        remoteAddress: address,
      })
      await answer.text()
      return answer.status
    }
    expect(await ask(path, remoteAddress)).toBe(200)
    let answered = 0
    const pages = Array.from({ length: 60 }, (_, index) =>
      ask('/login', `192.0.2.${index}`).then(() => {
        answered += 1
      }),
    )
    await nextTurn()
    await ask(path, remoteAddress)
    const before = answered
    await Promise.all(pages)
    return before
  } finally {
    await server.close()
  }
}

test('does not delay an API request behind a burst of pages', async () => {
  expect(await pagesBefore('/health/live', '192.0.2.1')).toBeLessThan(20)
})

test('does not delay a browser of another network', async () => {
  expect(await pagesBefore('/login', '198.51.100.1')).toBeLessThan(20)
})

test('queues a browser of the same network', async () => {
  expect(await pagesBefore('/login', '192.0.2.99')).toBe(60)
})

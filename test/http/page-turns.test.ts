import { setImmediate as nextTurn } from 'node:timers/promises'
import { createTestServer } from 'svc-oauth2server/testing'
import { expect, test } from 'vitest'

/** Counts the pages of a burst from one network that are rendered before a later request gets its response. */
const pagesBefore = async (path: string, remoteAddress: string): Promise<number> => {
  const server = await createTestServer()
  try {
    const ask = async (of: string, address: string) => {
      const response = await server.fetch(new Request(`${server.issuer}${of}`), {
        remoteAddress: address,
      })
      await response.text()
      return response.status
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

test('returns an API response before most pages of an earlier burst are rendered', async () => {
  expect(await pagesBefore('/health/live', '192.0.2.1')).toBeLessThan(20)
})

test('renders a page for another network before most pages of an earlier burst', async () => {
  expect(await pagesBefore('/login', '198.51.100.1')).toBeLessThan(20)
})

test('renders a page for the same network after all pages of an earlier burst', async () => {
  expect(await pagesBefore('/login', '192.0.2.99')).toBe(60)
})

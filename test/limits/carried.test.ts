import { afterAll, beforeAll, expect, test } from 'vitest'
import { postForm } from '../support/form.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { TestClient, UserAgent } from '../support/user-agent.ts'

// What one part accepts, the next part must be able to carry: Node refuses headers of more than 16 KB.

let app: TestServer
let client: TestClient
beforeAll(async () => {
  app = await startServer()
  const agent = new UserAgent()
  await agent.logIn(app)
  client = await TestClient.register(app, agent)
})
afterAll(() => app.close())

const maxHeader = 16_384

test.each([
  ['ASCII characters', 'a'.repeat(4_096)],
  ['characters that triple', '%'.repeat(2_728)],
  ['4-byte characters', '😀'.repeat(680)],
])('the longest state of %s arrives at the client [T3424]', async (_, state) => {
  const answer = await client.ask({ state })
  expect(answer.searchParams.get('state')).toBe(state)
  expect(answer.href.length).toBeLessThan(maxHeader)
})

test.each([
  ['ASCII characters', 'a'.repeat(4_097)],
  ['characters that triple', '%'.repeat(4_096)],
  ['4-byte characters', '😀'.repeat(1_300)],
])(
  'a state of %s that a redirect cannot carry is refused, also in a form [T3425]',
  async (_, state) => {
    const { searchParams } = new URL(client.url({ state }))
    const response = await client.agent.fetch(`${app.issuer}/oauth/authorize`, {
      method: 'POST',
      body: searchParams,
    })
    const location = response.headers.get('location') ?? ''
    const answer = new URL(location, app.issuer).searchParams
    expect([response.status, answer.get('error'), answer.get('state')]).toEqual([
      303,
      'invalid_request',
      null,
    ])
    expect(location.length).toBeLessThan(maxHeader)
  },
)

test.each([1_000, 5_000, 15_000, 60_000])(
  'without a login, a request of %i characters reaches the login page or is refused, and never ends in a 431 [T3426]',
  async (length) => {
    const { searchParams } = new URL(client.url({ further: '%'.repeat(length / 3) }))
    const response = await postForm(
      `${app.issuer}/oauth/authorize`,
      Object.fromEntries(searchParams),
      { accept: 'text/html' },
    )
    const location = response.headers.get('location')
    if (location === null) {
      expect([400, 413]).toContain(response.status)
      return
    }
    const next = await fetch(new URL(location, app.issuer), { redirect: 'manual' })
    await next.body?.cancel()
    expect(next.status).toBe(200)
  },
)

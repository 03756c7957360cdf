import { redis } from 'svc-oauth2server/redis'
import { describe, expect, test } from 'vitest'
import { lacks } from '../support/needs.ts'
import { startRedis } from '../support/redis.ts'
import type { TestServer } from '../support/server.ts'
import { authorizationOf } from '../support/tokens.ts'
import { elsewhere, from, guesser, here, start } from './support.ts'

const limits = {
  wrongPasswordsOfAccount: { points: 4, seconds: 600 },
  wrongTokens: { points: 4, seconds: 60 },
}

const ask = async ({ issuer }: TestServer, token: string, address: string = here) =>
  (
    await fetch(`${issuer}/api/me`, {
      headers: { authorization: `Bearer ${token}`, ...from(address) },
    })
  ).status

describe.skipIf(await lacks('redis'))('counters in Redis (FT-05)', () => {
  test('two nodes share counters, except while Redis is stopped, when each node counts separately', async () => {
    await using own = await startRedis()
    // The nodes of this test have different ports, and therefore different issuers.
    const transients = redis(own.url, { keyPrefix: 'nodes:' })
    await using a = await start({ limits, transients })
    await using b = await start({ limits, transients, beside: a })
    const { clientId } = await a.client()
    const { accessToken } = await authorizationOf(a, clientId)
    for (const node of [a, b, a, b]) expect(await ask(node, 'guess')).toBe(401)
    expect(await ask(b, accessToken)).toBe(429)
    expect(await a.query('select * from oauth2server_transient')).toEqual([])

    a.advance(60)
    const [guess, guessAtB] = [guesser(a, here), guesser(b, here)]
    for (const at of [guess, guessAtB, guess]) expect((await at('wrong')).status).toBe(403)
    await own.stop()
    // The counters in Redis are unavailable, so each node starts a new counter once.
    for (const at of [guess, guessAtB]) {
      for (let wrong = 0; wrong < 4; wrong += 1) expect((await at('wrong')).status).toBe(403)
      expect((await at(a.password)).status).toBe(429)
    }
    expect((await guesser(a, elsewhere)(a.password)).status).toBe(303)
    const refused = []
    for (let sent = 0; sent < 12; sent += 1) refused.push(await ask(a, 'guess', elsewhere))
    expect(refused.filter((status) => status === 401).length).toBeLessThanOrEqual(4)
    expect(refused.at(-1)).toBe(429)

    await own.start()
    a.advance(600)
    await expect
      .poll(async () => (await guess('wrong')).status, { timeout: 60_000, interval: 500 })
      .toBe(403)
    expect(await ask(a, accessToken)).toBe(200)
  })
})

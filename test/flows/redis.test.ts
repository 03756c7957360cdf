import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@redis/client'
import { redis } from 'svc-oauth2server/redis'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { newKey, proofBy, redeem, withKey } from '../support/dpop.ts'
import { lacks } from '../support/needs.ts'
import { freePort } from '../support/processes.ts'
import { type OwnRedis, startRedis } from '../support/redis.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { assertionOf, jwksOf, jwtBearer, newClientKey } from '../support/signing-client.ts'
import {
  authorizeUrl,
  ping,
  refusal,
  TestClient,
  type TokenResponse,
  tokenRequest,
  UserAgent,
} from '../support/user-agent.ts'

const health = async ({ issuer }: TestServer) => {
  const response = await fetch(`${issuer}/health/ready`)
  return [response.status, await response.json()]
}

const untilBack = (app: TestServer) =>
  vi.waitFor(async () => expect(await health(app)).toEqual([200, { status: 'ready' }]), {
    timeout: 60_000,
  })

describe.skipIf(await lacks('redis'))('two nodes with short-lived values in Redis', () => {
  let own: OwnRedis
  let a: TestServer
  let b: TestServer
  let client: TestClient
  beforeAll(async () => {
    own = await startRedis()
    // The nodes of this test have different ports, and therefore different issuers.
    const transients = redis(own.url, { keyPrefix: 'nodes:' })
    a = await startServer({ transients })
    b = await startServer({ transients, beside: a })
  })
  afterAll(async () => {
    await b.close()
    await a.close()
    await own[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    client = await TestClient.register(a, new UserAgent())
  })

  const emptyRedis = async () => {
    const direct = await createClient({ url: own.url }).connect()
    await direct.flushAll()
    direct.destroy()
  }

  /** Sends the same token request several times, alternately to both nodes. */
  const presented = (code: string, times: number): Promise<readonly TokenResponse[]> => {
    const atB = new TestClient(b, client.agent, client, 'basic')
    const redeem = (at: TestClient) => at.redeem(code, { code_verifier: client.pkce.verifier })
    return Promise.all(
      Array.from({ length: times }, (_, index) => redeem(index % 2 === 0 ? client : atB)),
    )
  }

  test('redeems a code at another node, and stores no short-lived values in the database [T783]', async () => {
    const code = await client.code()
    const [, atB] = await presented('x', 2)
    expect(atB && refusal(atB)).toBe('400 invalid_grant')
    const other = new TestClient(b, client.agent, client, 'basic')
    const { status, body } = await other.redeem(code, { code_verifier: client.pkce.verifier })
    expect(status).toBe(200)
    expect([await ping(a, body.access_token), await ping(b, body.access_token)]).toEqual([200, 200])
    expect(await a.query('select * from oauth2server_transient')).toEqual([])
  })

  test.each([1, 2, 3])(
    'redeems a code only once for 20 concurrent requests at two nodes (round %i)',
    async () => {
      const responses = await presented(await client.code(), 20)
      const successful = responses.filter(({ status }) => status === 200)
      expect(successful).toHaveLength(1)
      const refused = responses.filter((response) => response.status !== 200).map(refusal)
      expect(new Set(refused)).toEqual(new Set(['400 invalid_grant']))
      // The other 19 requests are replays, so both nodes reject the issued token.
      const token = successful[0]?.body.access_token ?? ''
      expect([await ping(a, token), await ping(b, token)]).toEqual([401, 401])
    },
  )

  test('issues only one code for 20 concurrent decisions', async () => {
    await client.agent.logIn(a)
    const html = await (await client.agent.browse(client.url())).text()
    const decide = () =>
      client.agent.submit(
        Object.assign(new Response(html), { address: `${a.issuer}/oauth/authorize` }),
        { confirm: 'yes' },
      )
    const responses = await Promise.all(Array.from({ length: 20 }, decide))
    const codes = responses
      .map((response) => new URL(response.headers.get('location') ?? a.issuer, a.issuer))
      .flatMap(({ searchParams }) => searchParams.getAll('code'))
    // A repetition of the form receives the response to the first submission.
    expect(new Set(codes).size).toBe(1)
  })

  test('expires a code according to the clock of the server', async () => {
    const code = await client.code()
    a.advance(60)
    expect(refusal(await client.redeem(code))).toBe('400 invalid_grant')
  })

  test('while Redis does not respond, returns 503 for a code and still accepts access tokens', async () => {
    const { access_token } = await client.tokens()
    const code = await client.code()
    own.pause()
    const refused = await client.redeem(code)
    expect(refusal(refused)).toBe('503 temporarily_unavailable')
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(JSON.stringify(refused.body)).not.toMatch(/redis/i)
    expect(await ping(b, access_token)).toBe(200)
    // An authorization request causes an error, not a login or a code.
    const asked = await client.agent.fetch(authorizeUrl(a.issuer, { client_id: client.clientId }))
    expect([303, 503]).toContain(asked.status)
    expect(asked.headers.get('location') ?? '').not.toMatch(/login|code=/)
    expect(await health(a)).toEqual([200, { status: 'ready', transients: 'away' }])
    expect((await fetch(`${a.issuer}/health/live`)).status).toBe(200)

    own.resume()
    await untilBack(a)
    expect((await client.redeem(code)).status).toBe(200)
  })

  test('after Redis lost its data, rejects codes but retains logins and consents [T623]', async () => {
    const code = await client.code()
    await own.stop()
    expect(refusal(await client.redeem(code))).toBe('503 temporarily_unavailable')
    await own.start()
    await untilBack(a)
    expect(refusal(await client.redeem(code))).toBe('400 invalid_grant')
    const again = await client.agent.fetch(client.url())
    expect(again.headers.get('location')).toContain('code=')
  })

  test('rejects a used client assertion after Redis is flushed [T621]', async () => {
    const key = await newClientKey()
    const { clientId } = await a.client({
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: jwksOf(key),
      defaultScopes: ['notes:read'],
    })
    const assertion = await assertionOf(a, clientId, key)
    const present = async ({ issuer }: TestServer) =>
      (
        await tokenRequest(issuer, {
          grant_type: 'client_credentials',
          client_assertion_type: jwtBearer,
          client_assertion: assertion,
        })
      ).status
    expect(await present(a)).toBe(200)
    await emptyRedis()
    expect(await present(a)).toBe(401)
    expect(await present(b)).toBe(401)
    const used = "select key from oauth2server_transient where key like 'client_assertion:%'"
    expect(await a.query(used)).toHaveLength(1)
    a.advance(1_000)
    await a.server.sweep()
    expect(await a.query(used)).toHaveLength(0)
  })

  test('accepts a used DPoP proof again after Redis is flushed, until the proof expires after 5 minutes [T622]', async () => {
    const key = await newKey()
    const { body } = await redeem(client, await client.code(), { dpop: key })
    const { access_token: accessToken } = body
    const dpop = await proofBy(key, { app: a, path: '/oauth/ping', method: 'GET', accessToken })
    const present = async (token = accessToken) => {
      const headers = { authorization: `DPoP ${token}`, dpop }
      return (await fetch(`${a.issuer}/oauth/ping`, { headers })).status
    }
    expect([await present(), await present()]).toEqual([200, 401])
    await emptyRedis()
    expect(await present('another token')).toBe(401)
    a.advance(300)
    expect([await present(), await present()]).toEqual([200, 401])
    await emptyRedis()
    a.advance(1)
    expect(await present()).toBe(401)
    // The token itself is still valid.
    expect((await withKey(key, accessToken, { app: a })).status).toBe(200)
  })

  test('starts and logs an error while Redis is unavailable, and uses Redis as soon as it is available', async () => {
    const port = await freePort()
    await using app = await startServer({ transients: redis(`redis://127.0.0.1:${port}`) })
    const away = { event: 'transients.away', level: 'error' }
    expect(app.log.find(({ event }) => event === away.event)).toMatchObject({
      ...away,
      message: expect.stringMatching(
        new RegExp(
          `^Redis at redis://127\\.0\\.0\\.1:${port} cannot be reached: connect ECONNREFUSED`,
        ),
      ),
    })
    expect(await health(app)).toEqual([200, { status: 'ready', transients: 'away' }])
    expect(await ping(app, await app.personalToken())).toBe(200)
    const late = await TestClient.register(app, new UserAgent())
    const refused = await late.redeem('x', { code_verifier: late.pkce.verifier })
    expect(refusal(refused)).toBe('503 temporarily_unavailable')

    await using _ = await startRedis([], { port })
    await untilBack(app)
    expect((await late.tokens()).access_token).toMatch(/./)
  })

  test('does not connect to Redis after the server is closed', async () => {
    const port = await freePort()
    const app = await startServer({ transients: redis(`redis://127.0.0.1:${port}`) })
    await app.close()
    await using late = await startRedis([], { port })
    // Fixed time: the server could still connect.
    await delay(1_500)
    const clients = String(await late.command('CLIENT', 'LIST'))
      .trim()
      .split('\n')
    expect(clients).toHaveLength(1)
  })

  test('refuses to start with a wrong Redis password', async () => {
    await using locked = await startRedis([], { password: 'right' })
    const transients = redis(`redis://:wrong@127.0.0.1:${locked.port}`)
    await expect(startServer({ transients })).rejects.toThrow(/WRONGPASS/)
  })

  test('passes Redis operations to aroundStore', async () => {
    const seen = new Set<string>()
    await using watched = await startServer({
      transients: redis(own.url),
      aroundStore: ({ name }, run) => {
        seen.add(name)
        return run()
      },
    })
    await (await TestClient.register(watched, new UserAgent())).tokens()
    await watched.server.isReady()
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'transients.put',
        'transients.get',
        'transients.take',
        'transients.ping',
        'ping',
      ]),
    )
  })

  test('closes the connection to Redis when the server is closed', async () => {
    const connections = async () =>
      String(await own.command('CLIENT', 'LIST'))
        .trim()
        .split('\n').length
    const before = await connections()
    const third = await startServer({ transients: redis(own.url) })
    expect(await connections()).toBe(before + 1)
    await third.close()
    await vi.waitFor(async () => expect(await connections()).toBe(before))
  })
})

import { type AroundStore, StoreUnavailable } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { basicOf, postForm } from '../support/form.ts'
import { register } from '../support/registration.ts'
import type { TestServer } from '../support/server.ts'
import { authorizationOf } from '../support/tokens.ts'
import { elsewhere, from, here, reached, start, waitOf } from './support.ts'

const limits = { wrongTokens: { points: 4, seconds: 60 } }

const ask = (
  app: TestServer,
  token: string,
  { address = here as string, path = '/api/me', headers = {} } = {},
): Promise<Response> =>
  fetch(`${app.issuer}${path}`, {
    headers: { authorization: `Bearer ${token}`, ...from(address), ...headers },
  })

describe('invalid tokens at a guard', () => {
  test('cause 429 with Retry-After instead of 401, so that clients do not discard valid tokens', async () => {
    await using app = await start({ limits })
    const token = await app.personalToken()
    for (let guess = 0; guess < 4; guess += 1)
      expect((await ask(app, `guess${guess}`)).status).toBe(401)
    for (const path of ['/api/me', '/oauth/ping', '/api/public']) {
      const refused = await ask(app, token, { path })
      expect([path, refused.status]).toEqual([path, 429])
      expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' })
      expect(refused.headers.has('www-authenticate')).toBe(false)
      expect(waitOf(refused)).toBeGreaterThan(0)
      expect(waitOf(refused)).toBeLessThanOrEqual(60)
    }
    expect((await ask(app, token, { address: elsewhere })).status).toBe(200)
    app.advance(60)
    expect((await ask(app, token)).status).toBe(200)
    expect(reached(app)).toEqual([['wrongTokens', here]])
  })

  test('cause a Retry-After header that scripts of other sites can read', async () => {
    await using app = await start({ limits })
    for (let guess = 0; guess < 4; guess += 1) await ask(app, 'guess')
    const { headers } = await ask(app, 'guess', { headers: { origin: 'https://spa.example' } })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-expose-headers')).toContain('Retry-After')
  })

  test.each(['mistyped', 'malformed', 'unknown', 'in the query'])(
    'are counted if the token is %s',
    async (how) => {
      await using app = await start({ limits, tokenPersonalPrefix: 'pat_' })
      const token = await app.personalToken()
      const last = token.endsWith('A') ? 'B' : 'A'
      const given = {
        mistyped: `${token.slice(0, -1)}${last}`,
        malformed: '{}',
        unknown: 'A'.repeat(60),
        'in the query': '',
      }[how]
      for (let guess = 0; guess < 4; guess += 1) {
        const { status } =
          how === 'in the query'
            ? await fetch(`${app.issuer}/api/me?access_token=guess`, { headers: from(here) })
            : await ask(app, given ?? '')
        expect(status).toBe(401)
      }
      expect((await ask(app, token)).status).toBe(429)
    },
  )

  test('are counted, but expired tokens, insufficient scopes and requests without a token are not', async () => {
    await using app = await start({ limits })
    const token = await app.personalToken()
    const { clientId } = await app.client()
    const { accessToken } = await authorizationOf(app, clientId)
    app.advance(3_600)
    for (let times = 0; times < 6; times += 1) {
      expect((await ask(app, accessToken)).status).toBe(401)
      expect((await ask(app, token, { path: '/api/notes' })).status).toBe(403)
      expect((await fetch(`${app.issuer}/api/me`, { headers: from(here) })).status).toBe(401)
    }
    expect((await ask(app, token)).status).toBe(200)
  })

  test('are counted with 20 writes if 100 of them arrive', async () => {
    let written = 0
    const aroundStore: AroundStore = ({ name }, run) => {
      if (name === 'transients.increment') written += 1
      return run()
    }
    const many = { wrongTokens: { points: 100, seconds: 60 } }
    await using app = await start({ limits: many, aroundStore })
    const statuses = []
    for (let guess = 0; guess < 103; guess += 1) statuses.push((await ask(app, 'guess')).status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(100)
    expect(statuses.slice(100)).toEqual([429, 429, 429])
    expect(written).toBe(20)
  })

  test('are counted by two nodes together', async () => {
    await using app = await start({ limits })
    await using node = await start({ beside: app, limits })
    const token = await app.personalToken()
    for (const at of [app, node, app, node]) expect((await ask(at, 'guess')).status).toBe(401)
    expect((await ask(node, token)).status).toBe(429)
    expect((await ask(app, 'guess')).status).toBe(401)
    expect((await ask(app, token)).status).toBe(429)
  })

  test('are still counted if the shared counters are unavailable', async () => {
    let isAway = false
    const aroundStore: AroundStore = ({ name }, run) => {
      if (isAway && name.startsWith('transients.')) throw new StoreUnavailable('gone')
      return run()
    }
    await using app = await start({ limits, aroundStore })
    const token = await app.personalToken()
    isAway = true
    for (let guess = 0; guess < 4; guess += 1) expect((await ask(app, 'guess')).status).toBe(401)
    expect((await ask(app, token)).status).toBe(429)
    expect((await ask(app, token, { address: elsewhere })).status).toBe(200)
  })
})

describe('the limit of invalid tokens at other endpoints', () => {
  test('counts registration access tokens (RFC 7592 §2)', async () => {
    await using app = await start({ limits, dynamicRegistration: 'open' })
    const { body } = await register(app, { redirect_uris: ['https://client.example/cb'] })
    const read = (token: string, address: string = here) =>
      fetch(String(body.registration_client_uri), {
        headers: { authorization: `Bearer ${token}`, ...from(address) },
      })
    for (let guess = 0; guess < 4; guess += 1) expect((await read('guess')).status).toBe(401)
    expect((await read(String(body.registration_access_token))).status).toBe(429)
    expect((await read(String(body.registration_access_token), elsewhere)).status).toBe(200)
  })

  test('counts initial access tokens (RFC 7591 §3)', async () => {
    const initialAccessToken = 'the-initial-access-token'
    await using app = await start({ limits, dynamicRegistration: 'token', initialAccessToken })
    const tryIt = async (token: string) =>
      (await register(app, undefined, { authorization: `Bearer ${token}`, ...from(here) })).status
    for (let guess = 0; guess < 4; guess += 1) expect(await tryIt('guess')).toBe(401)
    expect(await tryIt(initialAccessToken)).toBe(429)
  })

  test('counts subject tokens of a token exchange without client authentication (RFC 8693 §2.1)', async () => {
    await using app = await start({ limits, tokenExchange: true })
    const client = await app.client({ isConfidential: false })
    const exchange = (subject_token: string) =>
      postForm(
        `${app.issuer}/oauth/token`,
        {
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          subject_token,
          client_id: client.clientId,
        },
        from(here),
      )
    for (let guess = 0; guess < 4; guess += 1)
      expect((await exchange(`guess${guess}`)).status).toBe(400)
    expect((await exchange('guess')).status).toBe(429)
  })

  test.each(['without a client', 'with client authentication'])(
    'counts invalid subject tokens of an exchange %s, and above the limit also rejects a valid token',
    async (who) => {
      await using app = await start({ limits, tokenExchange: true })
      const client = await app.client()
      const personal = await app.personalToken(['notes:read'])
      const { accessToken } = await authorizationOf(app, client.clientId)
      const isClient = who.startsWith('with client')
      const exchange = (subject_token: string, address: string = here) =>
        postForm(
          `${app.issuer}/oauth/token`,
          {
            grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
            subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
            subject_token,
          },
          { ...(isClient ? basicOf(client) : {}), ...from(address) },
        )
      const right = isClient ? accessToken : personal
      const wrong = isClient ? 400 : 401
      // Valid tokens are not counted, and each invalid token is counted once.
      for (let guess = 0; guess < 3; guess += 1)
        expect((await exchange(`guess${guess}`)).status).toBe(wrong)
      expect((await exchange(right)).status).toBe(200)
      expect((await exchange('guess')).status).toBe(wrong)
      const responses = [await exchange(right), await exchange('guess')]
      for (const { status, body } of responses) {
        expect(status).toBe(429)
        expect(body).toEqual(responses[0]?.body)
      }
      expect((await ask(app, personal)).status).toBe(429)
      expect((await exchange(right, elsewhere)).status).toBe(200)
      expect(reached(app)).toEqual([['wrongTokens', here]])
    },
  )
})

describe('tokenQuota', () => {
  test('is disabled by default, so that a token allows any number of requests', async () => {
    await using app = await start()
    const token = await app.personalToken()
    for (let times = 0; times < 50; times += 1) expect((await ask(app, token)).status).toBe(200)
  })

  test('returns 429 with Retry-After beyond the quota of a token, for requests from any address', async () => {
    await using app = await start({ tokenQuota: 5 })
    const [token, another] = [await app.personalToken(), await app.personalToken()]
    for (let times = 0; times < 5; times += 1)
      expect((await ask(app, token, { address: `192.0.2.${times}` })).status).toBe(200)
    const refused = await ask(app, token)
    expect(refused.status).toBe(429)
    expect(waitOf(refused)).toBeGreaterThan(0)
    expect(refused.headers.get('access-control-expose-headers')).toContain('Retry-After')
    expect((await ask(app, another)).status).toBe(200)
    app.advance(60)
    expect((await ask(app, token)).status).toBe(200)
    expect(reached(app)).toEqual([['tokenQuota', null]])
  })

  test('informs the client about its quota in the headers of each response (draft-ietf-httpapi-ratelimit-headers)', async () => {
    await using app = await start({ tokenQuota: 2 })
    const token = await app.personalToken()
    const quotas = []
    for (let times = 0; times < 4; times += 1) {
      const { status, headers } = await ask(app, token)
      expect(headers.get('ratelimit-policy')).toBe('"token";q=2;w=60')
      const [, left, seconds] =
        /^"token";r=(\d+);t=(\d+)$/.exec(`${headers.get('ratelimit')}`) ?? []
      expect(Number(seconds)).toBeGreaterThan(0)
      expect(Number(seconds)).toBeLessThanOrEqual(60)
      quotas.push([status, Number(left)])
    }
    expect(quotas).toEqual([
      [200, 1],
      [200, 0],
      [429, 0],
      [429, 0],
    ])
  })

  test('adds no rate limit headers to responses to requests without a token, or without a quota', async () => {
    await using app = await start({ tokenQuota: 2 })
    const anonymous = await fetch(`${app.issuer}/api/public`)
    expect(anonymous.headers.get('ratelimit')).toBeNull()
    await using unlimited = await start()
    const { headers } = await ask(unlimited, await unlimited.personalToken())
    expect(headers.get('ratelimit')).toBeNull()
  })

  test('counts the requests of an exchanged token together with its parent (RFC 8693)', async () => {
    await using app = await start({ tokenQuota: 4, tokenExchange: true })
    const token = await app.personalToken(['notes:read'])
    const child = await postForm(`${app.issuer}/oauth/token`, {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      subject_token: token,
    })
    expect(child.status).toBe(200)
    const narrowed = String(child.body.access_token)
    for (const given of [token, narrowed, token, narrowed])
      expect((await ask(app, given)).status).toBe(200)
    for (const given of [token, narrowed]) expect((await ask(app, given)).status).toBe(429)
  })

  test('limits the concurrent requests to two nodes together', async () => {
    await using app = await start({ tokenQuota: 10 })
    await using node = await start({ beside: app, tokenQuota: 10 })
    const token = await app.personalToken()
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, index) => ask(index % 2 === 0 ? app : node, token)),
    )
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(20)
  })

  test('does not count a token that is refused for another reason', async () => {
    await using app = await start({ tokenQuota: 3 })
    const token = await app.personalToken()
    for (let times = 0; times < 5; times += 1)
      expect(
        (
          await fetch(`${app.issuer}/api/me?access_token=${token}`, {
            headers: { authorization: `Bearer ${token}` },
          })
        ).status,
      ).toBe(400)
    expect((await ask(app, token)).status).toBe(200)
  })
})

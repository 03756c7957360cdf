import { type AroundStore, StoreUnavailable } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { basicOf, type FormResponse, postForm } from '../support/form.ts'
import { recordOperations } from '../support/operations.ts'
import type { TestServer } from '../support/server.ts'
import { authorizationOf } from '../support/tokens.ts'
import { elsewhere, from, here, reached, start, waitOf } from './support.ts'

const limits = {
  wrongSecretsOfClient: { points: 3, seconds: 60 },
  wrongSecrets: { points: 10, seconds: 60 },
  wrongGrants: { points: 3, seconds: 60 },
}

type Client = Awaited<ReturnType<TestServer['client']>>

const machine = { grant_type: 'client_credentials' }
const ask = (
  app: Pick<TestServer, 'issuer'>,
  client: Client,
  {
    address = here as string,
    path = '/oauth/token',
    fields = machine as Record<string, string>,
  } = {},
): Promise<FormResponse> =>
  postForm(`${app.issuer}${path}`, fields, { ...basicOf(client), ...from(address) })

const wrong = (client: Client): Client => ({ ...client, clientSecret: 'wrong' })

describe('wrong secrets of a client (RFC 6749 §2.3.1: protected against brute force)', () => {
  test('cause 429 with Retry-After instead of invalid_client, but only for the IP address that sent them [T012]', async () => {
    await using app = await start({ limits })
    const [client, another] = [await app.client(), await app.client()]
    for (let guess = 0; guess < 3; guess += 1)
      expect((await ask(app, wrong(client))).status).toBe(401)
    const refused = await ask(app, client)
    expect([refused.status, refused.body.error]).toEqual([429, 'temporarily_unavailable'])
    expect(waitOf(refused)).toBeGreaterThan(0)
    expect(waitOf(refused)).toBeLessThanOrEqual(60)
    expect(refused.headers.get('cache-control')).toBe('no-store')
    expect((await ask(app, client, { address: elsewhere })).status).toBe(200)
    expect((await ask(app, another)).status).toBe(200)
    app.advance(60)
    expect((await ask(app, client)).status).toBe(200)
  })

  test.each(['/oauth/token', '/oauth/revoke', '/oauth/introspect', '/oauth/par'])(
    'are counted together at /oauth/token and %s',
    async (path) => {
      await using app = await start({ limits })
      const client = await app.client()
      await ask(app, wrong(client))
      for (let guess = 0; guess < 2; guess += 1)
        expect((await ask(app, wrong(client), { path, fields: { token: 'x' } })).status).toBe(401)
      for (const at of ['/oauth/token', path])
        expect((await ask(app, client, { path: at })).status).toBe(429)
    },
  )

  test('of one IP address are counted together for several clients, including unknown clients [T013]', async () => {
    await using app = await start({ limits })
    const client = await app.client()
    for (let guess = 0; guess < 10; guess += 1)
      expect((await ask(app, { ...client, clientId: `client-${guess}` })).status).toBe(401)
    expect((await ask(app, client)).status).toBe(429)
    expect((await ask(app, client, { address: elsewhere })).status).toBe(200)
  })

  test.each(['fe80::1%eth0', 'fe80::1%br-lan', 'fe80::1%vlan0.100'])(
    'are counted for the link-local address %s',
    async (address) => {
      await using app = await start({ limits })
      const client = await app.client()
      for (let guess = 0; guess < 3; guess += 1)
        expect((await ask(app, wrong(client), { address })).status).toBe(401)
      expect((await ask(app, client, { address: address.replace('::1', '::2') })).status).toBe(429)
    },
  )

  test('are counted, but a successful request neither reads nor changes a counter [T774]', async () => {
    const { operations, aroundStore } = recordOperations()
    await using app = await start({ limits, aroundStore })
    const client = await app.client()
    const token = await app.personalToken()
    // First, another sender exceeds the limit.
    for (let guess = 0; guess < 5; guess += 1) await ask(app, wrong(client), { address: elsewhere })
    operations.length = 0
    for (let times = 0; times < 20; times += 1) expect((await ask(app, client)).status).toBe(200)
    const headers = { authorization: `Bearer ${token}`, ...from(here) }
    expect((await fetch(`${app.issuer}/api/me`, { headers })).status).toBe(200)
    expect(operations.filter((name) => name.startsWith('transients.'))).toEqual([])
  })

  test('cause 429 above the limit without a store operation', async () => {
    const { operations, aroundStore } = recordOperations()
    await using app = await start({ limits, aroundStore })
    const client = await app.client()
    for (let guess = 0; guess < 3; guess += 1) await ask(app, wrong(client))
    operations.length = 0
    for (let guess = 0; guess < 5; guess += 1)
      expect((await ask(app, wrong(client))).status).toBe(429)
    expect(operations).toEqual([])
  })

  test('are counted for the address of the connection if X-Forwarded-For is not trusted', async () => {
    await using app = await start({ limits, trustedProxies: [] })
    const client = await app.client()
    for (let guess = 0; guess < 3; guess += 1)
      await ask(app, wrong(client), { address: `192.0.2.${guess}` })
    expect((await ask(app, client, { address: '192.0.2.77' })).status).toBe(429)
  })

  test('are counted at two nodes together, and the reached limit is logged once', async () => {
    await using app = await start({ limits })
    await using node = await start({ beside: app, limits })
    const client = await app.client()
    for (const at of [app, node, app]) expect((await ask(at, wrong(client))).status).toBe(401)
    expect((await ask(app, client)).status).toBe(429)
    // After one more failure, this node reads the shared counter.
    expect((await ask(node, wrong(client))).status).toBe(401)
    expect((await ask(node, client)).status).toBe(429)
    expect([...reached(app), ...reached(node)]).toEqual([['wrongSecretsOfClient', here]])
  })

  test('are still counted if the shared counters are unavailable', async () => {
    let isAway = false
    const aroundStore: AroundStore = ({ name }, run) => {
      if (isAway && name.startsWith('transients.')) throw new StoreUnavailable('gone')
      return run()
    }
    await using app = await start({ limits, aroundStore })
    const client = await app.client()
    isAway = true
    for (let guess = 0; guess < 3; guess += 1)
      expect((await ask(app, wrong(client))).status).toBe(401)
    expect((await ask(app, client)).status).toBe(429)
    expect((await ask(app, client, { address: elsewhere })).status).toBe(200)
    expect(reached(app)).toEqual([['wrongSecretsOfClient', here]])
  })
})

describe('invalid grants', () => {
  const refresh = (
    app: TestServer,
    client: Client,
    refresh_token: string,
    address: string = here,
  ) => ask(app, client, { address, fields: { grant_type: 'refresh_token', refresh_token } })

  test('cause 429 for the client and address that sent them, without consuming valid refresh tokens and codes', async () => {
    await using app = await start({ limits })
    const [client, another] = [await app.client(), await app.client()]
    const { refreshToken } = await authorizationOf(app, client.clientId)
    const code = { grant_type: 'authorization_code', code: 'guess', redirect_uri: 'x' }
    expect((await refresh(app, client, 'guess')).body.error).toBe('invalid_grant')
    expect((await ask(app, client, { fields: code })).body.error).toBe('invalid_grant')
    expect((await refresh(app, client, 'guess again')).status).toBe(400)
    const refused = await refresh(app, client, refreshToken)
    expect(refused.status).toBe(429)
    expect(waitOf(refused)).toBeGreaterThan(0)
    const other = await authorizationOf(app, another.clientId)
    expect((await refresh(app, another, other.refreshToken)).status).toBe(200)
    expect((await refresh(app, client, refreshToken, elsewhere)).status).toBe(200)
  })

  test('are counted, but other errors of a token request are not', async () => {
    await using app = await start({ limits })
    const client = await app.client()
    for (let times = 0; times < 8; times += 1) {
      await ask(app, client, { fields: { grant_type: 'nonsense' } })
      await ask(app, client, { fields: { ...machine, scope: 'nonsense' } })
      await ask(app, client, { fields: { grant_type: 'refresh_token' } })
    }
    expect((await ask(app, client)).status).toBe(200)
  })
})

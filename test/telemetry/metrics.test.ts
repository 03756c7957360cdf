import { StoreUnavailable } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Instrument, instruments } from '../../src/server/telemetry/instruments.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { ping, TestClient, UserAgent } from '../support/user-agent.ts'
import { type Sdk, startSdk } from './sdk.ts'

let sdk: Sdk
let app: TestServer
let client: TestClient
let isDown = false
beforeAll(async () => {
  sdk = startSdk()
  app = await startServer({
    allowedResponseTypes: ['code', 'token'],
    aroundStore: (_operation, run) => {
      if (isDown) throw new StoreUnavailable('down')
      return run()
    },
  })
  client = await TestClient.register(app, new UserAgent())
})
afterAll(async () => {
  await app.close()
  await sdk.stop()
})

const outcome = 'oauth2server.outcome'
const grants = (type: string, result: string) =>
  sdk.value('oauth2server.grants', { 'oauth2server.grant_type': type, [outcome]: result })
const lookups = (result: string) => sdk.value('oauth2server.token_lookups', { [outcome]: result })
const requests = (route: string | undefined, status: number, method = 'GET') =>
  sdk.value('oauth2server.request.duration', {
    'http.request.method': method,
    ...(route !== undefined && { 'http.route': route }),
    'http.response.status_code': status,
  })

describe('metrics', () => {
  test('count grants by type and outcome, and all unknown types in one series', async () => {
    const { refresh_token } = await client.tokens()
    expect(await grants('authorization_code', 'ok')).toBe(1)
    await client.refresh(refresh_token)
    await client.refresh('A'.repeat(43))
    expect(await grants('refresh_token', 'ok')).toBe(1)
    expect(await grants('refresh_token', 'invalid_grant')).toBe(1)
    const wrong = new TestClient(app, client.agent, { ...client, clientSecret: 'wrong' }, 'basic')
    await wrong.token({ grant_type: 'client_credentials' })
    expect(await grants('client_credentials', 'invalid_client')).toBe(1)
    for (const type of ['urn:example:1', 'urn:example:2', '__proto__'])
      await client.token({ grant_type: type })
    await client.token({})
    expect(await grants('_OTHER', 'unsupported_grant_type')).toBe(3)
    expect(await grants('_OTHER', 'invalid_request')).toBe(1)
    await client.ask({ response_type: 'token' })
    expect(await grants('implicit', 'ok')).toBe(1)
  })

  test('count a grant during an outage as temporarily_unavailable', async () => {
    isDown = true
    await client.token({ grant_type: 'client_credentials' })
    isDown = false
    expect(await grants('client_credentials', 'temporarily_unavailable')).toBe(1)
    const event = { 'oauth2server.event': 'request.unavailable', 'oauth2server.level': 'warn' }
    expect(await sdk.value('oauth2server.events', event)).toBe(1)
  })

  test('count token look-ups of all endpoints by outcome', async () => {
    const before = (await lookups('unknown')) ?? 0
    const { access_token } = await client.tokens()
    expect(await ping(app, access_token)).toBe(200)
    const notes = (token: string) =>
      fetch(`${app.issuer}/api/notes`, { headers: { authorization: `Bearer ${token}` } })
    expect((await notes(access_token)).status).toBe(200)
    expect(await lookups('valid')).toBe(2)
    await ping(app, 'A'.repeat(43))
    await ping(app, 'no-token-of-ours!')
    expect(await lookups('unknown')).toBe(before + 2)
    await app.server.users.setActive(app.user.id, false)
    await ping(app, access_token)
    await app.server.users.setActive(app.user.id, true)
    expect(await lookups('inactive')).toBe(1)
    app.advance(3_600)
    await ping(app, access_token)
    expect(await lookups('expired')).toBe(1)
  })

  test('count requests by method, pattern and status, so that values from clients create no series', async () => {
    const { clientId } = client
    const page = `${app.issuer}/account/settings/applications/clients/${clientId}/`
    await fetch(page, { redirect: 'manual' })
    expect(await requests('/account/settings/applications/clients/:client_id/', 303)).toBe(1)
    await fetch(page.slice(0, -1), { redirect: 'manual' })
    expect(await requests('/account/settings/applications/clients/:client_id/', 308)).toBe(1)
    await fetch(`${app.issuer}/oauth/token`, { method: 'PROPFIND' })
    await fetch(`${app.issuer}/oauth/token`, { method: 'DELETE' })
    expect(await requests('/oauth/token', 405, '_OTHER')).toBe(1)
    expect(await requests('/oauth/token', 405, 'DELETE')).toBe(1)
    for (const name of ['a', 'b']) await fetch(`${app.issuer}/oauth/${name}?x=${name}`)
    expect(await requests(undefined, 404)).toBe(2)
  })

  test('count the operations of the store by name', async () => {
    const name = 'oauth2server.store.operation.duration'
    const operation = { 'oauth2server.store.operation': 'tokens.findByAccess' }
    const before = (await sdk.value(name, operation)) ?? 0
    await ping(app, 'A'.repeat(43))
    expect(await sdk.value(name, operation)).toBe(before + 1)
    expect(
      await sdk.value(name, { 'oauth2server.store.operation': 'transients.put' }),
    ).toBeGreaterThan(0)
    expect(
      await sdk.value(name, { 'oauth2server.store.operation': 'transaction' }),
    ).toBeGreaterThan(0)
  })

  test('count successful and failed runs of the sweeper, and the rows that they delete', async () => {
    app.advance(365 * 24 * 3_600)
    const removed = await app.server.sweep()
    expect(removed).toBeGreaterThan(5)
    expect(await sdk.value('oauth2server.sweeper.rows')).toBe(removed)
    expect(await sdk.value('oauth2server.sweeper.run.duration')).toBe(1)
    isDown = true
    await expect(app.server.sweep()).rejects.toThrow(StoreUnavailable)
    isDown = false
    const failed = { 'error.type': 'StoreUnavailable' }
    expect(await sdk.value('oauth2server.sweeper.run.duration', failed)).toBe(1)
  })

  test('count events even if the log is silent', async () => {
    await using silent = await startServer({ beside: app, logLevel: 'silent' })
    const code = await client.code()
    for (const expected of [200, 400]) expect((await client.redeem(code)).status).toBe(expected)
    expect(silent.log).toEqual([])
    const reused = {
      'oauth2server.event': 'authorization_code.reused',
      'oauth2server.level': 'warn',
    }
    expect(await sdk.value('oauth2server.events', reused)).toBe(1)
  })

  test('report the connections of the pool until the server is closed', async () => {
    const opener = sqlite(':memory:')
    let asked = 0
    const poolStats = () => {
      asked += 1
      return { total: 5, idle: 2, waiting: 7 }
    }
    const open: typeof opener.open = async (...args) => ({
      ...(await opener.open(...args)),
      poolStats,
    })
    const other = await startServer({ store: { ...opener, open } })
    const pool = { 'db.client.connection.pool.name': 'svc-oauth2server' }
    const count = (state: string) =>
      sdk.value('db.client.connection.count', { ...pool, 'db.client.connection.state': state })
    expect([await count('idle'), await count('used')]).toEqual([2, 3])
    expect(await sdk.value('db.client.connection.pending_requests', pool)).toBe(7)
    await checkNames()
    await other.close()
    asked = 0
    await sdk.metrics()
    expect(asked).toBe(0)
  })
})

/** Expects that the tests used all instruments of the table, and no others. */
const checkNames = async (): Promise<void> => {
  const rows: readonly Instrument[] = Object.values(instruments)
  const found = await sdk.metrics()
  expect(found.map(({ descriptor }) => descriptor.name).toSorted()).toEqual(
    rows.map(({ name }) => name).toSorted(),
  )
  for (const { descriptor, dataPoints } of found) {
    const row = rows.find(({ name }) => name === descriptor.name)
    expect([descriptor.unit, descriptor.description]).toEqual([row?.unit, row?.sentence])
    const used = new Set(dataPoints.flatMap(({ attributes }) => Object.keys(attributes)))
    const known = Object.keys(row?.attributes ?? {})
    expect(
      [...used].filter((name) => !known.includes(name)),
      descriptor.name,
    ).toEqual([])
  }
}

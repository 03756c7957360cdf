import { setImmediate as nextTurn } from 'node:timers/promises'
import { StoreUnavailable } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { startServer, type TestOptions } from '../support/server.ts'

/** Starts a server whose store and short-lived values the test can make unavailable. */
const start = async (options: TestOptions = {}) => {
  let store: () => Promise<void> = async () => undefined
  let beside: () => Promise<void> = async () => undefined
  let asked = 0
  const app = await startServer({
    aroundStore: async ({ name }, run) => {
      if (name === 'ping') {
        asked += 1
        await store()
      }
      if (name === 'transients.ping') await beside()
      return run()
    },
    ...options,
  })
  return {
    app,
    asked: () => asked,
    storeDoes: (what: () => Promise<void>) => {
      store = what
    },
    besideDoes: (what: () => Promise<void>) => {
      beside = what
    },
    get: (path: string, init?: RequestInit) => fetch(`${app.issuer}/health/${path}`, init),
    [Symbol.asyncDispose]: () => app.close(),
  }
}

const fails = () => Promise.reject(new StoreUnavailable('The disk at /var/lib is gone.'))

describe('decision §2 /health/live and /health/ready', () => {
  test.each(['', '/auth'])('return 200 below the path %j without credentials', async (basePath) => {
    await using host = await start({ basePath })
    const credentials: readonly Record<string, string>[] = [
      {},
      { authorization: 'Bearer x' },
      { cookie: 'oauth2server_session=x' },
    ]
    for (const headers of credentials) {
      for (const [path, status] of [
        ['live', 'live'],
        ['ready', 'ready'],
      ] as const) {
        const response = await host.get(path, { headers })
        expect(response.status).toBe(200)
        expect(await response.json()).toEqual({ status })
        expect(response.headers.get('content-type')).toBe('application/json')
        expect(response.headers.get('cache-control')).toBe('no-store')
        expect(response.headers.get('set-cookie')).toBeNull()
      }
    }
    expect((await host.get('ready', { method: 'HEAD' })).status).toBe(200)
    const post = await host.get('live', { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('while the store is unavailable, readiness returns 503 with Retry-After and liveness returns 200', async () => {
    await using host = await start()
    host.storeDoes(fails)
    const response = await host.get('ready')
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await response.json()).toEqual({ status: 'not ready' })
    expect((await host.get('live')).status).toBe(200)
    host.storeDoes(async () => undefined)
    expect((await host.get('ready')).status).toBe(200)
  })

  test('logs the reason once for each change of readiness', async () => {
    await using host = await start()
    host.storeDoes(fails)
    for (let times = 0; times < 3; times += 1) await host.get('ready')
    host.storeDoes(async () => undefined)
    for (let times = 0; times < 3; times += 1) await host.get('ready')
    const said = host.app.log.filter(({ event }) => event.startsWith('health.'))
    expect(said).toEqual([
      expect.objectContaining({ event: 'health.unready', error: expect.any(StoreUnavailable) }),
      expect.objectContaining({ event: 'health.ready' }),
    ])
  })

  test('returns 503 if the store does not respond within a second', async () => {
    await using host = await start()
    const { promise, resolve } = Promise.withResolvers<void>()
    host.storeDoes(() => promise)
    expect((await host.get('ready')).status).toBe(503)
    resolve()
  })

  test('shares one store check among concurrent requests', async () => {
    await using host = await start()
    const { promise, resolve } = Promise.withResolvers<void>()
    host.storeDoes(() => promise)
    const { issuer, server } = host.app
    const asking = Array.from({ length: 50 }, () =>
      server.fetch(new Request(`${issuer}/health/ready`), { remoteAddress: '127.0.0.1' }),
    )
    // Without the network, each request asks for the check within a few turns of the event loop.
    for (let turns = 0; turns < 10; turns += 1) await nextTurn()
    resolve()
    const responses = await Promise.all(asking)
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200))
    expect(host.asked()).toBe(1)
  })

  // If nodes without Redis were not ready, a load balancer would reject all requests, even requests that work without
  // Redis.
  test('remains ready and reports an outage of the short-lived store', async () => {
    const nothing = async () => undefined
    let closed = 0
    await using host = await start({
      transients: {
        description: 'a test',
        open: async () => ({
          put: async () => true,
          set: nothing,
          get: async (keys) => keys.map(() => undefined),
          take: nothing,
          increment: async () => 1,
          delete: nothing,
          deleteExpired: async () => 0,
          ping: nothing,
          close: async () => {
            closed += 1
          },
        }),
      },
    })
    expect(await (await host.get('ready')).json()).toEqual({ status: 'ready' })
    host.besideDoes(fails)
    for (let times = 0; times < 3; times += 1) {
      const response = await host.get('ready')
      expect([response.status, await response.json()]).toEqual([
        200,
        { status: 'ready', transients: 'away' },
      ])
    }
    expect(await host.app.server.isReady()).toBe(true)
    host.storeDoes(fails)
    const both = await host.get('ready')
    expect([both.status, await both.json()]).toEqual([
      503,
      { status: 'not ready', transients: 'away' },
    ])
    for (const does of [host.besideDoes, host.storeDoes]) does(nothing)
    expect(await (await host.get('ready')).json()).toEqual({ status: 'ready' })
    const said = host.app.log.map(({ event, level }) => `${event} ${level}`)
    expect(said.filter((event) => event.startsWith('transients.'))).toEqual([
      'transients.away warn',
      'transients.back info',
    ])
    await host.app.server.close()
    expect(closed).toBe(1)
  })

  test('reports that it is not ready after drain(), but still responds to all requests', async () => {
    await using host = await start()
    const token = await host.app.personalToken()
    expect(await host.app.server.isReady()).toBe(true)
    host.app.server.drain()
    const response = await host.get('ready')
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await host.app.server.isReady()).toBe(false)
    expect((await host.get('live')).status).toBe(200)
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(`${host.app.issuer}/api/me`, { headers })).status).toBe(200)
    expect(host.app.log.filter(({ event }) => event.startsWith('health.'))).toEqual([])
  })
})

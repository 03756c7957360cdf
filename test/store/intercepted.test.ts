import { type AroundStore, StoreUnavailable } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { describe, expect, test } from 'vitest'
import { decorated } from '../../src/store/decorated.ts'
import { count } from '../support/database.ts'
import { redirectUri, startServer } from '../support/server.ts'
import { authorizationOf, statusOf } from '../support/tokens.ts'
import { authorizeUrl, tokenRequest, UserAgent } from '../support/user-agent.ts'
import { aClient, clientRow } from './rows.ts'

const openDecorated = async (around: AroundStore) => {
  const opened = await sqlite(':memory:').open()
  await opened.migrate()
  const store = decorated(opened, around)
  return Object.assign(store, { [Symbol.asyncDispose]: () => opened.close() })
}

describe('operations of the store that a test intercepts', () => {
  test('reports every operation by its name, also inside transactions at any depth', async () => {
    const seen: string[] = []
    await using store = await openDecorated(({ name }, run) => {
      seen.push(name)
      return run()
    })
    const parts = [
      'clients',
      'tokens',
      'authorizations',
      'consents',
      'users',
      'sessions',
      'transients',
      'audit',
    ] as const
    for (const part of parts) {
      for (const [name, operation] of Object.entries(store[part])) {
        seen.length = 0
        // Ignore the result of the call without arguments, because the operation is reported before it runs.
        await (async () => Reflect.apply(operation as () => unknown, store[part], []))().catch(
          () => undefined,
        )
        expect(seen).toEqual([`${part}.${name}`])
      }
    }
    seen.length = 0
    await store.transaction(async (tx) => {
      await tx.clients.insert(clientRow())
      await tx.transaction((inner) => inner.users.find(1))
    })
    expect(seen).toEqual(['transaction', 'clients.insert', 'transaction', 'users.find'])
  })

  test('can pause before and after an operation, and throw before and after it', async () => {
    let fails: 'before' | 'after' | undefined
    const order: string[] = []
    await using store = await openDecorated(async ({ name }, run) => {
      if (fails === 'before') throw new StoreUnavailable(name)
      order.push(`before ${name}`)
      const result = await run()
      order.push(`after ${name}`)
      if (fails === 'after') throw new StoreUnavailable(name)
      return result
    })
    const clientId = await aClient(store)
    expect(order).toEqual(['before clients.insert', 'after clients.insert'])
    fails = 'before'
    await expect(store.clients.delete(clientId, 1)).rejects.toThrow('clients.delete')
    fails = undefined
    expect(await store.clients.find(clientId)).toBeDefined()
    fails = 'after'
    await expect(store.clients.delete(clientId, 1)).rejects.toThrow('clients.delete')
    fails = undefined
    expect(await store.clients.find(clientId)).toBeUndefined()
  })

  test('an error that the interceptor throws inside a transaction rolls the transaction back', async () => {
    let fails = false
    await using store = await openDecorated(async ({ name }, run) => {
      const result = await run()
      if (fails && name === 'clients.insert') throw new StoreUnavailable(name)
      return result
    })
    const row = clientRow()
    fails = true
    await expect(store.transaction((tx) => tx.clients.insert(row))).rejects.toThrow(
      StoreUnavailable,
    )
    expect(await store.clients.find(row.fields.clientId)).toBeUndefined()
  })

  test('also reports the operations of short-lived values in memory', async () => {
    const seen: string[] = []
    await using app = await startServer({
      cacheType: 'memory',
      aroundStore: ({ name }, run) => {
        seen.push(name)
        return run()
      },
    })
    const basic = await app.client()
    const url = authorizeUrl(app.issuer, { client_id: basic.clientId, redirect_uri: redirectUri })
    const code = (await new UserAgent().authorize(app, url)).searchParams.get('code') ?? ''
    const { status } = await tokenRequest(
      app.issuer,
      { grant_type: 'authorization_code', code, redirect_uri: redirectUri },
      { basic },
    )
    expect(status).toBe(200)
    expect(seen).toEqual(
      expect.arrayContaining(['transients.put', 'transients.take', 'transients.get']),
    )
    expect(count(app.database, 'oauth2server_transient')).toBe(0)
  })
})

/** While the store is unavailable, responses are 503 with Retry-After. No credential is rejected or consumed. */
describe('a store that is down', () => {
  const start = async () => {
    let down: (name: string) => boolean = () => false
    const app = await startServer({
      aroundStore: async ({ name }, run) => {
        if (down(name))
          throw new StoreUnavailable('The test made the store unavailable: secret detail')
        return run()
      },
    })
    const basic = await app.client()
    return {
      app,
      basic,
      during: async <T>(isDown: (name: string) => boolean, work: () => Promise<T>): Promise<T> => {
        down = isDown
        try {
          return await work()
        } finally {
          down = () => false
        }
      },
      [Symbol.asyncDispose]: () => app.close(),
    }
  }
  const everything = () => true
  const only =
    (...names: string[]) =>
    (name: string) =>
      names.includes(name)

  const unavailable = async (response: Response) => {
    const body = await response.text()
    expect(response.status).toBe(503)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(response.headers.get('www-authenticate')).toBeNull()
    expect(response.headers.getSetCookie()).toEqual([])
    expect(response.headers.get('cache-control')).toContain('no-store')
    expect(body).not.toContain('secret detail')
    return body
  }

  test('the token endpoint returns 503 temporarily_unavailable if any operation fails; code and refresh token remain valid', async () => {
    await using host = await start()
    const { app, basic } = host
    const agent = new UserAgent()
    const url = authorizeUrl(app.issuer, {
      client_id: basic.clientId,
      redirect_uri: redirectUri,
      scope: 'notes:read',
    })
    const code = (await agent.authorize(app, url)).searchParams.get('code') ?? ''
    const redeem = () =>
      tokenRequest(
        app.issuer,
        { grant_type: 'authorization_code', code, redirect_uri: redirectUri },
        { basic },
      )
    const outages = [
      'clients.find',
      'transients.get',
      'consents.findGrant',
      'authorizations.insertWithToken',
    ]
    for (const name of outages) {
      const { status, headers, body } = await host.during(only(name), redeem)
      expect([name, status, body.error]).toEqual([name, 503, 'temporarily_unavailable'])
      expect(headers.get('retry-after')).toBe('5')
      expect(headers.get('www-authenticate')).toBeNull()
      expect(JSON.stringify(body)).not.toContain('secret detail')
    }
    expect(count(app.database, 'oauth2server_authorization')).toBe(0)
    const issued = await redeem()
    expect(issued.status).toBe(200)

    const refresh = () =>
      tokenRequest(
        app.issuer,
        { grant_type: 'refresh_token', refresh_token: String(issued.body.refresh_token) },
        { basic },
      )
    for (const name of ['clients.find', 'tokens.findByRefresh', 'tokens.rotate']) {
      const { status, body } = await host.during(only(name), refresh)
      expect([name, status, body.error]).toEqual([name, 503, 'temporarily_unavailable'])
    }
    expect(await statusOf(app, String(issued.body.access_token))).toBe(200)
    expect(count(app.database, 'oauth2server_rotated_refresh_token')).toBe(0)
    expect((await refresh()).status).toBe(200)
    const machine = await host.during(everything, () =>
      tokenRequest(app.issuer, { grant_type: 'client_credentials' }, { basic }),
    )
    expect(machine.status).toBe(503)
    expect(app.log.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('the bearer check returns 503, never 401, and never continues as anonymous', async () => {
    await using host = await start()
    const token = await host.app.personalToken(['notes:read'])
    for (const path of ['/api/me', '/api/notes', '/api/public', '/oauth/ping', '/oauth/info']) {
      const ask = () =>
        fetch(`${host.app.issuer}${path}`, { headers: { authorization: `Bearer ${token}` } })
      expect(
        JSON.parse(await unavailable(await host.during(only('tokens.findByAccess'), ask))),
        path,
      ).toMatchObject({ error: 'temporarily_unavailable' })
      expect((await ask()).status, path).toBe(200)
    }
    // A request without a credential needs no store.
    expect(
      (await host.during(everything, () => fetch(`${host.app.issuer}/api/public`))).status,
    ).toBe(200)
  })

  test('sessions and pages return 503, log nobody out and clear no cookie', async () => {
    await using host = await start()
    const { app, basic } = host
    const agent = new UserAgent()
    await agent.logIn(app)
    const authorize = authorizeUrl(app.issuer, {
      client_id: basic.clientId,
      redirect_uri: redirectUri,
      scope: 'notes:read',
    })
    const isDown = only('sessions.find', 'sessions.delete', 'users.find', 'sessions.insert')
    for (const url of [`${app.issuer}/`, `${app.issuer}/api/me`, `${app.issuer}/api/public`])
      await unavailable(await host.during(isDown, () => agent.fetch(url)))
    await unavailable(await host.during(only('clients.find'), () => agent.fetch(authorize)))
    // After the redirect URI is verified, the server may send the error to the client instead.
    const told = await host.during(isDown, () => agent.fetch(authorize))
    if (told.status !== 503)
      expect(told.headers.get('location')).toMatch(
        /^https:\/\/client\.example\/cb\?error=temporarily_unavailable/,
      )
    const stranger = new UserAgent()
    const login = await stranger.browse(`${app.issuer}/login`)
    const credentials = { email: app.user.email, password: app.password }
    await unavailable(await host.during(isDown, () => stranger.submit(login, credentials)))
    expect((await agent.fetch(`${app.issuer}/`)).status).toBe(200)
    expect(await (await agent.fetch(`${app.issuer}/`)).text()).toContain(app.user.email)
  })

  test('users can submit a consent decision again if the first attempt was not stored', async () => {
    await using host = await start()
    const { app, basic } = host
    const agent = new UserAgent()
    await agent.logIn(app)
    const url = authorizeUrl(app.issuer, {
      client_id: basic.clientId,
      redirect_uri: redirectUri,
      scope: 'notes:read',
    })
    const decide = async () => agent.submit(await agent.browse(url), { confirm: 'yes' })
    const refused = await host.during(only('transients.take'), decide)
    await unavailable(refused)
    expect(count(app.database, 'oauth2server_consent')).toBe(0)
    expect((await decide()).headers.get('location')).toMatch(/[?&]code=/)
  })

  test('IR-04 a failed revocation does not report success', async () => {
    await using host = await start()
    const { app, basic } = host
    const { token, accessToken } = await authorizationOf(app, basic.clientId)
    const personal = await app.server.tokens.createPersonal('Test', app.user.id)
    for (const name of ['transaction', 'authorizations.revoke'])
      await expect(host.during(only(name), () => app.server.tokens.revoke(token))).rejects.toThrow(
        StoreUnavailable,
      )
    await expect(host.during(everything, () => app.server.tokens.revoke(personal))).rejects.toThrow(
      StoreUnavailable,
    )
    expect(await statusOf(app, accessToken)).toBe(200)
    expect(await statusOf(app, personal.accessToken)).toBe(200)
    expect(await app.server.tokens.revoke(token)).toBe(true)
    expect(await statusOf(app, accessToken)).toBe(401)
  })
})

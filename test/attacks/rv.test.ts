import { type AroundStore, StoreUnavailable } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Device, decideOn, enterCode, postToDevicePage } from '../support/device.ts'
import { rawHttp } from '../support/raw-http.ts'
import { register } from '../support/registration.ts'
import { startServer } from '../support/server.ts'
import { browser, logIn } from '../support/session.ts'
import { ping } from '../support/user-agent.ts'
import { type AttackServer, type HttpResponse, startAttackServer } from './support/attack-server.ts'

let it: AttackServer
beforeAll(async () => {
  it = await startAttackServer()
})
afterAll(() => it?.close())

const pathOf = (path: string): string => new URL(it.issuer).pathname.replace(/\/$/, '') + path

describe('RV-09 Empty access_token', () => {
  const queries = ['?access_token=', '?access_token', '?access_token=&access_token=']
  const ask = async (at: AttackServer, path: string, headers: readonly string[]) => {
    const target = new URL(at.issuer).pathname.replace(/\/$/, '') + path
    const { status } = await rawHttp(at.server, { target, headers })
    return status
  }

  test('rejects an empty access_token with and without a session cookie [T624]', async () => {
    const { cookie } = await it.browser('a')
    const browsers = [[], [`Cookie: ${cookie}`, `User-Agent: ${browser}`]]
    for (const headers of browsers)
      for (const path of ['/api/me', '/api/public', '/oauth/ping', '/oauth/info'])
        for (const query of queries)
          expect([400, 401], path + query).toContain(await ask(it, path + query, headers))
  })

  test('rejects an empty access_token together with a session and its JWT', async () => {
    await using other = await startAttackServer({
      jwtAuthHeader: 'X-Session-JWT',
      jwtAuthHeaderType: null,
    })
    const { cookie, jwt } = await other.browser('a')
    const headers = [`Cookie: ${cookie}`, `User-Agent: ${browser}`, `X-Session-JWT: ${jwt}`]
    expect(await ask(other, '/api/me', headers)).toBe(200)
    for (const path of ['/api/me', '/api/public'])
      for (const query of queries)
        expect([400, 401], path + query).toContain(await ask(other, path + query, headers))
    for (const authorization of ['Bearer', 'Bearer '])
      expect(await ask(other, '/api/public', [...headers, `Authorization: ${authorization}`])).toBe(
        401,
      )
  })
})

describe('RV-12 Paths with a dot segment [T626]', () => {
  test.each([
    ['GET', '/oauth/../admin/applications/'],
    ['GET', '/oauth/%2e%2e/admin/applications/'],
    ['GET', '/oauth/.%2E/admin/applications/'],
    ['GET', '/oauth/x/../../admin/applications/'],
    ['GET', '/oauth/..%2fadmin/applications/'],
    ['GET', '/account/settings/applications/./'],
    ['POST', '/oauth/../oauth/token'],
    ['POST', '/oauth/./token'],
    ['POST', '/account/settings/applications/authorized/%2e/revoke/'],
    ['POST', '/account/settings/applications/authorized/%2e%2e/revoke/'],
  ])('returns 404 for %s %s', async (method, path) => {
    const { cookie } = await it.browser('a')
    const headers = [`Cookie: ${cookie}`, `User-Agent: ${browser}`]
    const { status } = await rawHttp(it.server, { method, target: pathOf(path), headers })
    expect(status).toBe(404)
  })
})

describe('RV-13 Outages during a device decision', () => {
  const setUp = async () => {
    let broken: string | RegExp | undefined
    const aroundStore: AroundStore = async ({ name }, run) => {
      if (broken instanceof RegExp ? broken.test(name) : name === broken)
        throw new StoreUnavailable('The store is unavailable.')
      return run()
    }
    const server = await startServer({ deviceAuthorization: true, aroundStore })
    const person = { ...(await logIn(server)), user: server.user }
    const device = await Device.register(server)
    return {
      server,
      person,
      device,
      /** Makes the matching store operations fail. The value undefined ends the outage. */
      breaks(name: string | RegExp | undefined) {
        broken = name
      },
      [Symbol.asyncDispose]: () => server.close(),
    }
  }

  const operations = [
    'transients.put',
    'transients.set',
    'transients.take',
    'consents.insert',
    'transaction',
  ]

  test.each(operations)(
    'accepts the same form again if %s fails during the decision [T831]',
    async (name) => {
      await using given = await setUp()
      const { server, person, device } = given
      const codes = await device.codes()
      const question = await enterCode(server, person, codes.user_code)
      const decide = () => postToDevicePage(server, person, { ...question.hidden, confirm: 'yes' })
      given.breaks(name)
      expect((await decide()).status).toBe(503)
      given.breaks(undefined)
      expect((await decide()).status).toBe(200)
      const { status, body } = await device.poll(codes)
      expect([status, await ping(server, body.access_token)]).toEqual([200, 200])
      // A repetition receives the response to the first submission, and changes nothing.
      expect((await decide()).status).toBe(200)
      expect(await ping(server, body.access_token)).toBe(200)
      server.advance(61)
      expect((await decide()).status).toBe(400)
    },
  )

  test('accepts the same form again after 15 seconds if the store also could not delete the claim [T3742]', async () => {
    await using given = await setUp()
    const { server, person, device } = given
    const codes = await device.codes()
    const question = await enterCode(server, person, codes.user_code)
    const decide = () => postToDevicePage(server, person, { ...question.hidden, confirm: 'yes' })
    given.breaks(/^transients\.(?!put$)/)
    expect((await decide()).status).toBe(503)
    given.breaks(undefined)
    server.advance(16)
    expect((await decide()).status).toBe(200)
    expect((await device.poll(codes)).status).toBe(200)
  })

  test.each(operations.slice(0, 3))(
    'accepts the same user code again after %s failed during the decision',
    async (name) => {
      await using given = await setUp()
      const { server, person, device } = given
      const codes = await device.codes()
      const question = await enterCode(server, person, codes.user_code)
      given.breaks(name)
      const first = { ...question.hidden, confirm: 'yes' }
      expect((await postToDevicePage(server, person, first)).status).toBe(503)
      given.breaks(undefined)
      expect((await decideOn(server, person, codes, 'yes')).status).toBe(200)
      expect((await device.poll(codes)).status).toBe(200)
    },
  )

  test('does not count a user code that could not be looked up [T627]', async () => {
    await using given = await setUp()
    const { server, person, device } = given
    const codes = await device.codes()
    // The second outage also affects the counters, so the server counts in its memory.
    for (const name of ['transients.get', /^transients/])
      for (let times = 0; times < 10; times += 1) {
        given.breaks(name)
        expect((await enterCode(server, person, codes.user_code)).status).toBe(503)
      }
    given.breaks(undefined)
    const question = await enterCode(server, person, codes.user_code)
    expect(question.status).toBe(200)
    expect(question.hidden).toHaveProperty('device_confirmation')
  })
})

describe('RV-14 Concurrent and prefetched uses of a pushed request', () => {
  test.each(['token', 'code'])(
    'issues one response of type %s to six tabs that open the same pushed request concurrently',
    async (response_type) => {
      let waiting: (() => void)[] | undefined
      // Continue only when all tabs have read the request, so that they consume it concurrently.
      const aroundStore: AroundStore = async ({ name }, run) => {
        if (name === 'transients.take' && waiting) {
          const all = waiting
          await new Promise<void>((resolve) => {
            all.push(resolve)
            if (all.length === 6) for (const go of all) go()
          })
        }
        return run()
      }
      await using own = await startAttackServer({ aroundStore })
      const rows = async () =>
        Number((await own.server.query('select count(*) as n from oauth2server_token'))[0]?.n)
      const { imp } = own.clients
      // Consent first, so that the server does not show a consent page to the tabs.
      const remembered = await own.authorize({ response_type }, { client: imp })
      expect(remembered.status).toBe(303)
      const before = await rows()
      const { body } = await own.push({ response_type }, { client: imp })
      const { agent } = await own.browser('a')
      const query = new URLSearchParams({
        client_id: imp.clientId,
        request_uri: String(body.request_uri),
      })
      waiting = []
      const tabs = await Promise.all(
        Array.from({ length: 6 }, () => own.request(`/oauth/authorize?${query}`, { agent })),
      )
      const granted = tabs.filter(({ fragment, query }) => fragment.access_token ?? query.code)
      expect(granted).toHaveLength(1)
      expect((await rows()) - before).toBe(response_type === 'token' ? 1 : 0)
    },
  )

  test.each([
    ['Sec-Purpose', 'prefetch'],
    ['Sec-Purpose', 'prefetch;prerender'],
    ['Purpose', 'prefetch'],
    ['X-Moz', 'prefetch'],
    ['X-Purpose', 'preview'],
  ])('neither issues nor consumes anything for a request with %s: %s', async (name, value) => {
    const { agent } = await it.browser('a')
    for (const response_type of ['code', 'token']) {
      const { imp } = it.clients
      await it.authorize({ response_type }, { client: imp })
      const { body } = await it.push({ response_type }, { client: imp })
      const query = new URLSearchParams({
        client_id: imp.clientId,
        request_uri: String(body.request_uri),
      })
      const before = await it.state()
      const url = `/oauth/authorize?${query}`
      const fetched = await it.request(url, { agent, headers: { [name]: value } })
      expect([fetched.status, fetched.location]).toEqual([403, undefined])
      expect(fetched.headers.get('cache-control')).toBe('no-store')
      expect(await it.state()).toEqual(before)
      const { fragment, query: answered } = await it.request(url, { agent })
      expect(fragment.access_token ?? answered.code).toBeDefined()
    }
  })
})

describe('RV-15 Absolute request targets with credentials [T625]', () => {
  test.each(['/oauth/ping', '/oauth/token', '/login', '/api/me', '/api/public'])(
    'returns 400 for %s, and neither returns nor logs the password',
    async (path) => {
      const { host } = new URL(it.issuer)
      const target = `http://user:target-password@${host}${pathOf(path)}`
      const method = path === '/oauth/token' ? 'POST' : 'GET'
      const { status, text, headers } = await rawHttp(it.server, { method, target })
      expect(status).toBe(400)
      const logged = JSON.stringify(it.server.log)
      expect(text + JSON.stringify([...headers]) + logged).not.toContain('target-password')
    },
  )
})

describe('RV-10 Limit of authorizations per application', () => {
  const rows = (at: AttackServer) =>
    at.server.query('select id from oauth2server_authorization where revoked_at is null')

  test.each(['one by one', 'concurrently'])(
    'retains one valid authorization after ten codes are redeemed %s',
    async (how) => {
      await using limited = await startAttackServer({ authorizationsPerApplication: 1 })
      const codes: string[] = []
      for (let made = 0; made < 10; made += 1) codes.push(await limited.code())
      const responses: HttpResponse[] = []
      const redeem = async (code: string) => responses.push(await limited.token({ code }))
      if (how === 'concurrently') await Promise.all(codes.map(redeem))
      else for (const code of codes) await redeem(code)
      expect(responses.map(({ status }) => status)).toEqual(codes.map(() => 200))
      const tokens = responses.map((response) => limited.tokensIn(response))
      const pings = await Promise.all(tokens.map(({ accessToken }) => limited.ping(accessToken)))
      expect(pings.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(await rows(limited)).toHaveLength(1)
      const refreshed = await Promise.all(
        tokens.map(({ refreshToken }) => limited.refresh(refreshToken)),
      )
      expect(refreshed.filter(({ status }) => status === 200)).toHaveLength(1)
    },
  )
})

describe('RV-11 Response parameters in a redirect URI', () => {
  const queries = ['%63ode=1', 'code', 'is%73=x', 'x=1&%73tate=1', 'CODE=1', 'x;code=1']

  test.each(queries)('rejects a redirect URI with ?%s at every registration', async (query) => {
    const uri = `https://client.example/cb?${query}`
    await expect(it.client({ redirectUris: [uri] })).rejects.toMatchObject({
      name: 'InvalidField',
      field: 'redirect_uris',
    })
    const registered = await register(it.server, { client_name: 'X', redirect_uris: [uri] })
    expect([registered.status, registered.body.error]).toEqual([400, 'invalid_redirect_uri'])
    const { agent, csrfToken } = await it.browser('a')
    const form = { csrf_token: csrfToken, name: 'X', is_confidential: 'true' }
    const post = async (redirectUris: string) => {
      const body = new URLSearchParams({ ...form, redirect_uris: redirectUris })
      const path = '/account/settings/applications/clients/new/'
      return (await it.request(path, { agent, method: 'POST', body })).status
    }
    expect(await post(uri)).toBe(400)
    expect(await post('https://client.example/cb?x=code')).toBe(303)
  })
})

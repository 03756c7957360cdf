import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { browser } from '../../support/session.ts'
import { authorizationOf } from '../../support/tokens.ts'
import { UserAgent } from '../../support/user-agent.ts'
import { written } from '../api/script.ts'
import { at, body, Person } from './support.ts'

let app: TestServer
let clientId: string
let tokenId: number
let deviceId: number
beforeAll(async () => {
  app = await startServer()
  clientId = (await app.client()).clientId
  tokenId = (await app.server.tokens.createPersonal('Laptop', app.user.id)).id
  deviceId = (await authorizationOf(app, clientId)).token.id
})
afterAll(() => app.close())

/** Returns the paths of all pages that GET returns. */
const shown = (): readonly string[] => [
  at.list,
  at.newClient,
  at.client(clientId),
  at.newToken,
  at.token(tokenId),
  at.view(deviceId),
  at.sessions,
  at.admin,
]
const onlyPosted = (): readonly string[] => [
  at.reset(clientId),
  at.rotate(tokenId),
  at.revoke(deviceId),
  at.revokeApplication(clientId),
  at.revokeAll,
]
const posted = (): readonly string[] => [
  at.newClient,
  at.client(clientId),
  at.newToken,
  at.token(tokenId),
  at.sessions,
  at.admin,
]

const loginWith = (next: string): string => `/login?next=${encodeURIComponent(next)}`

const newAgent = (): UserAgent => new UserAgent({ 'user-agent': browser })

const open = async (path: string, init: RequestInit = {}, agent = newAgent()) => {
  const response = await agent.fetch(`${app.issuer}${path}`, init)
  const location = response.headers.get('location')
  return { status: response.status, location, text: await response.text() }
}

const form = (headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers,
  body: body({ name: 'x', csrf_token: 'x', delete: 'yes', others: 'yes' }),
})

describe('decision §2 a request without a login', () => {
  test('the server redirects GET and HEAD for every page to the login', async () => {
    for (const path of shown()) {
      for (const method of ['GET', 'HEAD'])
        expect(await open(path, { method }), path).toEqual({
          status: 303,
          location: loginWith(path),
          text: '',
        })
    }
  })

  test('the URL of the login contains the requested path with its query', async () => {
    const path = `${at.list}?clients_after=1.x&ui_locales=de`
    expect((await open(path)).location).toBe(loginWith(path))
  })

  test('the server redirects every form to the login without a change, and the URL contains the page of the form', async () => {
    const before = written(app)
    for (const path of posted())
      expect(await open(path, form()), path).toMatchObject({
        status: 303,
        location: loginWith(path),
      })
    for (const path of onlyPosted())
      expect(await open(path, form()), path).toMatchObject({
        status: 303,
        location: loginWith(at.list),
      })
    expect(written(app)).toEqual(before)
  })

  test('the server also redirects requests with unknown IDs, so that the response does not reveal which IDs exist', async () => {
    for (const path of [at.client('absent'), at.token(999), at.view(999)])
      expect((await open(path)).location).toBe(loginWith(path))
    expect((await open(at.reset('absent'), form())).location).toBe(loginWith(at.list))
  })

  test('the login redirects to the requested page', async () => {
    for (const path of [
      ...shown().filter((path) => path !== at.admin),
      `${at.list}?tokens_after=9.`,
    ]) {
      const agent = newAgent()
      const login = await agent.browse(`${app.issuer}${path}`)
      expect(login.address).toBe(`${app.issuer}${loginWith(path)}`)
      const response = await agent.submit(login, { email: app.user.email, password: app.password })
      expect([response.status, response.headers.get('location')]).toEqual([303, path])
      expect((await open(path, {}, agent)).status).toBe(200)
    }
  })

  test('after a form without a login, the login redirects to the page of the form', async () => {
    for (const [path, back] of [
      [at.newClient, at.newClient],
      [at.rotate(tokenId), at.list],
      [at.revokeApplication(clientId), at.list],
    ] as const) {
      const agent = newAgent()
      const { location } = await open(path, form(), agent)
      const login = await agent.browse(new URL(location ?? '', app.issuer))
      const response = await agent.submit(login, { email: app.user.email, password: app.password })
      expect(response.headers.get('location')).toBe(back)
      expect((await open(back, {}, agent)).status).toBe(200)
    }
  })

  test('the server returns 308 to a form that was sent to a path without the trailing slash', async () => {
    for (const path of [...shown(), ...onlyPosted()]) {
      const { status, location } = await open(`${path.slice(0, -1)}?a=b`, form())
      expect([status, location], path).toEqual([308, `${path}?a=b`])
    }
  })
})

describe('authentication of a request for a page', () => {
  const tokens = async (): Promise<readonly string[]> => {
    const personal = await app.personalToken(['notes:read', 'notes:write', 'user:email'])
    const { accessToken } = await authorizationOf(app, clientId)
    const { session } = await Person.logIn(app)
    return [personal, accessToken, session.jwt]
  }

  test('the server ignores a token in the header or in the query', async () => {
    for (const token of await tokens()) {
      const headers = { authorization: `Bearer ${token}` }
      const before = written(app)
      for (const path of [...shown(), ...posted()]) {
        const withQuery = `${path}?access_token=${token}`
        expect(await open(path, { headers })).toMatchObject({
          status: 303,
          location: loginWith(path),
        })
        // The URL of the login does not contain the token.
        expect((await open(withQuery)).location).toBe(loginWith(path))
      }
      for (const path of [...posted(), ...onlyPosted()]) {
        expect((await open(path, form(headers))).status, path).toBe(303)
        const inBody = { name: 'x', access_token: token }
        const sent = await open(path, { method: 'POST', body: body(inBody) })
        expect(sent.location).toMatch(/^\/login\?next=/)
      }
      expect(written(app)).toEqual(before)
    }
  })

  test('the server ignores a token of another user', async () => {
    const person = await Person.stranger(app)
    for (const token of [...(await tokens()), 'nonsense', 'a.b.c']) {
      const page = await person.get(`${at.list}?access_token=${encodeURIComponent(token)}`, {
        authorization: `Bearer ${token}`,
      })
      expect(page.status).toBe(200)
      expect(page.text).toContain(person.user.email)
      expect(page.html).not.toContain(clientId)
    }
  })

  test('the server does not accept a token instead of a CSRF token', async () => {
    const person = await Person.logIn(app)
    const [personal = ''] = await tokens()
    const before = written(app)
    const headers = { authorization: `Bearer ${personal}` }
    expect((await person.postRaw(at.newClient, { name: 'x' }, headers)).status).toBe(403)
    expect((await person.postRaw(at.revokeAll, {}, headers)).status).toBe(403)
    expect(written(app)).toEqual(before)
  })

  test('the server redirects a request with two session cookies to the login', async () => {
    const { session } = await Person.logIn(app)
    const cookie = `${session.cookie}; ${session.cookie}`
    const response = await fetch(`${app.issuer}${at.list}`, {
      headers: { cookie, 'user-agent': browser },
      redirect: 'manual',
    })
    expect([response.status, response.headers.get('location')]).toEqual([303, loginWith(at.list)])
  })

  test('the server redirects a request with the session of another browser, or of an inactive user, to the login', async () => {
    const person = await Person.stranger(app)
    const { cookie } = person.session
    const elsewhere = await fetch(`${app.issuer}${at.list}`, {
      headers: { cookie, 'user-agent': 'another browser' },
      redirect: 'manual',
    })
    expect(elsewhere.status).toBe(303)
    expect((await person.get(at.list)).status).toBe(200)
    await app.server.users.setActive(person.user.id, false)
    expect((await person.get(at.list)).location).toBe(loginWith(at.list))
    expect((await person.post(at.newClient, { name: 'x' })).location).toBe(loginWith(at.newClient))
  })
})

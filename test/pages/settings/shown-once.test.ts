import type { AroundStore } from 'svc-oauth2server'
import { StoreUnavailable } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { redirectUri, startServer, type TestServer } from '../../support/server.ts'
import { at, Person } from './support.ts'

/** Returns a wrapper that makes every store operation after the first committed transaction fail. */
const failingAfterCommit = () => {
  const state = { isArmed: false, isDown: false, depth: 0 }
  const aroundStore: AroundStore = async ({ name }, run) => {
    if (state.isDown && state.depth === 0) throw new StoreUnavailable(`${name} after the commit`)
    if (name !== 'transaction') return run()
    state.depth += 1
    try {
      const result = await run()
      state.isDown = state.isArmed
      return result
    } finally {
      state.depth -= 1
    }
  }
  return { state, aroundStore }
}

interface Case {
  readonly name: string
  /** Creates the object that the form changes. @returns the path and fields of the form */
  readonly prepare: (
    app: TestServer,
  ) => Promise<{ readonly path: string; readonly fields: Record<string, string> }>
  /** The name of the secret in the JSON response. */
  readonly secret: 'client_secret' | 'access_token'
}

const fields = { name: 'Calendar', redirect_uris: redirectUri }

const cases: readonly Case[] = [
  {
    name: 'a new client',
    secret: 'client_secret',
    prepare: async () => ({ path: at.newClient, fields }),
  },
  {
    name: 'a new client secret',
    secret: 'client_secret',
    prepare: async (app) => ({ path: at.reset((await app.client()).clientId), fields: {} }),
  },
  {
    name: 'a new personal token',
    secret: 'access_token',
    prepare: async () => ({ path: at.newToken, fields: { name: 'Script' } }),
  },
  {
    name: 'a rotated personal token',
    secret: 'access_token',
    prepare: async (app) => {
      const { id } = await app.server.tokens.createPersonal('Script', app.user.id)
      return { path: at.rotate(id), fields: {} }
    },
  },
]

describe('a new secret, if the store fails right after the commit', () => {
  test.each(cases)('is in the JSON response for $name', async ({ prepare, secret }) => {
    const { state, aroundStore } = failingAfterCommit()
    await using app = await startServer({ aroundStore })
    const person = await Person.logIn(app)
    const { path, fields } = await prepare(app)
    state.isArmed = true
    const response = await person.request(path, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        authorization: `Bearer ${person.session.jwt}`,
      },
      body: JSON.stringify(fields),
    })
    expect([200, 201]).toContain(response.status)
    expect(JSON.parse(response.html)[secret]).toEqual(expect.any(String))
    expect(state.isDown, 'the store is down from the commit on').toBe(true)
  })

  test.each(cases)('is in the HTML response for $name [T569]', async ({ prepare }) => {
    const { state, aroundStore } = failingAfterCommit()
    await using app = await startServer({ aroundStore })
    const person = await Person.logIn(app)
    const { path, fields } = await prepare(app)
    state.isArmed = true
    const page = await person.post(path, fields)
    expect(page.status).toBe(200)
    expect(page.headers.get('cache-control')).toBe('no-store')
    const value = page.copied('secret') ?? ''
    expect(value).not.toBe('')
    state.isArmed = state.isDown = false
    const isSecret = await app.server.clients.find((/clients\/([^/]+)\//.exec(path) ?? [])[1] ?? '')
    if (isSecret) expect(isSecret.checkSecret(value, app.now())).toBe(true)
    else if (path !== at.newClient)
      expect(await app.server.tokens.find({ accessToken: value })).toBeDefined()
  })

  test('is in the HTML response if a public client becomes confidential', async () => {
    const { state, aroundStore } = failingAfterCommit()
    await using app = await startServer({ aroundStore })
    const person = await Person.logIn(app)
    const { clientId } = await app.client({ isConfidential: false })
    state.isArmed = true
    const page = await person.post(at.client(clientId), { ...fields, is_confidential: 'true' })
    expect(page.status).toBe(200)
    state.isArmed = state.isDown = false
    const client = await app.server.clients.find(clientId)
    expect(client?.isConfidential).toBe(true)
    expect(client?.checkSecret(page.copied('secret') ?? '', app.now())).toBe(true)
  })
})

test('a form without a new secret redirects even if the server cannot store its notice', async () => {
  const { state, aroundStore } = failingAfterCommit()
  await using app = await startServer({ aroundStore })
  const person = await Person.logIn(app)
  const { clientId } = await app.client()
  state.isArmed = true
  const page = await person.post(at.client(clientId), { ...fields, name: 'Other' })
  expect(page.status).toBe(303)
  state.isArmed = state.isDown = false
  expect((await app.server.clients.find(clientId))?.name).toBe('Other')
})

test('the page shows a new secret after a failed attempt to load the page', async () => {
  let failing = false
  const aroundStore: AroundStore = ({ name }, run) =>
    failing && name === 'clients.countTokens' ? Promise.reject(new StoreUnavailable(name)) : run()
  await using app = await startServer({ aroundStore })
  const person = await Person.logIn(app)
  const { clientId } = await app.client()
  expect((await person.post(at.reset(clientId))).status).toBe(303)
  failing = true
  expect((await person.get(at.client(clientId))).status).toBe(503)
  failing = false
  expect((await person.get(at.client(clientId))).copied('client-secret')).toBeDefined()
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { type LoggedIn, logIn } from '../support/session.ts'

let app: TestServer
let session: LoggedIn
beforeAll(async () => {
  app = await startServer()
  session = await logIn(app)
})
afterAll(() => app.close())

const api = async (
  path: string,
  authorization: string,
  init: { method?: string; text?: unknown; raw?: string } = {},
) => {
  const { method = 'GET', raw } = init
  const body = raw ?? ('text' in init ? JSON.stringify({ text: init.text }) : undefined)
  const response = await fetch(`${app.issuer}/api${path}`, {
    method,
    headers: {
      authorization,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}
const bearer = async (...scopes: string[]) => `Bearer ${await app.personalToken(scopes)}`

describe('decision §2 the example application', () => {
  test('requires notes:read to list notes, and notes:write to create and delete notes', async () => {
    const [read, write] = [await bearer('notes:read'), await bearer('notes:write')]
    const created = await api('/notes', write, { method: 'POST', text: 'Buy milk' })
    expect(created).toEqual({
      status: 201,
      body: {
        id: expect.any(Number),
        text: 'Buy milk',
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    })
    expect((await api('/notes', read)).body).toEqual([created.body])
    expect((await api('/notes', write)).status).toBe(403)
    expect((await api('/notes', read, { method: 'POST', text: 'x' })).status).toBe(403)
    const path = `/notes/${created.body.id}`
    expect((await api(path, read, { method: 'DELETE' })).status).toBe(403)
    expect(await api(path, write, { method: 'DELETE' })).toEqual({ status: 204, body: undefined })
    expect((await api(path, write, { method: 'DELETE' })).status).toBe(404)
    expect((await api('/notes', read)).body).toEqual([])
  })

  test('hides notes of other users, even from a token with all scopes', async () => {
    const mine = await api('/notes', await bearer('notes:write'), { method: 'POST', text: 'mine' })
    const other = await app.server.users.create({ email: 'user-b@example.org', password: null })
    const scopes = ['notes:read', 'notes:write']
    const theirs = `Bearer ${(await app.server.tokens.createPersonal('Test', other.id, { scopes })).accessToken}`
    expect((await api('/notes', theirs)).body).toEqual([])
    expect((await api(`/notes/${mine.body.id}`, theirs, { method: 'DELETE' })).status).toBe(404)
    expect((await api('/notes', await bearer('notes:read'))).body).toHaveLength(1)
  })

  test.each<[string, { text?: unknown; raw?: string }, number]>([
    ['a missing text', { text: undefined }, 400],
    ['an empty text', { text: '  ' }, 400],
    ['a text that is too long', { text: 'x'.repeat(2_001) }, 400],
    ['a number', { text: 1 }, 400],
    ['an array', { text: ['x'] }, 400],
    ['a JSON string instead of an object', { raw: '"x"' }, 400],
    ['invalid JSON', { raw: '{' }, 400],
    ['more than 16 kB', { text: 'x'.repeat(20_000) }, 413],
  ])('refuses a note with %s', async (_, input, status) => {
    const response = await api('/notes', await bearer('notes:write'), { method: 'POST', ...input })
    expect(response).toEqual({ status, body: { status, message: expect.any(String) } })
  })

  test('/api/me returns the e-mail address with the scope user:email, or for a session', async () => {
    const { id, email } = app.user
    expect((await api('/me', await bearer())).body).toEqual({ id, kind: 'personal_token' })
    expect((await api('/me', await bearer('user:email'))).body).toEqual({
      id,
      email,
      kind: 'personal_token',
    })
    const headers = { authorization: `Bearer ${session.jwt}` }
    const me = await session.agent.fetch(`${app.issuer}/api/me`, { headers })
    expect(await me.json()).toEqual({ id, email, kind: 'session' })
  })

  test('displays the logged-in user on its page, which forbids frames', async () => {
    const page = await session.agent.fetch(`${app.issuer}/`)
    expect(await page.text()).toContain(app.user.email)
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('x-powered-by')).toBeNull()
  })
})

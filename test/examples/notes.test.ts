import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

// Scopes limit what a token may do; the application itself controls access to the notes of a user.

let app: TestServer
beforeAll(async () => {
  app = await startServer()
})
afterAll(() => app.close())

const all = ['notes:read', 'notes:write']
const asker = (token: string) => {
  return async (method: string, path: string, body?: object) => {
    const response = await fetch(`${app.issuer}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
}

test('a token with every scope can access only the notes of its user [T759]', async () => {
  const { server } = app
  const other = await server.users.create({ email: 'user-b@example.org', password: null })
  const [mine, theirs] = [
    asker(await app.personalToken(all)),
    asker((await server.tokens.createPersonal('Test', other.id, { scopes: all })).accessToken),
  ]
  const { body: note } = await mine('POST', '/api/notes', { text: 'a secret' })
  expect(note).toEqual({ id: expect.any(Number), text: 'a secret', created_at: expect.any(String) })
  expect((await mine('GET', '/api/notes')).body).toEqual([note])
  expect((await theirs('GET', '/api/notes')).body).toEqual([])
  const missing = await theirs('DELETE', '/api/notes/999')
  expect(missing.status).toBe(404)
  expect(await theirs('DELETE', `/api/notes/${note.id}`)).toEqual(missing)
  expect((await mine('GET', '/api/notes')).body).toEqual([note])
  expect((await mine('DELETE', `/api/notes/${note.id}`)).status).toBe(204)
  expect((await mine('DELETE', `/api/notes/${note.id}`)).status).toBe(404)
  for (const id of ['x', '1.5', '1e3', '9007199254740993'])
    expect((await mine('DELETE', `/api/notes/${id}`)).status).toBe(404)
})

test('the token of a client without an owner has no user, and can access no notes', async () => {
  const { client, clientSecret } = await app.server.clients.create({
    name: 'Robot',
    defaultScopes: all,
  })
  const response = await fetch(`${app.issuer}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
    headers: { authorization: `Basic ${btoa(`${client.clientId}:${clientSecret}`)}` },
  })
  const { access_token } = (await response.json()) as { access_token: string }
  const ask = asker(access_token)
  expect((await ask('GET', '/api/me')).status).toBe(200)
  expect((await ask('GET', '/api/notes')).status).toBe(403)
  expect((await ask('POST', '/api/notes', { text: 'x' })).status).toBe(403)
  expect((await ask('DELETE', '/api/notes/1')).status).toBe(403)
})

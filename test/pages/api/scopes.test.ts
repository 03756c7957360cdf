import { emailScope, Scope } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { clientOf } from '../../support/tokens.ts'
import { applications, type Fields, Script } from './script.ts'

let app: TestServer
let script: Script
beforeAll(async () => {
  app = await startServer()
  script = await Script.logIn(app)
})
afterAll(() => app.close())

const created = async (path: string, fields: Fields): Promise<Record<string, string>> => {
  const { status, body } = await script.post(`${applications}${path}`, fields)
  expect([status, body]).toEqual([201, body])
  return body as Record<string, string>
}
const newClient = (fields: Fields = {}) => created('/clients/new/', { name: 'Printer', ...fields })
const newToken = (fields: Fields = {}) => created('/tokens/new/', { name: 'Laptop', ...fields })

describe('scopes in the settings', () => {
  test('internal scopes are not offered as choices', async () => {
    for (const path of ['/clients/new/', '/tokens/new/']) {
      const { body } = await script.get(`${applications}${path}`)
      const { scopes } = body as { readonly scopes: readonly object[] }
      expect(scopes).toEqual([
        { id: 'notes:read', help_text: 'Read your notes', group: 'Notes' },
        { id: 'notes:write', help_text: 'Write and delete your notes', group: 'Notes' },
        { id: 'user:email', help_text: 'Read your e-mail address', group: 'User' },
      ])
    }
    const headers = { 'accept-language': 'de' }
    const { text } = await script.send(`${applications}/tokens/new/`, { headers })
    expect(text).toContain('Deine E-Mail-Adresse lesen')
  })

  test('internal and unknown scopes are rejected with the name of the field', async () => {
    const { client_id } = await newClient()
    const { id } = await newToken()
    for (const scope of ['test:scope', 'unknown', 'notes:read notes:write']) {
      for (const [path, field] of [
        ['/clients/new/', 'default_scopes'],
        ['/clients/new/', 'optional_scopes'],
        [`/clients/${client_id}/`, 'default_scopes'],
        [`/clients/${client_id}/`, 'optional_scopes'],
        ['/tokens/new/', 'scopes'],
        [`/tokens/${id}/`, 'scopes'],
      ] as const) {
        for (const as of ['post', 'postForm'] as const) {
          const fields = { name: 'x', [field]: ['notes:read', scope] }
          const { status, body } = await script[as](`${applications}${path}`, fields)
          expect([status, body]).toMatchObject([400, { field }])
        }
      }
    }
  })

  test('internal scopes are not displayed, but are retained if application code granted them', async () => {
    const { client } = await app.server.clients.create({
      name: 'By code',
      userId: app.user.id,
      defaultScopes: ['notes:read', 'test:scope'],
    })
    const path = `${applications}/clients/${client.clientId}/`
    const { body } = await script.get(path)
    expect(body).toMatchObject({ default_scopes: ['notes:read'] })
    expect((await script.post(path, body as Fields)).status).toBe(200)
    await script.post(path, { default_scopes: ['notes:write'] })
    expect((await clientOf(app, client.clientId)).defaultScopes).toEqual([
      'notes:write',
      'test:scope',
    ])

    const scopes = ['notes:read', 'test:scope']
    const { id } = await app.server.tokens.createPersonal('By code', app.user.id, { scopes })
    const token = `${applications}/tokens/${id}/`
    expect((await script.get(token)).body).toMatchObject({ scopes: ['notes:read'] })
    await script.post(token, { scopes: ['notes:write'] })
    expect((await app.server.tokens.get(id))?.scopes).toEqual(['notes:write', 'test:scope'])
  })

  test('scopes that are no longer registered do not prevent updates', async () => {
    const { client_id } = await newClient({ default_scopes: ['notes:read', 'notes:write'] })
    const { id } = await newToken({ scopes: ['notes:read', 'notes:write'] })
    const scopes = [emailScope, new Scope('notes:read')]
    await using later = await startServer({ beside: app, scopes })
    const own = await Script.logIn(later)
    for (const path of [`${applications}/clients/${client_id}/`, `${applications}/tokens/${id}/`]) {
      const { body } = await own.get(path)
      expect(JSON.stringify(body)).not.toContain('notes:write')
      expect(await own.post(path, body as Fields)).toMatchObject({
        status: 200,
        body: body as Fields,
      })
      const fields = { name: 'Other', scopes: ['notes:read'], default_scopes: ['notes:read'] }
      expect((await own.post(path, fields)).status).toBe(200)
    }
  })
})

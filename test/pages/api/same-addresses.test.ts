import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { query } from '../../support/database.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { applications, Script } from './script.ts'

let app: TestServer
let script: Script
beforeAll(async () => {
  app = await startServer()
  script = await Script.logIn(app)
})
afterAll(() => app.close())

describe('the paths of the settings, which browsers and scripts share', () => {
  test('return a page or JSON as the Accept header requests, even with a JWT', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    for (const wanted of [accept, '*/*', `${accept}, application/json`]) {
      const headers = { accept: wanted }
      const { headers: given } = await script.send(`${applications}/`, { headers })
      expect([wanted, given.get('content-type')]).toEqual([wanted, 'text/html; charset=utf-8'])
    }
    for (const wanted of [
      'application/json',
      'application/json, text/plain, */*',
      'text/html;q=0.5, application/json',
    ]) {
      const headers = { accept: wanted }
      const { headers: given } = await script.send(`${applications}/`, { headers })
      expect([wanted, given.get('content-type')]).toEqual([wanted, 'application/json'])
    }
  })

  test('reject JSON without a JWT, and a form without a CSRF token', async () => {
    const before = query(app.database, 'select client_id from oauth2server_client')
    const headers = { accept: 'text/html', 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'x', csrf_token: script.session.csrfToken })
    const path = `${applications}/clients/new/`
    expect((await script.send(path, { method: 'POST', headers, body })).status).toBe(400)
    const form = {
      method: 'POST',
      headers: { accept: 'text/html' },
      body: new URLSearchParams({ name: 'x' }),
    }
    expect((await script.send(path, form)).status).toBe(403)
    expect(query(app.database, 'select client_id from oauth2server_client')).toEqual(before)
  })

  test('neither return nor delete the secret for a page if a script requests the path', async () => {
    const { session } = script
    const path = `${applications}/clients/new/`
    const fields = { name: 'By form', csrf_token: session.csrfToken }
    const posted = await session.agent.fetch(`${app.issuer}${path}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
    })
    const location = posted.headers.get('location') ?? ''
    const { text } = await script.get(location)
    expect(text).not.toContain('client_secret"')
    const page = await (await session.agent.fetch(new URL(location, app.issuer))).text()
    expect(page).toMatch(/[A-Za-z0-9]{60}/)
  })
})

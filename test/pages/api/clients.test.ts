import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { tokenRequest } from '../../support/user-agent.ts'
import { applications, type Fields, Script } from './script.ts'

// A script of a single-page application manages the clients of its user with JSON requests to the settings.

let app: TestServer
let script: Script
beforeAll(async () => {
  app = await startServer()
  script = await Script.logIn(app)
})
afterAll(() => app.close())

const newClient = async (fields: Fields = {}): Promise<Record<string, string>> => {
  const response = await script.post(`${applications}/clients/new/`, { name: 'Printer', ...fields })
  expect(response).toMatchObject({ status: 201 })
  return response.body as Record<string, string>
}

/** Returns whether the client can request a token with these credentials. */
const isAccepted = async (clientId: string | undefined, clientSecret: string | undefined) => {
  const grant = { grant_type: 'client_credentials', client_id: clientId }
  const { status } = await tokenRequest(app.issuer, { ...grant, client_secret: clientSecret })
  return status === 200
}

describe('a client', () => {
  test('is registered with a valid secret that no later response contains', async () => {
    const { client_id, client_secret = '' } = await newClient()
    expect(client_secret).toHaveLength(60)
    expect(await isAccepted(client_id, client_secret)).toBe(true)
    for (const path of [`${applications}/`, `${applications}/clients/${client_id}/`])
      expect((await script.get(path)).text).not.toContain(client_secret)
  })

  test('has no secret if the client is public, and the secret cannot be reset', async () => {
    const client = await newClient({ is_confidential: false })
    expect(client).toMatchObject({ client_type: 'public', is_confidential: false })
    expect(client).not.toHaveProperty('client_secret')
    const path = `${applications}/clients/${client.client_id}/reset/`
    expect(await script.post(path)).toMatchObject({ status: 400, body: { field: 'client_secret' } })
  })

  test('retains the fields that an update omits, with JSON and with a form', async () => {
    const given = {
      description: 'Prints\nreports.',
      website: 'https://printer.example',
      redirect_uris: ['https://printer.example/cb'],
      is_confidential: false,
      default_scopes: ['notes:read'],
      optional_scopes: ['notes:write'],
    }
    const { client_id } = await newClient(given)
    const path = `${applications}/clients/${client_id}/`
    expect((await script.post(path, { name: 'Other' })).body).toMatchObject({
      ...given,
      name: 'Other',
    })
    expect((await script.postForm(path, { website: '' })).body).toMatchObject({
      ...given,
      name: 'Other',
      website: '',
    })
    expect((await script.post(path, {})).body).toMatchObject({ ...given, website: '' })
    const emptied = { redirect_uris: [], default_scopes: [], optional_scopes: [], description: '' }
    expect((await script.post(path, emptied)).body).toMatchObject({
      ...emptied,
      name: 'Other',
      is_confidential: false,
    })
    expect((await script.get(path)).body).toMatchObject(emptied)
  })

  test('remains unchanged by an update with an invalid redirect URI, and the error contains the line number', async () => {
    const { client_id } = await newClient({ redirect_uris: ['https://a.example'] })
    const path = `${applications}/clients/${client_id}/`
    const before = await script.get(path)
    for (const redirect_uris of [
      ['https://a.example', 'https://b.example', 'http://c.example'],
      'https://a.example\n\nhttp://c.example',
    ]) {
      const { status, body } = await script.post(path, { name: 'Other', redirect_uris })
      expect([status, body]).toEqual([
        400,
        {
          error: 'invalid_request',
          error_description: expect.stringMatching(/^Line 3: /),
          field: 'redirect_uris',
          line: 3,
        },
      ])
    }
    expect((await script.get(path)).body).toEqual(before.body)
  })

  test('has a new secret after a reset, and the previous secret remains valid for the overlap', async () => {
    const { client_id, client_secret: former } = await newClient()
    const path = `${applications}/clients/${client_id}/reset/`
    const { body } = await script.post(path, { overlap: 600 })
    const { client_secret, previous_client_secret_expires } = body as Record<string, string>
    expect(Date.parse(previous_client_secret_expires ?? '')).toBe(app.now() + 600_000)
    expect(await isAccepted(client_id, former)).toBe(true)
    expect(await isAccepted(client_id, client_secret)).toBe(true)
    const next = (await script.post(path)).body as Record<string, string>
    expect(await isAccepted(client_id, former)).toBe(false)
    expect(await isAccepted(client_id, client_secret)).toBe(false)
    expect(await isAccepted(client_id, next.client_secret)).toBe(true)
  })

  test('is deleted only if the request contains the name of the client', async () => {
    const { client_id } = await newClient()
    const path = `${applications}/clients/${client_id}/`
    expect((await script.post(path, { delete: 'yes' })).body).toMatchObject({
      field: 'confirm_name',
    })
    expect(await script.post(path, { delete: 'yes', confirm_name: 'Printer' })).toMatchObject({
      status: 200,
      body: {},
    })
    expect((await script.get(path)).status).toBe(404)
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { statusOf } from '../../support/tokens.ts'
import { applications, type Fields, Script } from './script.ts'

let app: TestServer
let script: Script
beforeAll(async () => {
  app = await startServer()
  script = await Script.logIn(app)
})
afterAll(() => app.close())

const newToken = async (fields: Fields = {}): Promise<Record<string, string>> => {
  const response = await script.post(`${applications}/tokens/new/`, { name: 'Laptop', ...fields })
  expect(response).toMatchObject({ status: 201 })
  return response.body as Record<string, string>
}

describe('a personal token', () => {
  test('is created with a valid value that no later response contains', async () => {
    const { id, access_token = '', ...token } = await newToken({ scopes: ['notes:read'] })
    expect(token).toMatchObject({
      name: 'Laptop',
      scopes: ['notes:read'],
      expires: new Date(app.now() + 7_776_000_000).toISOString(),
      last_four: access_token.slice(-4),
    })
    expect(await statusOf(app, access_token)).toBe(200)
    for (const path of [`${applications}/`, `${applications}/tokens/${id}/`]) {
      const { text } = await script.get(path)
      expect(text).not.toContain(access_token)
      expect(text).not.toMatch(/access_token|secret"|digest|seal/)
    }
    expect((await script.get(`${applications}/tokens/${id}/`)).body).toMatchObject({
      last_used_at: new Date(app.now()).toISOString(),
      last_used_address: '127.0.0.1',
    })
  })

  test('expires at the end of the given day, at the given second, or never', async () => {
    expect(await newToken({ expires: '2027-01-31' })).toMatchObject({
      expires: '2027-01-31T23:59:59.000Z',
    })
    expect(await newToken({ expires: '2027-01-31', time_zone: 'Asia/Tokyo' })).toMatchObject({
      expires: '2027-01-31T14:59:59.000Z',
    })
    expect(await newToken({ expires: null })).toMatchObject({ expires: null })
    expect(await newToken({ expires: '2027-01-31T12:00:00Z' })).toMatchObject({
      expires: '2027-01-31T12:00:00.000Z',
    })
    for (const expires of ['2020-01-01', '2027-02-30', 'tomorrow', '2027-01-31T12:00:00+01:00']) {
      const response = await script.post(`${applications}/tokens/new/`, { name: 'x', expires })
      expect(response).toMatchObject({ status: 400, body: { field: 'expires' } })
    }
  })

  test('retains the fields that an update omits', async () => {
    const { id } = await newToken({ scopes: ['notes:read'] })
    const path = `${applications}/tokens/${id}/`
    const named = (await script.post(path, { name: 'Phone' })).body
    expect(named).toMatchObject({ name: 'Phone', scopes: ['notes:read'] })
    const scoped = (await script.post(path, { scopes: ['notes:write'] })).body
    expect(scoped).toMatchObject({ name: 'Phone', scopes: ['notes:write'] })
    expect((await script.post(path, { scopes: [] })).body).toMatchObject({ scopes: [] })
  })

  test('has a new value after a rotation, and the previous value remains valid for the overlap', async () => {
    const { id, access_token: former = '' } = await newToken()
    const { body } = await script.post(`${applications}/tokens/${id}/rotate/`, { overlap: 60 })
    const { access_token = '', previous_expires } = body as Record<string, string>
    expect(Date.parse(previous_expires ?? '')).toBe(app.now() + 60_000)
    expect([await statusOf(app, former), await statusOf(app, access_token)]).toEqual([200, 200])
    await script.post(`${applications}/tokens/${id}/rotate/`)
    expect([await statusOf(app, former), await statusOf(app, access_token)]).toEqual([401, 401])
  })

  test('can be deleted', async () => {
    const { id, access_token = '' } = await newToken()
    const path = `${applications}/tokens/${id}/`
    expect(await script.post(path, { delete: 'yes' })).toMatchObject({ status: 200 })
    expect([await statusOf(app, access_token), (await script.get(path)).status]).toEqual([401, 404])
  })
})

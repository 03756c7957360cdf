import { afterAll, beforeAll, expect, test } from 'vitest'
import { maxOverlap } from '../../../src/model/overlap.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { browser } from '../../support/session.ts'
import { Contract } from './contract.ts'
import { applications, bearer, read, Script } from './script.ts'
import { createUserObjects, type UserObjects } from './things.ts'

// Each test covers one type of error that Schemathesis found in the OpenAPI document. CONTRIBUTING.md explains how to
// run Schemathesis.

let app: TestServer
let contract: Contract
let script: Script
let things: UserObjects
beforeAll(async () => {
  app = await startServer()
  contract = await Contract.of(app)
  script = await Script.logIn(app)
  things = await createUserObjects(app)
})
afterAll(() => app.close())

const addressOf = (path: string): string =>
  path
    .replace('{client_id}', things.clientId)
    .replace('{id}', String(path.endsWith('view/') ? things.deviceId : things.tokenId))

test('declares the HTML responses and the redirects of every settings page [T971]', async () => {
  const { cookie } = script.session
  const shown = contract.operations.filter(
    ({ tags, method }) => tags.includes('settings') && method === 'GET',
  )
  expect(shown.length).toBeGreaterThan(7)
  for (const operation of shown) {
    for (const headers of [{ cookie, 'user-agent': browser }, {}]) {
      const response = await read(
        await fetch(`${app.issuer}${addressOf(operation.path)}`, { headers, redirect: 'manual' }),
      )
      const { operationId } = operation
      expect([operationId, contract.differences(operation, response)]).toEqual([operationId, []])
    }
  }
})

test('declares the HTML response to a path with a null character [T972]', async () => {
  const operation = contract.operation('getClient')
  const response = await read(await fetch(`${app.issuer}${applications}/clients/%00/`))
  expect([response.status, contract.differences(operation, response)]).toEqual([404, []])
})

test('declares the configured path of the document [T974]', async () => {
  await using other = await startServer({ openapiPath: '/described.json' })
  const document = (await (await fetch(`${other.issuer}/described.json`)).json()) as {
    readonly paths: object
  }
  expect(Object.keys(document.paths)).toContain('/described.json')
  expect(Object.keys(document.paths)).not.toContain('/openapi.json')
})

test('declares the maximum overlap that the server accepts [T975]', async () => {
  for (const [id, path] of [
    ['resetClientSecret', `${applications}/clients/${things.clientId}/reset/`],
    ['rotatePersonalToken', `${applications}/tokens/${things.tokenId}/rotate/`],
  ] as const) {
    const operation = contract.operation(id)
    for (const [overlap, isValid] of [
      [maxOverlap, true],
      [maxOverlap + 1, false],
      ['60', false],
    ] as const) {
      expect([overlap, contract.wrongBody(operation, { overlap }).length === 0]).toEqual([
        overlap,
        isValid,
      ])
      const { status } = await script.post(path, { overlap })
      expect([id, overlap, status]).toEqual([id, overlap, isValid ? 200 : 400])
    }
  }
})

test('declares that an update may have unknown fields or no body, and accepts both [T976]', async () => {
  const operation = contract.operation('changePersonalToken')
  const fields = { name: 'Known', unknown: [1] }
  expect(contract.wrongBody(operation, fields)).toEqual([])
  expect(operation.requestBody?.required).toBe(false)
  const path = `${applications}/tokens/${things.tokenId}/`
  expect((await script.post(path, fields)).status).toBe(200)
  expect((await script.post(path)).status).toBe(200)
})

test('declares that parameters contain no control character, and rejects control characters [T977]', async () => {
  for (const [id, path] of [
    ['token', '/oauth/token'],
    ['introspect', '/oauth/introspect'],
    ['revoke', '/oauth/revoke'],
    ['pushAuthorizationRequest', '/oauth/par'],
  ] as const) {
    const { requestBody } = contract.operation(id)
    const schema = requestBody?.content['application/x-www-form-urlencoded']?.schema ?? {}
    const fields = { grant_type: 'client_credentials', token: 'x', client_id: 'a\u0001' }
    expect([id, contract.invalid(schema, fields).length]).toEqual([id, 1])
    expect([id, contract.invalid(schema, { ...fields, client_id: 'a' })]).toEqual([id, []])
    const body = new URLSearchParams(fields)
    const response = await fetch(`${app.issuer}${path}`, { method: 'POST', body })
    expect([id, response.status]).toEqual([id, 400])
  }
})

test('declares one way to send an access token, and rejects a request that uses two ways [T978]', async () => {
  expect(contract.operation('ping').security).toEqual([{ accessToken: [] }])
  const token = await app.personalToken(['notes:read'])
  const headers = bearer(token)
  expect((await fetch(`${app.issuer}/oauth/ping`, { headers })).status).toBe(200)
  expect((await fetch(`${app.issuer}/oauth/ping?access_token=`, { headers })).status).toBe(400)
})

test('declares that a page requires no JWT, and a JSON response requires a JWT [T979]', async () => {
  const operation = contract.operation('listApplications')
  expect(operation.security).toEqual([{ session: [], sessionJwt: [] }, { session: [] }, {}])
  const { authorization: _, ...page } = script.headers
  const path = `${app.issuer}${applications}/`
  const statusOf = async (accept: string) =>
    (await fetch(path, { headers: { ...page, accept } })).status
  expect([await statusOf('text/html'), await statusOf('application/json')]).toEqual([200, 400])
})

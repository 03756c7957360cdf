import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { Contract } from './contract.ts'
import {
  admin,
  applications,
  type Fields,
  formOf,
  type HttpResponse,
  Script,
  sessions,
  written,
} from './script.ts'
import { createUserObjects, type UserObjects } from './things.ts'

// Every body that the OpenAPI document does not allow must cause a 4xx response and no change in the database.

let app: TestServer
let contract: Contract
let script: Script
let things: UserObjects
beforeAll(async () => {
  // The tests send more forms than the limit `changes` allows.
  app = await startServer({ dangerouslyIgnoreLimits: true })
  contract = await Contract.of(app)
  const user = await app.newUser({ email: 'a@example.org', isAdmin: true })
  script = await Script.logIn(app, user)
  things = await createUserObjects(app, user)
})
afterAll(() => app.close())

/** Returns operations that accept a body, each with its path and a valid body. */
const targets = (): readonly (readonly [id: string, path: string, Fields])[] => {
  const { clientId, tokenId } = things
  return [
    [
      'createClient',
      `${applications}/clients/new/`,
      {
        name: 'New',
        description: 'x',
        website: 'https://a.example',
        redirect_uris: ['https://a.example/cb'],
        is_confidential: true,
        default_scopes: ['notes:read'],
        optional_scopes: ['notes:read'],
      },
    ],
    [
      'changeClient',
      `${applications}/clients/${clientId}/`,
      { name: 'Changed', description: 'y', is_confidential: true, default_scopes: [] },
    ],
    [
      'changeClient',
      `${applications}/clients/${clientId}/`,
      { delete: 'yes', confirm_name: 'Printer' },
    ],
    ['resetClientSecret', `${applications}/clients/${clientId}/reset/`, { overlap: 60 }],
    [
      'createPersonalToken',
      `${applications}/tokens/new/`,
      { name: 'New', scopes: ['notes:read'], expires: '2027-01-31' },
    ],
    ['changePersonalToken', `${applications}/tokens/${tokenId}/`, { name: 'Changed', scopes: [] }],
    ['changePersonalToken', `${applications}/tokens/${tokenId}/`, { delete: 'yes' }],
    ['rotatePersonalToken', `${applications}/tokens/${tokenId}/rotate/`, { overlap: 60 }],
    ['endSessions', sessions, { others: 'yes' }],
    ['endSessions', sessions, { session_id: things.sessionId }],
    ['administer', admin, { client_id: clientId, act: 'disable' }],
    ['administer', admin, { token_id: tokenId, act: 'delete' }],
    ['administerApplication', `${admin}${clientId}/`, { act: 'delete', confirm_name: 'Printer' }],
    ['administerToken', '/admin/tokens/', { token_id: tokenId, act: 'delete' }],
  ]
}

/** Sends a request. Expects a 4xx response that matches the document, and an unchanged database. */
const expectRefused = async (id: string, what: unknown, send: () => Promise<HttpResponse>) => {
  const before = written(app)
  const response = await send()
  const { status, text } = response
  expect([what, Math.floor(status / 100), text]).toEqual([what, 4, text])
  expect(contract.differences(contract.operation(id), response), text).toEqual([])
  expect(written(app)).toEqual(before)
  return response
}

const wrongValues = [
  0,
  -1,
  1.5,
  true,
  null,
  {},
  { name: 'x' },
  [[]],
  [{}],
  [null],
  [1],
  ['a', 'b'],
  '\uD800',
  '\u0000',
]

describe('a field with a value of a wrong type, or with a character that cannot be stored', () => {
  test('is rejected without a change in the database', async () => {
    let tried = 0
    for (const [id, path, fields] of targets()) {
      const operation = contract.operation(id)
      expect([fields, contract.wrongBody(operation, fields)]).toEqual([fields, []])
      for (const name of Object.keys(fields)) {
        for (const value of wrongValues) {
          const body = { ...fields, [name]: value }
          const isString = typeof value === 'string'
          if (!isString && contract.wrongBody(operation, body).length === 0) continue
          await expectRefused(id, body, () => script.post(path, body))
          tried += 1
        }
      }
    }
    expect(tried).toBeGreaterThan(200)
  })

  test('is rejected if a number is out of range or not an integer', async () => {
    const { clientId, tokenId } = things
    for (const [id, path] of [
      ['resetClientSecret', `${applications}/clients/${clientId}/reset/`],
      ['rotatePersonalToken', `${applications}/tokens/${tokenId}/rotate/`],
    ] as const) {
      for (const number of ['1e400', '-1e400', '1e21', '1e-7', '-0.5', '9007199254740993'])
        await expectRefused(id, number, () => script.postText(path, `{"overlap":${number}}`))
    }
  })

  test('causes an error that names the field and the expected type', async () => {
    const path = `${applications}/clients/new/`
    const { body } = await script.post(path, { name: 7 })
    expect(body).toEqual({
      error: 'invalid_request',
      error_description: 'name must be a text.',
      field: 'name',
    })
    expect((await script.post(path, { name: 'x', is_confidential: null })).body).toMatchObject({
      error_description: 'is_confidential must be true or false.',
    })
    expect((await script.post(path, { name: 'x', default_scopes: [1] })).body).toMatchObject({
      error_description: 'default_scopes must be a list of texts.',
    })
  })
})

describe('a body that the server does not accept', () => {
  test.each(
    [
      'null',
      'true',
      '7',
      '"name"',
      '[]',
      '[{"name":"x"}]',
      '{"name":"x"',
      '{"name":"x"}}',
      "{'name':'x'}",
      '{"name":"x",}',
      'name=x',
      '\u0000',
      '{"name":"x"}\u0000',
      '['.repeat(60_000),
    ].map((value) => [JSON.stringify(value.slice(0, 40)), value] as const),
  )('rejects %s, which is not a JSON object', async (_, body) => {
    for (const [id, path] of targets())
      await expectRefused(id, body.slice(0, 40), () => script.postText(path, body))
  })

  test('rejects objects that are nested 5,000 levels deep in a field', async () => {
    const body = `${'{"name":'.repeat(5_000)}1${'}'.repeat(5_000)}`
    const path = `${applications}/clients/new/`
    await expectRefused('createClient', 'nested', () => script.postText(path, body))
  })

  test('rejects another content type', async () => {
    const json = '{"name":"x","overlap":60,"delete":"yes","confirm_name":"Printer","others":"yes"}'
    const types = [
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/xml',
      'application/json-patch+json',
      'application/jsonp',
      'application/json; charset=utf-16',
      'application/json, text/plain',
      'application/x-www-form-urlencoded; charset=utf-16',
    ]
    for (const type of types) {
      for (const [id, path] of targets())
        await expectRefused(id, type, () => script.postText(path, json, type))
    }
  })

  test('rejects a compressed body', async () => {
    const [id, path, fields] = targets()[0] ?? ['', '', {}]
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const body = JSON.stringify(fields)
    await expectRefused(id, 'gzip', () => script.send(path, { method: 'POST', headers, body }))
  })
})

describe('the size of a body', () => {
  test('may be 64 KiB, but not one byte more', async () => {
    const path = `${applications}/clients/new/`
    const padded = (length: number): string => `{"name":"x"${' '.repeat(length - 12)}}`
    expect((await script.postText(path, padded(65_536))).status).toBe(201)
    const { status } = await expectRefused('createClient', 'too large', () =>
      script.postText(path, padded(65_537)),
    )
    expect(status).toBe(413)
  })

  test('is limited to two thousand values', async () => {
    const path = `${applications}/tokens/new/`
    const scopes = (length: number) => Array.from({ length }, () => 'notes:read')
    const { status, body } = await script.post(path, { name: 'x', scopes: scopes(1_999) })
    expect([status, body]).toMatchObject([201, { scopes: ['notes:read'] }])
    await expectRefused('createPersonalToken', 'too many', () =>
      script.post(path, { name: 'x', scopes: scopes(2_000) }),
    )
  })
})

describe('a repeated field that is not a list', () => {
  test('is rejected in a form', async () => {
    for (const [id, path, fields] of targets()) {
      for (const [name, value] of Object.entries(fields)) {
        if (Array.isArray(value)) continue
        const body = formOf(fields)
        body.append(name, String(value))
        await expectRefused(id, `${body}`, () => script.send(path, { method: 'POST', body }))
      }
    }
  })

  test('has the last of its values in JSON', async () => {
    const { body } = await script.postText(
      `${applications}/tokens/new/`,
      '{"name":"first","name":"last"}',
    )
    expect(body).toMatchObject({ name: 'last' })
  })
})

describe('optional parts of a request', () => {
  test('ignores unknown fields', async () => {
    const more = { csrf_token: 'x', nested: { a: [1] }, __proto__: null, constructor: {} }
    const { status, body } = await script.post(`${applications}/tokens/new/`, {
      ...more,
      ['__proto__']: { name: 'y' },
      name: 'Known',
    })
    expect([status, body]).toMatchObject([201, { name: 'Known' }])
  })

  test('accepts the body of a response as the body of an update', async () => {
    for (const path of [
      `${applications}/clients/${things.clientId}/`,
      `${applications}/tokens/${things.tokenId}/`,
    ]) {
      const before = await script.get(path)
      const after = await script.post(path, before.body as Fields)
      expect([after.status, after.body]).toEqual([200, before.body])
    }
  })

  test('accepts a request without a body if no field is required', async () => {
    const path = `${applications}/authorized/revoke/`
    expect((await script.post(path)).status).toBe(200)
    expect((await script.post(path, {})).status).toBe(200)
    expect((await script.postForm(path, {})).status).toBe(200)
    expect((await script.post(`${applications}/tokens/new/`)).body).toMatchObject({ field: 'name' })
  })
})

test('written() returns another dump after a change in the database', async () => {
  const before = written(app)
  await script.post(`${applications}/tokens/new/`, { name: 'Seen' })
  expect(written(app)).not.toEqual(before)
})

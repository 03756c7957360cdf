import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deviceGrant } from '../support/device.ts'
import { startServer } from '../support/server.ts'
import { assertionOf, jwksOf, jwtBearer, newClientKey } from '../support/signing-client.ts'
import {
  type AttackServer,
  attackOptions,
  basic,
  expectBearer,
  expectJson,
  expectLocal400,
  expectNoChange,
  expectRedirect,
  formOf,
  type HttpResponse,
  type Over,
  type Redeeming,
  startAttackServer,
} from './support/attack-server.ts'

let attack: AttackServer
beforeAll(async () => {
  attack = await startAttackServer()
})
afterAll(() => attack.close())

const raw = (text: string) => ({
  authorization: `Basic ${Buffer.from(text, 'utf8').toString('base64')}`,
})

describe('CA-01 Wrong secret', () => {
  test('returns the same response for a known and an unknown client, by Basic and in the body', async () => {
    const { clientId, clientSecret } = attack.clients.imp
    const code = await attack.code({}, { client: 'imp' })
    const wrong = [
      [clientId, 'wrong'],
      [clientId, ''],
      [clientId, clientSecret.slice(0, -1)],
      [clientId, `${clientSecret}x`],
      [clientId, clientSecret.toLowerCase()],
      [clientId, attack.clients.conf.clientSecret],
      ['nope', 'wrong'],
      ['nope', clientSecret],
      ['', clientSecret],
      ['__proto__', 'x'],
      ['nope', ''],
    ] as const
    const bodies = new Set<string>()
    // An empty password is no credential, so the response says that the credential is missing.
    const withoutCredential = new Set<string>()
    await expectNoChange(attack, async () => {
      for (const [id, secret] of wrong) {
        const headers = { authorization: basic(id, secret) }
        const byHeader = await attack.token({ code }, { client: 'imp', auth: 'none', headers })
        // Omit client_id from the body, because it would contradict the header.
        const alone = await attack.token(
          { code, client_id: undefined },
          { client: 'imp', auth: 'none', headers },
        )
        expectJson(alone, 401, 'invalid_client', { triedBasic: true })
        expect([400, 401]).toContain(byHeader.status)
        ;(secret === '' ? withoutCredential : bodies).add(alone.text)
        if (id === '' || secret === '') continue
        const given = { code, client_id: id, client_secret: secret }
        const inBody = await attack.token(given, { client: 'imp', auth: 'none' })
        expectJson(inBody, 401, 'invalid_client', { triedBasic: false })
        bodies.add(inBody.text)
      }
    })
    expect([bodies.size, withoutCredential.size]).toEqual([1, 1])
    expect((await attack.token({ code }, { client: 'imp' })).status).toBe(200)
  })

  test('needs the same time for an unknown client as for a wrong secret', async () => {
    const { clientId } = attack.clients.imp
    const times: Record<string, number[]> = { [clientId]: [], [`${clientId.slice(0, -1)}?`]: [] }
    for (let sample = 0; sample < 100; sample += 1) {
      for (const [id, samples] of Object.entries(times)) {
        const begun = performance.now()
        await attack.token(
          { grant_type: 'client_credentials' },
          { auth: 'none', headers: { authorization: basic(id, 'wrong') } },
        )
        samples.push(performance.now() - begun)
      }
    }
    // The shortest of a hundred times does not depend on other work of the machine.
    const [known = 0, unknown = 0] = Object.values(times).map((samples) => Math.min(...samples))
    // A case in which the server hashes a secret takes a hundred times as long as a case without hashing.
    expect(Math.max(known, unknown) / Math.min(known, unknown)).toBeLessThan(2)
  })

  test.each([
    ['invalid base64', 'Basic ???'],
    ['non-canonical base64', `Basic ${Buffer.from('a:b').toString('base64').replace('=', '')}`],
    ['a missing colon', `Basic ${Buffer.from('ab').toString('base64')}`],
    ['missing credentials', 'Basic '],
    ['a scheme without credentials', 'Basic'],
    ['another scheme', 'Digest username="a"'],
    ['the scheme Bearer', 'Bearer x'],
    ['the URL-safe alphabet', 'Basic __--'],
    ['two values', `Basic ${Buffer.from('a:b').toString('base64')} x`],
  ])('rejects a malformed Authorization header: %s', async (_, authorization) => {
    const code = await attack.code()
    const response = await attack.token(
      { code, client_id: undefined },
      { auth: 'none', headers: { authorization } },
    )
    expectJson(response, 401, 'invalid_client', { triedBasic: true })
    expect((await attack.token({ code })).status).toBe(200)
  })
})

describe('CA-02 client_secret_basic without further credentials', () => {
  test('accepts Basic without further credentials in the body', async () => {
    const response = await attack.token({ code: await attack.code() })
    expect(response.status).toBe(200)
  })

  test('accepts the same client_id in the body, and the scheme in upper and lower case', async () => {
    const { clientId, clientSecret } = attack.clients.conf
    const client_id = clientId
    expect((await attack.token({ code: await attack.code(), client_id })).status).toBe(200)
    for (const scheme of ['basic', 'BASIC']) {
      const headers = { authorization: basic(clientId, clientSecret).replace('Basic', scheme) }
      const code = await attack.code()
      expect(
        (await attack.token({ code, client_id: undefined }, { auth: 'none', headers })).status,
      ).toBe(200)
    }
  })
})

describe('CA-03 More than one authentication method', () => {
  const secretOf = () => attack.clients.conf.clientSecret

  test('rejects Basic with a secret in the body, even the same secret', async () => {
    const code = await attack.code()
    const { clientId: client_id } = attack.clients.conf
    await expectNoChange(attack, async () => {
      for (const client_secret of [secretOf(), 'wrong']) {
        expectJson(await attack.token({ code, client_secret }), 400, 'invalid_request')
        expectJson(await attack.token({ code, client_id, client_secret }), 400, 'invalid_request')
      }
    })
    expect((await attack.token({ code })).status).toBe(200)
  })

  test('rejects an assertion together with Basic or a secret [T009]', async () => {
    const key = await newClientKey()
    const own = await attack.client({
      jwks: jwksOf(key),
      redirectUris: ['https://client.example/cb'],
    })
    const code = await attack.code({}, { client: own })
    const assertion = {
      client_assertion_type: jwtBearer,
      client_assertion: await assertionOf(attack.server, own.clientId, key),
    }
    for (const auth of ['basic', 'post'] as const) {
      const response = await attack.token({ code, ...assertion }, { client: own, auth })
      expectJson(response, 400, 'invalid_request')
    }
    // The rejected request did not consume the assertion.
    const alone = await attack.token(
      { code, client_id: undefined, ...assertion },
      { client: own, auth: 'none' },
    )
    expect(alone.status).toBe(200)
  })

  test('neither accepts nor logs credentials in the query [T519]', async () => {
    const { clientId, clientSecret, redirectUri } = attack.clients.imp
    const code = await attack.code({}, { client: 'imp' })
    const whole = formOf({
      grant_type: 'authorization_code',
      client_id: clientId,
      client_secret: clientSecret,
      code,
      redirect_uri: redirectUri,
      code_verifier: attack.verifier,
    })
    const credentials = formOf({ client_id: clientId, client_secret: clientSecret })
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = formOf({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: attack.verifier,
    })
    const responses = [
      await attack.request(`/oauth/token?${credentials}`, { method: 'POST', headers, body }),
      await attack.request(`/oauth/token?${whole}`, { method: 'POST', headers, body: '' }),
      await attack.request(`/oauth/token?${whole}`, { method: 'POST' }),
    ]
    for (const response of responses) {
      expect([400, 401]).toContain(response.status)
      expect(response.body.error).toMatch(/^invalid_(?:request|client)$/)
    }
    expect((await attack.request(`/oauth/token?${whole}`)).status).toBe(405)
    const logged = JSON.stringify(attack.server.log)
    for (const secret of [clientSecret, code]) expect(logged).not.toContain(secret)
    expect((await attack.token({ code }, { client: 'imp' })).status).toBe(200)
  })
})

describe('CA-06 Registered authentication method, grant and client type [T040]', () => {
  const machine = { grant_type: 'client_credentials' }

  test.each([
    ['client_secret_post', 'basic'],
    ['client_secret_basic', 'post'],
  ] as const)(
    'requires the registered method %s, and rejects %s',
    async (tokenEndpointAuthMethod, auth) => {
      const own = await attack.client({ tokenEndpointAuthMethod })
      const right = auth === 'basic' ? 'post' : 'basic'
      await expectNoChange(attack, async () => {
        const triedBasic = auth === 'basic'
        const wrong = await attack.token(machine, { client: own, auth })
        expectJson(wrong, 401, 'invalid_client', { triedBasic })
        expectJson(
          await attack.token(machine, { client: own, auth: 'none' }),
          401,
          'invalid_client',
        )
      })
      expect((await attack.token(machine, { client: own, auth: right })).status).toBe(200)
    },
  )

  test('rejects a secret of a client with registered keys [T014]', async () => {
    const own = await attack.client({
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: jwksOf(await newClientKey()),
    })
    for (const auth of ['basic', 'post', 'none'] as const)
      expectJson(await attack.token(machine, { client: own, auth }), 401, 'invalid_client')
  })

  test('rejects every secret of a public client, and accepts an empty password in a Basic header [T003]', async () => {
    const { spa } = attack.clients
    expect(spa.clientSecret).toBe('')
    const code = await attack.code({}, { client: 'spa' })
    const client = { ...spa, clientSecret: 'any' }
    await expectNoChange(attack, async () => {
      for (const auth of ['basic', 'post'] as const)
        expectJson(await attack.token({ code }, { client, auth }), 401, 'invalid_client')
    })
    const empty = { authorization: basic(spa.clientId, '') }
    const asked = await attack.token(
      { code, client_id: undefined },
      { client: 'spa', auth: 'none', headers: empty },
    )
    expect(asked.status).toBe(200)
  })

  test.each<[string, Over, Redeeming, number, string]>([
    [
      'a client_credentials request of a public client',
      machine,
      { client: 'pub' },
      400,
      'unauthorized_client',
    ],
    [
      'a client_credentials request of a client without this grant',
      machine,
      {},
      400,
      'unauthorized_client',
    ],
    [
      'an authorization_code request of a client without this grant',
      { code: 'x' },
      { client: 'm2m' },
      400,
      'unauthorized_client',
    ],
    [
      'a refresh_token request of a client without this grant',
      { grant_type: 'refresh_token', refresh_token: 'x' },
      { client: 'm2m' },
      400,
      'unauthorized_client',
    ],
    [
      'a password request if the password grant is disabled',
      {
        grant_type: 'password',
        username: 'user-a@example.org',
        password: 'correct horse battery staple',
      },
      { client: 'imp' },
      400,
      'unsupported_grant_type',
    ],
    ['an unknown grant type', { grant_type: 'urn:x' }, {}, 400, 'unsupported_grant_type'],
    [
      'a grant type in upper case',
      { grant_type: 'AUTHORIZATION_CODE' },
      {},
      400,
      'unsupported_grant_type',
    ],
    [
      'a grant type with a trailing space',
      { grant_type: 'client_credentials ' },
      { client: 'm2m' },
      400,
      'unsupported_grant_type',
    ],
    [
      'the grant type implicit',
      { grant_type: 'implicit' },
      { client: 'imp' },
      400,
      'unsupported_grant_type',
    ],
    [
      'the grant type constructor',
      { grant_type: 'constructor' },
      { client: 'imp' },
      400,
      'unsupported_grant_type',
    ],
    ['an empty grant type', { grant_type: '' }, {}, 400, 'invalid_request'],
    ['a missing grant type', { grant_type: undefined }, {}, 400, 'invalid_request'],
    [
      'a repeated grant type',
      { grant_type: ['client_credentials', 'client_credentials'] },
      { client: 'm2m' },
      400,
      'invalid_request',
    ],
    [
      'the parameter grant_type[] instead of grant_type',
      { grant_type: undefined, 'grant_type[]': 'client_credentials' },
      { client: 'm2m' },
      400,
      'invalid_request',
    ],
    [
      'a device code of a client without this grant',
      { grant_type: deviceGrant, device_code: 'x' },
      {},
      400,
      'unauthorized_client',
    ],
  ])('rejects %s', async (_, over, redeeming, status, error) => {
    await expectNoChange(attack, async () => {
      expectJson(await attack.token(over, redeeming), status, error)
    })
  })

  test('neither issues a refresh token to a client without the refresh grant nor accepts a refresh token from this client', async () => {
    const own = await attack.client({
      redirectUris: ['https://client.example/cb'],
      grantTypes: ['authorization_code'],
    })
    const { response } = await attack.grant({}, { client: own })
    expect(response.body).not.toHaveProperty('refresh_token')
    // A client that lost the grant can no longer use its refresh token.
    const other = await attack.client({ redirectUris: ['https://client.example/cb'] })
    const { refreshToken } = await attack.grant({}, { client: other })
    const { clients } = attack.server.server
    await clients.update(other.clientId, { grantTypes: ['authorization_code'] })
    expectJson(
      await attack.refresh(refreshToken, {}, { client: other }),
      400,
      'unauthorized_client',
    )
  })

  test('rejects an authorization request of a client without the code grant', async () => {
    // The client has no redirect URI, so the error cannot be sent to it.
    expectLocal400(await attack.authorize({}, { client: 'm2m' }))
    const own = await attack.client({
      redirectUris: ['https://client.example/cb'],
      grantTypes: ['client_credentials'],
    })
    expectRedirect(await attack.authorize({}, { client: own }), 'unauthorized_client')
  })

  test('rejects the hidden client of a personal token, with and without credentials', async () => {
    const [row] = await attack.server.query(
      'select client_id from oauth2server_client where is_personal = 1',
    )
    const client = {
      clientId: String(row?.client_id),
      clientSecret: 'x',
      redirectUri: '',
      isConfidential: false,
    }
    for (const auth of ['basic', 'post', 'none'] as const)
      expectJson(await attack.token(machine, { client, auth }), 401, 'invalid_client')
  })
})

describe('CA-07 Secret reset and client deactivation', () => {
  const machine = { grant_type: 'client_credentials' }

  test('rejects the old secret at every node immediately', async () => {
    await using other = await startServer({ beside: attack.server, ...attackOptions })
    const person = await attack.newPerson()
    const own = await attack.client({ userId: person.id, defaultScopes: ['r'] })
    for (const at of [attack.server, other])
      expect((await attack.token(machine, { client: own, at })).status).toBe(200)
    const reset = await attack.request(
      `/account/settings/applications/clients/${own.clientId}/reset/`,
      {
        agent: person.agent,
        method: 'POST',
        body: new URLSearchParams({ csrf_token: person.csrfToken }),
      },
    )
    expect(reset.status).toBe(303)
    for (const at of [other, attack.server])
      expectJson(await attack.token(machine, { client: own, at }), 401, 'invalid_client')
  })

  test('rejects a client with an inactive owner at every node until the owner is reactivated', async () => {
    await using other = await startServer({ beside: attack.server, ...attackOptions })
    const owner = await attack.newPerson()
    const own = await attack.client({
      userId: owner.id,
      redirectUris: ['https://client.example/cb'],
      defaultScopes: ['r'],
    })
    const code = await attack.code({}, { client: own })
    const tokens = await attack.grant({}, { client: own })
    const machineToken = attack.tokensIn(await attack.token(machine, { client: own }))
    const { users } = attack.server.server
    await users.setActive(owner.id, false)
    for (const at of [other, attack.server]) {
      const redeeming = { client: own, at }
      const responses: HttpResponse[] = [
        await attack.token({ code }, redeeming),
        await attack.token(machine, redeeming),
        await attack.refresh(tokens.refreshToken, {}, redeeming),
      ]
      for (const response of responses)
        expectJson(response, 401, 'invalid_client', { triedBasic: true })
      for (const { accessToken } of [tokens, machineToken])
        expectBearer(await attack.ping(accessToken, at), 'invalid_token')
    }
    expectLocal400(await attack.authorize({}, { client: own }))
    await users.setActive(owner.id, true)
    await attack.expectAlive(tokens)
    expect((await attack.token({ code }, { client: own })).status).toBe(200)
  })

  test('rejects a disabled and a deleted client', async () => {
    await using other = await startServer({ beside: attack.server, ...attackOptions })
    const input = { redirectUris: ['https://client.example/cb'] }
    const [off, deleted] = [await attack.client(input), await attack.client(input)]
    const ofOff = await attack.grant({}, { client: off })
    const ofDeleted = await attack.grant({}, { client: deleted })
    const { clients } = attack.server.server
    await clients.mark(off.clientId, { isDisabled: true })
    await clients.delete(deleted.clientId)
    for (const [client, { accessToken, refreshToken }] of [
      [off, ofOff],
      [deleted, ofDeleted],
    ] as const) {
      for (const at of [other, attack.server]) {
        expectBearer(await attack.ping(accessToken, at), 'invalid_token')
        const response = await attack.refresh(refreshToken, {}, { client, at })
        expectJson(response, 401, 'invalid_client')
      }
    }
  })
})

describe('CA-09 Exact look-up of client IDs', () => {
  const variants = (id: string): string[] => [
    id.toUpperCase(),
    id.toLowerCase(),
    ` ${id}`,
    `${id} `,
    `${id}\0`,
    `${id}%00`,
    `${id}%20`,
    `${id}\n`,
    id.slice(0, -1),
    `${id.slice(0, -1)}%`,
    `${id.slice(0, -1)}_`,
    '%',
    '*',
    "' or 1=1 --",
    id.replace(/[A-Za-z]/, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)),
    `${id}\u0301`,
    `\ufeff${id}`,
    'x'.repeat(10_000),
    '1',
    '0',
    'user-a@example.org',
    'Conf',
  ]

  test('rejects other spellings of a client ID in the header, the body and an authorization request', async () => {
    const { conf, spa } = attack.clients
    await expectNoChange(attack, async () => {
      for (const [client, clientId] of [
        ...variants(conf.clientId).map((id) => [conf, id] as const),
        ...variants(spa.clientId).map((id) => [spa, id] as const),
      ]) {
        const other = { ...client, clientId }
        for (const auth of ['basic', 'post', 'none'] as const) {
          const response = await attack.token({ code: 'x' }, { client: other, auth })
          expect([400, 401], `${auth} ${JSON.stringify(clientId)}`).toContain(response.status)
          // A client ID cannot contain a control character.
          if (response.status === 400) expectJson(response, 400, 'invalid_request')
          else expectJson(response, 401, 'invalid_client')
          if (!/[\0\n]/.test(clientId)) expect(response.status).toBe(401)
        }
        expectLocal400(await attack.authorize({ client_id: clientId }))
      }
    })
  })

  test('rejects another encoding of the credentials in the header [T517]', async () => {
    const { clientId, clientSecret } = attack.clients.conf
    const code = await attack.code()
    const given = { code, client_id: undefined }
    for (const text of [
      ` ${clientId}:${clientSecret}`,
      `${clientId}:${clientSecret}\n`,
      `${clientId}:${clientSecret}:`,
      `${clientId}::${clientSecret}`,
      `${clientId}%3A${clientSecret}`,
    ]) {
      const response = await attack.token(given, { auth: 'none', headers: raw(text) })
      expectJson(response, 401, 'invalid_client')
    }
    // A percent-encoded secret is the same secret after form-decoding (RFC 6749 §2.3.1).
    const [first = ''] = clientSecret
    const encoded = `%${first.charCodeAt(0).toString(16)}${clientSecret.slice(1)}`
    const response = await attack.token(given, {
      auth: 'none',
      headers: raw(`${clientId}:${encoded}`),
    })
    expect(response.status).toBe(200)
  })
})

import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeOf } from '../support/internals.ts'
import { forbiddenRedirectUris } from '../support/redirect-uris.ts'
import {
  asTestClient,
  type Information,
  manage,
  refusal,
  registered,
  sendJson,
} from '../support/registration.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { clientOf, statusOf } from '../support/tokens.ts'
import { tokenRequest, UserAgent } from '../support/user-agent.ts'

let app: TestServer
let agent: UserAgent
beforeAll(async () => {
  app = await startServer({ dynamicRegistration: 'open' })
  agent = new UserAgent()
  await agent.logIn(app)
})
afterAll(() => app.close())

const withRefresh = { grant_types: ['authorization_code', 'refresh_token'] }

/** Replaces all metadata of the client with these members. */
const put = (information: Information, metadata: Record<string, unknown> = {}) =>
  manage('PUT', information, {
    client_id: information.client_id,
    redirect_uris: [redirectUri],
    ...metadata,
  })

const rowOf = async (clientId: string) =>
  (await app.query(`select * from oauth2server_client where client_id = '${clientId}'`))[0]

describe('RFC 7592 §2 the client configuration endpoint', () => {
  test('§2 accepts the registration access token only as a bearer token in the header [T221]', async () => {
    const information = await registered(app)
    const { registration_client_uri: url, registration_access_token: token } = information
    expect((await manage('GET', information)).status).toBe(200)
    const none = await sendJson('GET', url, undefined)
    expect(none.status).toBe(401)
    expect(none.headers.get('www-authenticate')).toBe(`Bearer realm="${app.issuer}"`)
    const elsewhere = [
      sendJson('GET', `${url}?access_token=${token}`, undefined),
      sendJson('PUT', url, { access_token: token, client_id: information.client_id }),
      sendJson('GET', url, undefined, { authorization: `Basic ${btoa(`x:${token}`)}` }),
      sendJson('GET', url, undefined, { authorization: `DPoP ${token}` }),
      sendJson('GET', url, undefined, { authorization: token }),
      sendJson('GET', url, undefined, { authorization: `Bearer ${token}, Bearer ${token}` }),
    ]
    for (const { status } of await Promise.all(elsewhere)) expect(status).toBe(401)
  })

  test('RFC 6750 §2.1, RFC 9110 §11.4 accepts several spaces after the scheme, and a scheme in lower case', async () => {
    const { registration_client_uri: url, registration_access_token: token } = await registered(app)
    for (const authorization of [`Bearer   ${token}`, `bearer ${token}`])
      expect((await sendJson('GET', url, undefined, { authorization })).status).toBe(200)
  })

  test('DR-06 returns the same response for a wrong token, an unknown client and a deleted client [T222]', async () => {
    const mine = await registered(app)
    const other = await registered(app)
    const gone = await registered(app)
    expect((await manage('DELETE', gone)).status).toBe(204)
    const owned = await app.client()
    const at = (clientId: string) => ({
      ...mine,
      registration_client_uri: `${app.issuer}/oauth/register/${clientId}`,
    })
    const wrong: Information[] = [
      { ...mine, registration_access_token: 'x' },
      { ...mine, registration_access_token: mine.client_secret },
      { ...mine, registration_access_token: await app.personalToken() },
      { ...mine, registration_access_token: other.registration_access_token },
      at(other.client_id),
      at('nobody'),
      at(owned.clientId),
      at('https%3A%2F%2Fclient.example%2Fmetadata'),
      gone,
    ]
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const responses = await Promise.all(
        wrong.map((one) => manage(method, one, { client_id: one.client_id })),
      )
      expect(new Set(responses.map(refusal))).toEqual(new Set(['401 invalid_token']))
      expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1)
      expect(new Set(responses.map(({ headers }) => headers.get('www-authenticate')))).toEqual(
        new Set([`Bearer realm="${app.issuer}", error="invalid_token"`]),
      )
    }
    for (const kept of [mine, other]) expect((await manage('GET', kept)).status).toBe(200)
    expect((await clientOf(app, owned.clientId)).clientId).toBe(owned.clientId)
  })

  test('DR-06 does not accept the registration access token at the API or for another registration [T223]', async () => {
    await using guarded = await startServer({
      dynamicRegistration: 'token',
      initialAccessToken: 'an-initial-access-token-of-this-test',
    })
    const information = await registered(
      guarded,
      {},
      { authorization: 'Bearer an-initial-access-token-of-this-test' },
    )
    const token = information.registration_access_token
    expect(await statusOf(guarded, token)).toBe(401)
    const again = await sendJson(
      'POST',
      `${guarded.issuer}/oauth/register`,
      {},
      {
        authorization: `Bearer ${token}`,
      },
    )
    expect(again.status).toBe(401)
    const managing = {
      ...information,
      registration_access_token: 'an-initial-access-token-of-this-test',
    }
    expect((await manage('GET', managing)).status).toBe(401)
  })
})

describe('RFC 7592 §2.1 reading the metadata', () => {
  test('§2.1, §3 returns the metadata, the presented token and the same URL [T225]', async () => {
    const information = await registered(app, {
      ...withRefresh,
      client_name: 'Print',
      scope: 'notes:read',
      tos_uri: 'https://client.example/terms',
    })
    const { status, headers, body } = await manage('GET', information)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    // The response contains no secret: the server stores only a digest of the secret.
    const { client_secret: _, ...rest } = information
    expect(body).toEqual(rest)
  })

  test('§2.1 does not change the row of the client', async () => {
    const information = await registered(app)
    const before = await rowOf(information.client_id)
    await manage('GET', information)
    expect(await rowOf(information.client_id)).toEqual(before)
  })
})

describe('RFC 7592 §2.2 updating the metadata', () => {
  test('§2.2 replaces all metadata, and resets omitted members [T227]', async () => {
    const information = await registered(app, {
      ...withRefresh,
      client_name: 'Print',
      client_uri: 'https://client.example/',
      scope: 'notes:read',
      contacts: ['maker@client.example'],
      tos_uri: 'https://client.example/terms',
      jwks_uri: 'https://client.example/keys',
      token_endpoint_auth_method: 'client_secret_post',
    })
    const { status, body } = await put(information, { client_name: 'Paint' })
    expect(status).toBe(200)
    expect(body).toEqual({
      client_id: information.client_id,
      client_id_issued_at: information.client_id_issued_at,
      client_secret_expires_at: 0,
      registration_access_token: information.registration_access_token,
      registration_client_uri: information.registration_client_uri,
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['authorization_code'],
      response_types: ['code'],
      client_name: 'Paint',
    })
    expect((await manage('GET', information)).body).toEqual(body)
  })

  test('§2.2 requires the client’s own client_id in the body [T229]', async () => {
    const information = await registered(app)
    const other = await registered(app)
    for (const client_id of [
      undefined,
      null,
      '',
      1,
      'nobody',
      other.client_id,
      [information.client_id],
    ])
      expect(refusal(await put(information, { client_id }))).toBe('400 invalid_client_metadata')
  })

  test('§2.2 rejects a client_secret that differs from the current secret [T230]', async () => {
    const information = await registered(app)
    const { client_secret } = information
    expect((await put(information, { client_secret })).status).toBe(200)
    for (const chosen of ['', 'x', `${client_secret}x`, 1, [client_secret], {}])
      expect(refusal(await put(information, { client_secret: chosen }))).toBe(
        '400 invalid_client_metadata',
      )
    const client = asTestClient(app, agent, information)
    expect((await client.redeem(await client.code())).status).toBe(200)
  })

  test('§2.2 does not change the secret or the registration access token [T231]', async () => {
    const information = await registered(app)
    const { body } = await put(information, { client_name: 'Other' })
    expect(body).not.toHaveProperty('client_secret')
    expect(body.registration_access_token).toBe(information.registration_access_token)
    const client = asTestClient(app, agent, information)
    expect((await client.redeem(await client.code())).status).toBe(200)
  })

  test('§2.2 refuses members of the response that must not be sent, and changes nothing [T1414]', async () => {
    const information = await registered(app)
    const before = await rowOf(information.client_id)
    for (const name of [
      'registration_access_token',
      'registration_client_uri',
      'client_id_issued_at',
      'client_secret_expires_at',
    ]) {
      for (const value of [information[name], 'chosen', 0, '']) {
        const response = await put(information, { [name]: value })
        expect(refusal(response)).toBe('400 invalid_client_metadata')
        expect(response.body.error_description).toContain(`${name} must not be sent`)
      }
    }
    const { client_secret: _, ...whole } = information
    expect(refusal(await manage('PUT', information, whole))).toBe('400 invalid_client_metadata')
    expect(await rowOf(information.client_id)).toEqual(before)
    const { status } = await put(information, { client_id_issued_at: null })
    expect(status).toBe(200)
  })

  test('§2.2 ignores unknown members, even the names of stored fields [T228]', async () => {
    const information = await registered(app)
    const { body } = await put(information, {
      is_verified: true,
      user_id: app.user.id,
      origin: 'owner',
    })
    expect(body).toMatchObject({
      registration_access_token: information.registration_access_token,
      registration_client_uri: information.registration_client_uri,
      client_id_issued_at: information.client_id_issued_at,
      client_secret_expires_at: 0,
    })
    expect(await clientOf(app, information.client_id)).toMatchObject({
      isVerified: false,
      userId: null,
      origin: 'registration',
    })
  })

  test('DR-06 validates the metadata like a registration, and does not change the client if the metadata is invalid [T234]', async () => {
    const information = await registered(app)
    const before = await rowOf(information.client_id)
    const { client_id } = information
    const bad: [unknown, string][] = [
      [{ client_id }, 'invalid_redirect_uri'],
      [{ client_id, redirect_uris: null }, 'invalid_redirect_uri'],
      ...forbiddenRedirectUris.map((uri): [unknown, string] => [
        { client_id, redirect_uris: [uri] },
        'invalid_redirect_uri',
      ]),
      ...[
        { scope: ['notes:read'] },
        { grant_types: ['password'] },
        { grant_types: ['client_credentials'] },
        { grant_types: ['implicit'], response_types: ['code'] },
        { token_endpoint_auth_method: 'private_key_jwt' },
        { token_endpoint_auth_method: 'tls_client_auth' },
        { client_uri: 'javascript:alert(1)' },
        { client_name: 'evil\u202Egnp.exe' },
        { jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] } },
      ].map((more): [unknown, string] => [
        { client_id, redirect_uris: [redirectUri], ...more },
        'invalid_client_metadata',
      ]),
      ['', 'invalid_client_metadata'],
      ['null', 'invalid_client_metadata'],
      ['[]', 'invalid_client_metadata'],
      [
        `{"client_id":"${client_id}","client_id":"${client_id}","redirect_uris":["${redirectUri}"]}`,
        'invalid_client_metadata',
      ],
      [
        { client_id, redirect_uris: [redirectUri], software_statement: 'x.y.z' },
        'unapproved_software_statement',
      ],
    ]
    for (const [body, error] of bad)
      expect(refusal(await manage('PUT', information, body))).toBe(`400 ${error}`)
    expect(await rowOf(client_id)).toEqual(before)
  })

  test('DR-06 rejects a removed grant type immediately [T235]', async () => {
    const information = await registered(app, withRefresh)
    const client = asTestClient(app, agent, information)
    const { refresh_token } = await client.tokens()
    await put(information)
    expect((await client.refresh(refresh_token)).body.error).toBe('unauthorized_client')
  })

  test('DR-06 no longer grants a removed scope at the next refresh or authorization request [T236]', async () => {
    const information = await registered(app, withRefresh)
    const client = asTestClient(app, agent, information)
    const { refresh_token } = await client.tokens({ scope: 'notes:read notes:write' })
    const code = await client.code({ scope: 'notes:write' })
    await put(information, { ...withRefresh, scope: 'notes:read' })
    expect((await client.redeem(code)).body.error).toBe('invalid_grant')
    expect((await client.refresh(refresh_token)).body.scope).toBe('notes:read')
    const beyond = await client.ask({ scope: 'notes:write' })
    expect(beyond.searchParams.get('error')).toBe('invalid_scope')
  })

  test('rejects codes that were sent to a removed redirect URI [T237]', async () => {
    const information = await registered(app)
    const client = asTestClient(app, agent, information)
    const code = await client.code()
    await put(information, { redirect_uris: ['https://client.example/other'] })
    expect((await client.redeem(code)).body.error).toBe('invalid_grant')
    expect((await agent.fetch(client.url())).headers.get('location')).toContain('/oauth/errors')
  })

  test('revokes the tokens and the secret of a client that becomes public [T238]', async () => {
    const information = await registered(app, withRefresh)
    const client = asTestClient(app, agent, information)
    const { access_token, refresh_token } = await client.tokens()
    const { body } = await put(information, { ...withRefresh, token_endpoint_auth_method: 'none' })
    expect(body).not.toHaveProperty('client_secret_expires_at')
    expect(await statusOf(app, access_token)).toBe(401)
    const refresh = { grant_type: 'refresh_token', refresh_token }
    expect((await client.token(refresh, 'none')).body.error).toBe('invalid_grant')
    expect((await client.token(refresh, 'basic')).body.error).toBe('invalid_client')
  })

  test('§2.2 returns a secret once to a public client that becomes confidential [T232]', async () => {
    const information = await registered(app, {
      ...withRefresh,
      token_endpoint_auth_method: 'none',
    })
    const open = asTestClient(app, agent, information)
    const { refresh_token } = await open.tokens()
    const { body } = await put(information, withRefresh)
    expect(body.client_secret).toMatch(/^[A-Za-z0-9]{60}$/)
    expect(body.client_secret_expires_at).toBe(0)
    const refresh = { grant_type: 'refresh_token', refresh_token }
    expect((await open.token(refresh, 'none')).body.error).toBe('invalid_client')
    const closed = asTestClient(app, agent, { ...information, ...body })
    expect((await closed.token(refresh)).status).toBe(200)
    expect((await put(information, withRefresh)).body).not.toHaveProperty('client_secret')
  })

  test('§2.2 revokes the secret of a client that changes to private_key_jwt, and creates another secret when the client changes back [T233]', async () => {
    const { publicKey } = await generateKeyPair('ES256', { extractable: true })
    const jwks = { keys: [await exportJWK(publicKey)] }
    const information = await registered(app)
    const keyed = await put(information, { token_endpoint_auth_method: 'private_key_jwt', jwks })
    expect(keyed.body).toMatchObject({ token_endpoint_auth_method: 'private_key_jwt', jwks })
    const client = asTestClient(app, agent, information)
    const code = await client.code()
    expect((await client.redeem(code)).status).toBe(401)
    const { body } = await put(information)
    expect(body.client_secret).toMatch(/^[A-Za-z0-9]{60}$/)
    expect(body.client_secret).not.toBe(information.client_secret)
    const again = asTestClient(app, agent, { ...information, ...body })
    expect((await again.redeem(await again.code())).status).toBe(200)
    expect(body).not.toHaveProperty('jwks')
  })

  test('makes a verified client unverified when its name, website, logo, terms or redirect URIs change [T2052]', async () => {
    const information = await registered(app, { client_name: 'Print' })
    const isVerified = async () => (await clientOf(app, information.client_id)).isVerified
    for (const change of [
      { client_name: 'Paint' },
      { client_name: 'Print', redirect_uris: [redirectUri, 'https://evil.example/cb'] },
      { client_name: 'Print', client_uri: 'https://evil.example/' },
      { client_name: 'Print', logo_uri: 'https://evil.example/logo.png' },
      { client_name: 'Print', tos_uri: 'https://evil.example/terms' },
    ]) {
      await put(information, { client_name: 'Print' })
      await app.server.clients.mark(information.client_id, { isVerified: true })
      await put(information, { client_name: 'Print' })
      expect(await isVerified()).toBe(true)
      await put(information, change)
      expect(await isVerified()).toBe(false)
    }
  })

  test('stores exactly one of 20 concurrent updates, with all its members', async () => {
    const information = await registered(app)
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        put(information, {
          client_name: `Name ${index}`,
          client_uri: `https://client.example/${index}`,
        }),
      ),
    )
    for (const { status } of responses) expect(status).toBe(200)
    const { body } = await manage('GET', information)
    expect(body.client_uri).toBe(
      `https://client.example/${String(body.client_name).replace('Name ', '')}`,
    )
  })
})

describe('RFC 7592 §2.2 a client that an administrator disabled', () => {
  test('DR-06 rejects requests to read, update or delete the client [T226]', async () => {
    const information = await registered(app)
    await app.server.clients.mark(information.client_id, { isDisabled: true })
    const before = await rowOf(information.client_id)
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const response = await manage(method, information, {
        client_id: information.client_id,
        redirect_uris: [redirectUri],
      })
      expect(refusal(response)).toBe('403 access_denied')
    }
    expect(await rowOf(information.client_id)).toEqual(before)
    // To a requester without the token, the response does not reveal that the client is disabled.
    const withoutToken = { ...information, registration_access_token: 'x' }
    expect(refusal(await manage('GET', withoutToken))).toBe('401 invalid_token')
    await app.server.clients.mark(information.client_id, { isDisabled: false })
    expect((await put(information)).status).toBe(200)
  })

  test('DR-06 does not enable the client by an update that runs concurrently', async () => {
    for (let round = 0; round < 10; round += 1) {
      const information = await registered(app)
      await Promise.all([
        put(information, { client_name: 'Other' }),
        app.server.clients.mark(information.client_id, { isDisabled: true }),
        put(information, { client_name: 'Third' }),
      ])
      expect((await clientOf(app, information.client_id)).isDisabled).toBe(true)
    }
  })
})

describe('RFC 7592 §2.3 deleting the client', () => {
  test('§2.3 returns 204 and revokes all codes and tokens of the client immediately [T239]', async () => {
    const information = await registered(app, withRefresh)
    const client = asTestClient(app, agent, information)
    const { access_token, refresh_token } = await client.tokens()
    const code = await client.code()
    const { clientKey } = await clientOf(app, information.client_id)
    const response = await manage('DELETE', information)
    expect(response.status).toBe(204)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await statusOf(app, access_token)).toBe(401)
    expect((await client.refresh(refresh_token)).body.error).toBe('invalid_client')
    expect((await client.redeem(code)).body.error).toBe('invalid_client')
    expect((await agent.fetch(client.url())).headers.get('location')).toContain('/oauth/errors')
    for (const method of ['GET', 'PUT', 'DELETE'] as const)
      expect(refusal(await manage(method, information, {}))).toBe('401 invalid_token')
    for (const table of ['client', 'token', 'authorization', 'consent'])
      expect(
        await app.query(`select 1 from oauth2server_${table} where client_key = ${clientKey}`),
      ).toEqual([])
  })

  test('§2.3 returns 204 to one of 10 concurrent requests, and 401 to the other nine', async () => {
    const information = await registered(app)
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => manage('DELETE', information)),
    )
    const statuses = responses.map(({ status }) => status).sort()
    expect(statuses).toEqual([204, ...Array.from({ length: 9 }, () => 401)])
  })

  test('§2.3 returns 401 for an update if the client is deleted before the write', async () => {
    let meanwhile = async (_clientId: string): Promise<unknown> => undefined
    await using site = await startServer({
      dynamicRegistration: 'open',
      registerClient: async (_metadata, { client }) => {
        if (client) await meanwhile(client.clientId)
        return true
      },
    })
    meanwhile = (clientId) => site.server.clients.delete(clientId)
    for (const method of ['client_secret_basic', 'none']) {
      const information = await registered(site, { token_endpoint_auth_method: method })
      expect(refusal(await put(information))).toBe('401 invalid_token')
    }
  })

  test('§2.3 does not restore a deleted client by an update that runs concurrently', async () => {
    for (let round = 0; round < 10; round += 1) {
      const information = await registered(app, { token_endpoint_auth_method: 'none' })
      const [changed, deleted] = await Promise.all([
        put(information, { client_name: 'Other' }),
        manage('DELETE', information),
      ])
      expect(deleted.status).toBe(204)
      expect([200, 401]).toContain(changed.status)
      expect(await rowOf(information.client_id)).toBeUndefined()
    }
  })
})

test('§5 accepts the token only at the new URL after an administrator resets the client ID [T240]', async () => {
  const information = await registered(app)
  const { clientId } = await app.server.clients.resetClientId(information.client_id)
  expect((await manage('GET', information)).status).toBe(401)
  const moved = {
    ...information,
    registration_client_uri: `${app.issuer}/oauth/register/${clientId}`,
  }
  expect((await manage('GET', moved)).body.client_id).toBe(clientId)
})

test('rejects a token whose digest was copied to the row of another client', async () => {
  await using site = await startServer({ dynamicRegistration: 'open' })
  const mine = await registered(site)
  const victim = await registered(site)
  const { clients } = storeOf(site.server)
  const [of, their] = [await clients.find(mine.client_id), await clients.find(victim.client_id)]
  if (!of || !their) throw new Error('A client does not exist.')
  const { registrationToken } = of.fields
  const changed = { ...their, fields: { ...their.fields, registrationToken } }
  await clients.update(victim.client_id, changed, site.now())
  const taken = { ...victim, registration_access_token: mine.registration_access_token }
  expect((await manage('GET', taken)).status).toBe(401)
  const basic = { clientId: victim.client_id, clientSecret: victim.client_secret }
  const response = await tokenRequest(site.issuer, { grant_type: 'refresh_token' }, { basic })
  expect(response.status).toBe(401)
})

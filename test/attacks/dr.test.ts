import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Limits } from '../../src/records/limits.ts'
import { storeOf } from '../support/internals.ts'
import {
  asTestClient,
  type Information,
  manage,
  refusal,
  register,
  registered,
  sendJson,
} from '../support/registration.ts'
import { redirectUri } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'
import { ping, tokenRequest, UserAgent } from '../support/user-agent.ts'
import { type AttackServer, startAttackServer } from './support/attack-server.ts'

const day = 86_400

let it: AttackServer
beforeAll(async () => {
  it = await startAttackServer({ dynamicRegistration: 'open' })
})
afterAll(() => it?.close())

const clientCount = async ({ server }: AttackServer = it): Promise<number> =>
  Number((await server.query('select count(*) as n from oauth2server_client'))[0]?.n)

const rowOf = async (clientId: string) =>
  (await it.server.query(`select * from oauth2server_client where client_id = '${clientId}'`))[0]

describe('DR-02 Metadata that claims privileges', () => {
  test('never grants client_credentials or password to a client that registered itself', async () => {
    const information = await registered(it.server)
    for (const grant_type of ['client_credentials', 'password']) {
      const { status, body } = await tokenRequest(
        it.server.issuer,
        { grant_type, username: it.users.a.email, password: it.server.password },
        {
          basic: {
            clientId: information.client_id,
            clientSecret: information.client_secret,
          },
        },
      )
      expect(status).toBe(400)
      expect(body.error).toMatch(/^(?:unauthorized_client|unsupported_grant_type)$/)
    }
  })
})

describe('DR-05 Flood', () => {
  const behindProxy = { dynamicRegistration: 'open', trustedProxies: ['127.0.0.1'] } as const
  const from = (address: string) => ({ 'x-forwarded-for': address })

  test('returns 429 to an address or a network with too many registrations, and processes other requests', async () => {
    await using flooded = await startAttackServer(behindProxy)
    const app = flooded.server
    const limits = new Limits(storeOf(app.server).transients, app.now)
    for (let sent = 0; sent < 298; sent += 1) await limits.consume('registrations', '192.0.2.1')

    const responses = []
    for (let sent = 0; sent < 5; sent += 1)
      responses.push(await register(app, undefined, from('192.0.2.1')))
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 429, 429, 429])
    for (const response of responses.slice(2)) {
      expect(refusal(response)).toBe('429 temporarily_unavailable')
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(600)
    }
    // The sender forges the left address in the header, and the proxy appends the real address on the right.
    const spoofed = await register(app, undefined, from('198.51.100.7, 192.0.2.1'))
    expect(spoofed.status).toBe(429)
    expect((await register(app, undefined, from('192.0.2.2'))).status).toBe(201)

    const before = await clientCount(flooded)
    for (let sent = 0; sent < 600; sent += 1)
      await limits.consume('registrationsOfNetwork', '192.0.2.1').catch(() => {})
    for (let host = 10; host < 20; host += 1)
      expect((await register(app, undefined, from(`192.0.2.${host}`))).status).toBe(429)
    expect(await clientCount(flooded)).toBe(before)
    expect((await register(app, undefined, from('198.51.100.1'))).status).toBe(201)
    const { basic, grant_type } = { basic: flooded.clients.m2m, grant_type: 'client_credentials' }
    expect((await tokenRequest(app.issuer, { grant_type }, { basic })).status).toBe(200)

    app.advance(600)
    expect((await register(app, undefined, from('192.0.2.1'))).status).toBe(201)
  })

  test('deletes the oldest of more than 10,000 unused clients, and expired unused clients [T597]', async () => {
    let pretended: number | undefined
    await using full = await startAttackServer({
      dynamicRegistration: 'open',
      aroundStore: async (operation, run) => {
        const result = await run()
        return operation.name === 'clients.countExpired' && pretended !== undefined
          ? (pretended as typeof result)
          : result
      },
    })
    const unused = await registered(full.server)
    const used = await registered(full.server)
    await asTestClient(full.server, new UserAgent(), used).tokens()
    const before = await clientCount(full)
    pretended = 10_000
    let late = await registered(full.server)
    // The server counts the unused clients at every 20th registration.
    const isLogged = () => full.server.log.some(({ event }) => event === 'registration.full')
    for (let more = 0; !isLogged() && more < 20; more += 1) late = await registered(full.server)
    expect((await manage('GET', unused)).status).toBe(401)
    expect(await clientCount(full)).toBeLessThanOrEqual(before)

    pretended = undefined
    full.server.advance(7 * day + 1)
    await full.server.server.sweep()
    expect((await manage('GET', late)).status).toBe(401)
    expect((await manage('GET', used)).status).toBe(200)
  })
})

describe('DR-06 Management tokens', () => {
  const withRefresh = { grant_types: ['authorization_code', 'refresh_token'] }
  const put = (information: Information, metadata: Record<string, unknown> = {}) =>
    manage('PUT', information, {
      client_id: information.client_id,
      redirect_uris: [redirectUri],
      ...metadata,
    })

  test('returns the same error for every client to which the registration token does not belong', async () => {
    const mine = await registered(it.server)
    const theirs = await registered(it.server)
    const before = await rowOf(theirs.client_id)
    const at = (clientId: string): Information => ({
      ...mine,
      registration_client_uri: `${it.server.issuer}/oauth/register/${clientId}`,
    })
    const foreign = [at(theirs.client_id), at('nobody'), at(it.clients.conf.clientId)]
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const responses = await Promise.all(
        foreign.map((one) =>
          manage(method, one, { client_id: theirs.client_id, redirect_uris: [redirectUri] }),
        ),
      )
      const said = responses.map((response) => [
        refusal(response),
        JSON.stringify(response.body),
        response.headers.get('www-authenticate'),
      ])
      expect(new Set(said.map(String)).size).toBe(1)
      expect(said[0]?.[0]).toBe('401 invalid_token')
    }
    expect(await rowOf(theirs.client_id)).toEqual(before)
  })

  test('deletes the client with 204, and rejects its token afterwards', async () => {
    const information = await registered(it.server)
    expect((await manage('DELETE', information)).status).toBe(204)
    for (const method of ['GET', 'PUT', 'DELETE'] as const)
      expect(refusal(await manage(method, information, {}))).toBe('401 invalid_token')
  })

  test('rejects the registration token in the query and at the API', async () => {
    const information = await registered(it.server)
    const { registration_client_uri: url, registration_access_token: token } = information
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const response = await sendJson(method, `${url}?access_token=${token}`, {})
      expect(response.status).toBe(401)
    }
    expect(await statusOf(it.server, token)).toBe(401)
    expect(await ping(it.server, token)).toBe(401)
    expect((await manage('GET', information)).status).toBe(200)
  })

  test('refuses to enable, change or delete a client that an administrator disabled', async () => {
    const information = await registered(it.server)
    await it.server.server.administration.actOnClient(information.client_id, 'disable', {
      user: it.server.user,
      address: '127.0.0.1',
    })
    const before = await rowOf(information.client_id)
    expect((await put(information, { is_disabled: false })).status).toBe(403)
    expect((await manage('DELETE', information)).status).toBe(403)
    expect(await rowOf(information.client_id)).toEqual(before)
  })

  test.each<[string, (information: Information) => unknown]>([
    ['without client_id', () => ({ redirect_uris: [redirectUri] })],
    ['with another client_id', () => ({ client_id: 'x', redirect_uris: [redirectUri] })],
    [
      'with a client secret that the client chose',
      ({ client_id }) => ({ client_id, client_secret: 'mine', redirect_uris: [redirectUri] }),
    ],
    [
      'with a list as scope',
      ({ client_id }) => ({ client_id, scope: ['test:scope'], redirect_uris: [redirectUri] }),
    ],
    [
      'with the client_credentials grant',
      ({ client_id }) => ({
        client_id,
        grant_types: ['client_credentials'],
        redirect_uris: [redirectUri],
      }),
    ],
    [
      'with the password grant',
      ({ client_id }) => ({
        client_id,
        grant_types: ['password'],
        redirect_uris: [redirectUri],
      }),
    ],
    [
      'with an invalid redirect URI',
      ({ client_id }) => ({ client_id, redirect_uris: ['javascript:alert(1)'] }),
    ],
    [
      'with private_key_jwt but without a key',
      ({ client_id }) => ({
        client_id,
        token_endpoint_auth_method: 'private_key_jwt',
        redirect_uris: [redirectUri],
      }),
    ],
  ])('rejects a PUT %s, and changes nothing', async (_what, metadata) => {
    const information = await registered(it.server)
    const before = await rowOf(information.client_id)
    const response = await manage('PUT', information, metadata(information))
    expect(refusal(response)).toMatch(/^400 invalid_(?:client_metadata|redirect_uri|request)$/)
    expect(await rowOf(information.client_id)).toEqual(before)
  })

  test('restricts existing tokens immediately when a client removes a scope', async () => {
    const scope = 'notes:read notes:write'
    const information = await registered(it.server, { ...withRefresh, scope })
    const client = asTestClient(it.server, new UserAgent(), information)
    const tokens = await client.tokens({ scope })
    const write = async (token: string) => {
      const response = await fetch(`${it.server.issuer}/api/notes`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{"text":"x"}',
      })
      return response.status
    }
    expect(await write(tokens.access_token)).toBe(201)
    expect((await put(information, { ...withRefresh, scope: 'notes:read' })).status).toBe(200)
    expect(await write(tokens.access_token)).toBe(403)
    const refreshed = await client.refresh(tokens.refresh_token)
    expect([refreshed.status, refreshed.body.scope]).toEqual([200, 'notes:read'])
    expect(await write(refreshed.body.access_token)).toBe(403)

    const other = await registered(it.server, withRefresh)
    const second = asTestClient(it.server, new UserAgent(), other)
    const { refresh_token } = await second.tokens()
    expect((await put(other, { grant_types: ['authorization_code'] })).status).toBe(200)
    expect((await second.refresh(refresh_token)).body.error).toBe('unauthorized_client')
  })

  test('revokes all tokens of a confidential client that becomes public', async () => {
    const information = await registered(it.server, withRefresh)
    const client = asTestClient(it.server, new UserAgent(), information)
    const { access_token } = await client.tokens()
    const changed = await put(information, { ...withRefresh, token_endpoint_auth_method: 'none' })
    expect(changed.status).toBe(200)
    expect(await ping(it.server, access_token)).toBe(401)
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Script } from '../pages/api/script.ts'
import { at, type Fields, Person } from '../pages/settings/support.ts'
import { Device, decideOn, enterCode } from '../support/device.ts'
import { basicOf } from '../support/form.ts'
import { manage, register, registered } from '../support/registration.ts'
import { formIn } from '../support/user-agent.ts'
import {
  type AttackClient,
  type AttackServer,
  expectBearer,
  expectJson,
  expectLocal400,
  type HttpResponse,
  scopes,
  startAttackServer,
  type UserName,
} from './support/attack-server.ts'

const { r, w, internal } = scopes
/** The server. In the project `nodes`, another process handles each request. */
let attack: AttackServer
beforeAll(async () => {
  attack = await startAttackServer()
})
afterAll(() => attack.close())

const person = async (name: UserName = 'a', server = attack): Promise<Person> =>
  new Person(server.server, await server.browser(name), server.users[name].user)

/** Repeat each request three times, so that each of three nodes receives the request once. */
const times = [1, 2, 3] as const

const info = async (token: string): Promise<HttpResponse> =>
  attack.request('/oauth/info', { headers: { authorization: `Bearer ${token}` } })

const idOfToken = async (accessToken: string): Promise<number> => {
  const found = await attack.server.server.tokens.find({ accessToken })
  if (!found) throw new Error('The token does not exist.')
  return found.token.id
}

type Sent = readonly [path: string, fields?: Fields]

const ofToken = (id: number | string): readonly Sent[] => [
  [at.token(id)],
  [at.token(id), { name: 'Other', scopes: [r] }],
  [at.token(id), { delete: 'yes' }],
  [at.rotate(id), {}],
]
const ofAuthorization = (id: number | string): readonly Sent[] => [
  [at.view(id)],
  [at.revoke(id), {}],
]
const ofClient = (id: string): readonly Sent[] => [
  [at.client(id)],
  [at.client(id), { name: 'Other', redirect_uris: 'https://evil.example/cb' }],
  [at.client(id), { delete: 'yes', confirm_name: 'Conf' }],
  [at.reset(id), {}],
]

/**
 * Sends each request as a browser page does and as a script does. Expects the same 404 response as for an unknown ID.
 */
const expectNotFound = async (who: Person, sent: readonly Sent[]): Promise<void> => {
  const script = new Script(attack.server, who.session)
  const before = await attack.state()
  const nowhere = await who.get(at.token('123456789'))
  for (const [path, fields] of sent) {
    const page = fields ? await who.post(path, fields) : await who.get(path)
    expect([page.status, page.text], path).toEqual([404, nowhere.text])
    const json = fields ? await script.post(path, fields as never) : await script.get(path)
    expect([json.status, json.body], path).toEqual([
      404,
      { error: 'invalid_request', error_description: 'There is nothing at this address.' },
    ])
  }
  expect(await attack.state()).toEqual(before)
}

describe('PT-01 Objects of other users', () => {
  test('returns 404 for tokens, authorizations and clients of another user, and changes nothing', async () => {
    const { id } = await attack.personalToken('a')
    const device = await idOfToken((await attack.grant()).accessToken)
    const { conf } = attack.clients
    await expectNotFound(await person('b'), [
      ...ofToken(id),
      ...ofAuthorization(id),
      ...ofToken(device),
      ...ofAuthorization(device),
      ...ofClient(conf.clientId),
      [at.revokeApplication(conf.clientId), {}],
    ])
    // The owner can open the pages.
    const owner = await person()
    for (const path of [at.token(id), at.view(device), at.client(conf.clientId)])
      expect((await owner.get(path)).status).toBe(200)
  })

  test('returns 404 for IDs of objects of another type', async () => {
    const { tokens, clients } = attack.server.server
    const { id: userId } = attack.users.a.user
    const personal = await attack.personalToken('a')
    const hidden = await tokens.createPersonal('Internal', userId, { isInternal: true })
    attack.saw(hidden.accessToken)
    const device = await idOfToken((await attack.grant()).accessToken)
    const given = await attack.token({ grant_type: 'client_credentials' }, { client: 'm2m' })
    const machine = await idOfToken(String(given.body.access_token))
    const house = await attack.client({ isInternal: true })
    const [{ client_id: behind } = {}] = await attack.server.query(
      `select client_id from oauth2server_token join oauth2server_client using (client_key) where id = ${personal.id}`,
    )
    await expectNotFound(await person(), [
      ...ofAuthorization(personal.id),
      ...ofToken(device),
      ...[hidden.id, machine].flatMap((id) => [...ofToken(id), ...ofAuthorization(id)]),
      ...ofClient(String(behind)),
      ...ofClient(house.clientId),
      [at.revokeApplication(String(behind)), {}],
    ])
    expect(await clients.find(house.clientId)).toBeDefined()
    expect((await attack.ping(hidden.accessToken)).status).toBe(200)
  })

  test.each([
    '0',
    '-1',
    '01',
    '1e3',
    '1.0',
    '0x1',
    '%31%00',
    '99999999999999999999',
    "1'--",
    '__proto__',
  ])('rejects an invalid ID: %s', async (id) => {
    const who = await person()
    for (const [path, fields] of [...ofToken(id), ...ofAuthorization(id)]) {
      const page = fields ? await who.post(path, fields) : await who.get(path)
      expect(page.status, path).toBe(404)
    }
  })

  test('returns 404 for sessions of another user, and for the administration', async () => {
    const mine = await person('b')
    const { items } = await attack.server.server.sessions.listByUser(attack.users.a.user.id, {
      after: null,
      limit: 10,
    })
    expect(items.length).toBeGreaterThan(0)
    for (const { id } of items)
      expect((await mine.post(at.sessions, { session_id: id })).status).toBe(404)
    const { clientId } = attack.clients.conf
    for (const act of ['disable', 'verify', 'delete']) {
      const fields = { client_id: clientId, act, confirm_name: 'Conf' }
      expect((await mine.post(at.admin, fields)).status).toBe(404)
      expect((await mine.post(at.adminApplication(clientId), fields)).status).toBe(404)
    }
    expect((await mine.post(at.adminTokens, { token_id: '1', act: 'delete' })).status).toBe(404)
    for (const path of [at.adminHome, at.admin, at.adminApplication(clientId), at.adminTokens])
      expect((await mine.get(path)).status).toBe(404)
    expect((await (await person()).get(at.list)).status).toBe(200)
  })
})

describe('PT-03 Tokens on pages and at the registration', () => {
  /** Tokens of user-a, with as many scopes as possible. */
  const powers: Readonly<Record<string, () => Promise<string>>> = {
    'a personal token': async () => {
      const all = [...new Set([r, w, scopes.rwAll, scopes.email])]
      return (await attack.personalToken('a', all)).value
    },
    'an access token': async () => (await attack.grant({ scope: `${r} ${w}` })).accessToken,
    'a token of client_credentials': async () => {
      const given = { grant_type: 'client_credentials' }
      return String((await attack.token(given, { client: 'm2m' })).body.access_token)
    },
  }

  test.each(Object.entries(powers))(
    'redirects a page request with %s to the login, and changes nothing',
    async (_, make) => {
      const token = await make()
      const { id } = await attack.personalToken('a')
      const device = await idOfToken((await attack.grant()).accessToken)
      const { conf } = attack.clients
      const asking = await Device.register(attack.server)
      const codes = await asking.codes({ scope: r })
      attack.saw(codes.device_code)
      const consent = await attack.authorize({ prompt: 'consent' }, { submit: null })
      const before = await attack.state()
      const sent: readonly Sent[] = [
        [at.list],
        [at.newToken],
        [at.newToken, { name: 'Mine', scopes: [r] }],
        ...ofToken(id),
        ...ofAuthorization(device),
        [at.newClient, { name: 'Mine', redirect_uris: 'https://evil.example/cb' }],
        ...ofClient(conf.clientId),
        [at.revokeApplication(conf.clientId), {}],
        [at.revokeAll, {}],
        [at.sessions],
        [at.sessions, { others: 'yes' }],
        [at.admin],
        [at.adminHome],
        [at.adminTokens],
        [at.adminApplication(conf.clientId)],
        [at.adminApplication(conf.clientId), { act: 'disable' }],
        ['/oauth/device'],
        ['/oauth/device', { user_code: codes.user_code }],
      ]
      const credentials = [
        { headers: { authorization: `Bearer ${token}` }, query: '' },
        { headers: {}, query: `?access_token=${token}` },
      ]
      for (const [path, fields = undefined] of sent) {
        for (const { headers, query } of credentials) {
          const body = fields && new URLSearchParams(fields as Record<string, string>)
          const init = body ? { method: 'POST', body } : {}
          const page = await attack.request(`${path}${query}`, { ...init, headers })
          expect(page.status, path).toBe(303)
          expect(page.location, path).toMatch(/^\/login\?/)
          if (path.startsWith('/oauth/')) continue
          const asScript = { ...headers, accept: 'application/json' }
          expectBearer(await attack.request(`${path}${query}`, { ...init, headers: asScript }))
        }
      }
      // The token also cannot submit a decision or a logout.
      const { hidden } = formIn(consent.text)
      for (const [path, fields, ...expected] of [
        ['/oauth/authorize', { ...hidden, confirm: 'yes' }, 403, undefined],
        ['/oauth/device', { confirm: 'yes', user_code: codes.user_code }, 403, undefined],
        // Without a session, a logout changes nothing.
        ['/logout', {}, 303, '/'],
      ] as const) {
        const response = await attack.request(path, {
          method: 'POST',
          body: new URLSearchParams(fields as Record<string, string>),
          headers: { authorization: `Bearer ${token}` },
        })
        expect([response.status, response.location], path).toEqual(expected)
      }
      const asked = await attack.request(attack.authorizeUrl(), {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(asked.location).toMatch(/^\/login\?/)
      expect(await attack.state()).toEqual(before)
      expect((await asking.poll(codes)).body.error).toBe('authorization_pending')
    },
  )

  test('does not accept a token instead of the JWT or the CSRF token of a session', async () => {
    const { value } = await attack.personalToken('a', [r, w])
    const who = await person()
    const authorization = `Bearer ${value}`
    const before = await attack.state()
    // A script needs the JWT of the session, and a form needs the CSRF token of its page.
    const script = await who.request(at.newToken, {
      method: 'POST',
      body: new URLSearchParams({ name: 'Mine' }),
      headers: { authorization, accept: 'application/json' },
    })
    expect([400, 401]).toContain(script.status)
    const form = await who.request(at.newToken, {
      method: 'POST',
      body: new URLSearchParams({ name: 'Mine', csrf_token: value }),
      headers: { authorization },
    })
    expect(form.status).toBe(403)
    expect(await attack.state()).toEqual(before)
  })

  test('registers a client without an owner despite a personal token', async () => {
    const { value } = await attack.personalToken('a', [r, w])
    const headers = { authorization: `Bearer ${value}` }
    const user_id = attack.users.a.user.id
    const metadata = { redirect_uris: ['https://evil.example/cb'], user_id }
    const { status, body } = await register(attack.server, metadata, headers)
    attack.saw(body.client_secret, body.registration_access_token)
    expect(status).toBe(201)
    const made = await attack.server.server.clients.find(body.client_id)
    expect([made?.userId, made?.isVerified]).toEqual([null, false])
    const { clientId } = attack.clients.conf
    const managed = await attack.request(`/oauth/register/${clientId}`, { headers })
    expectBearer(managed, 'invalid_token')
    const initialAccessToken = 'what only the operator of the server knows'.replaceAll(' ', '-')
    await using gated = await startAttackServer({
      dynamicRegistration: 'token',
      initialAccessToken,
    })
    const own = await gated.personalToken('a')
    const refused = await register(gated.server, metadata, { authorization: `Bearer ${own.value}` })
    expect([refused.status, refused.body.error]).toEqual([401, 'invalid_token'])
  })
})

describe('PT-04 Choice of scopes', () => {
  test.each<[string, readonly string[], number]>([
    ['an internal scope', [r, internal], 400],
    ['only an internal scope', [internal], 400],
    ['an unknown scope', [r, 'bogus'], 400],
    ['two scopes in one value', [`${r} ${w}`], 400],
    ['a scope in another case', [r.toUpperCase()], 400],
    ['the scope __proto__', ['__proto__'], 400],
    ['2,001 scopes', Array.from({ length: 2_001 }, (_, n) => `s${n}`), 400],
    ['10,000 scopes', Array.from({ length: 10_000 }, (_, n) => `s${n}`), 413],
  ])('rejects %s, and changes nothing', async (_, given, status) => {
    const who = await person()
    const { id, value } = await attack.personalToken('a', [r])
    const before = await attack.state()
    for (const path of [at.newToken, at.token(id)])
      expect((await who.post(path, { name: 'Mine', scopes: given })).status).toBe(status)
    const script = new Script(attack.server, who.session)
    expect((await script.post(at.token(id), { scopes: given })).status).toBe(status)
    expect(await attack.state()).toEqual(before)
    expect((await info(value)).body.scopes).toEqual([r])
  })

  test('removes duplicate scopes, and accepts an empty list', async () => {
    const who = await person()
    const created = async (given: readonly string[]): Promise<unknown> => {
      const page = await who.post(at.newToken, { name: 'Mine', scopes: given })
      expect(page.status).toBe(303)
      const shown = (await who.follow(page)).copied('access-token') ?? ''
      attack.saw(shown)
      return (await info(shown)).body.scopes
    }
    expect(await created([r, r, w, r])).toEqual([r, w])
    expect(await created([])).toEqual([])
  })

  test('applies a change of the scopes to the next request on every node', async () => {
    const who = await person()
    const { id, value } = await attack.personalToken('a', [r, w])
    attack.touched(id)
    for (const given of [[r], [r, w], [], [w]]) {
      for (const _ of times) await info(value)
      expect((await who.post(at.token(id), { name: 'Mine', scopes: given })).status).toBe(303)
      for (const _ of times) expect((await info(value)).body.scopes).toEqual(given)
      const json = await new Script(attack.server, who.session).get(at.token(id))
      expect(json.body).toMatchObject({ scopes: given })
    }
  })

  test('a change of the scopes of a token changes neither its value nor other tokens', async () => {
    const who = await person()
    const [one, other] = [await attack.personalToken('a', [r, w]), await attack.personalToken('a')]
    attack.touched(one.id)
    await who.post(at.token(one.id), { name: 'Mine', scopes: [w] })
    expect((await info(one.value)).body.scopes).toEqual([w])
    expect((await info(other.value)).body.scopes).toEqual([r])
  })
})

describe('PT-07 Deletion of dependent objects', () => {
  /** Creates every type of object that depends on a client and a user. */
  const live = async (client: AttackClient, name: UserName) => {
    const asking = { client, as: name } as const
    const tokens = await attack.grant({ scope: r }, asking)
    const rotated = await attack.refresh(
      (await attack.grant({ scope: r }, asking)).refreshToken,
      {},
      { client },
    )
    const code = await attack.code({ scope: r }, asking)
    const implicit = await attack.authorize({ response_type: 'token', scope: r }, asking)
    const machine = await attack.token({ grant_type: 'client_credentials' }, { client })
    const pushed = await attack.request('/oauth/par', {
      method: 'POST',
      headers: basicOf(client),
      body: new URL(attack.authorizeUrl({}, { client })).searchParams,
    })
    const device = new Device(attack.server, client, true)
    const [pending, allowed] = [await device.codes({ scope: r }), await device.codes({ scope: r })]
    attack.saw(pending.device_code, allowed.device_code)
    expect((await decideOn(attack.server, await attack.browser(name), allowed)).status).toBe(200)
    const accessTokens = [
      tokens.accessToken,
      String(rotated.body.access_token),
      implicit.fragment.access_token ?? '',
    ]
    for (const token of accessTokens) expect((await attack.ping(token)).status).toBe(200)
    return {
      accessTokens,
      machineToken: String(machine.body.access_token),
      refreshTokens: [tokens.refreshToken, String(rotated.body.refresh_token)],
      code,
      requestUri: String(pushed.body.request_uri),
      pending,
      allowed,
      device,
    }
  }
  type Live = Awaited<ReturnType<typeof live>>

  const expectDead = async (tokens: readonly string[]): Promise<void> => {
    for (const _ of times)
      for (const token of tokens) expectBearer(await attack.ping(token), 'invalid_token')
  }
  /** Expects that the refresh tokens and codes are rejected. */
  const expectNoGrant = async (
    things: Live,
    client: AttackClient,
    error: string,
  ): Promise<void> => {
    const status = error === 'invalid_client' ? 401 : 400
    for (const token of things.refreshTokens)
      expectJson(await attack.refresh(token, {}, { client }), status, error)
    expectJson(await attack.token({ code: things.code }, { client }), status, error)
    const polled = await things.device.poll(things.allowed)
    expect([polled.status, polled.body.error]).toEqual([status, error])
  }
  const keyOf = async (clientId: string) =>
    (await attack.server.server.clients.find(clientId))?.clientKey
  const rowsOf = async (column: string, value: unknown): Promise<number> => {
    const tables = ['token', 'authorization', 'consent']
    const counts = await Promise.all(
      tables.map((table) =>
        attack.server.query(
          `select count(*) as n from oauth2server_${table} where ${column} = '${value}'`,
        ),
      ),
    )
    return counts.reduce((sum, [row]) => sum + Number(row?.n), 0)
  }

  test('rejects a deleted personal token', async () => {
    const who = await person()
    const { id, value } = await attack.personalToken('a')
    const { client_id: behind } = (
      await attack.server.query(
        `select client_id from oauth2server_token join oauth2server_client using (client_key) where id = ${id}`,
      )
    )[0] as { client_id: string }
    for (const _ of times) expect((await attack.ping(value)).status).toBe(200)
    attack.touched(id)
    expect((await who.post(at.token(id), { delete: 'yes' })).status).toBe(303)
    await expectDead([value])
    // The hidden client of the token was deleted too.
    expect(await attack.server.server.clients.find(behind)).toBeUndefined()
    expect((await who.get(at.token(id))).status).toBe(404)
  })

  test('revokes an application only for the user who revoked it', async () => {
    const client = await attack.client({ name: 'Revoked', defaultScopes: [r] })
    const [mine, theirs] = [await live(client, 'a'), await live(client, 'b')]
    const who = await person()
    expect((await who.post(at.revokeApplication(client.clientId))).status).toBe(303)
    await expectDead(mine.accessTokens)
    await expectNoGrant(mine, client, 'invalid_grant')
    for (const token of [...theirs.accessTokens, mine.machineToken])
      expect((await attack.ping(token)).status).toBe(200)
    expect((await attack.token({ code: theirs.code }, { client })).status).toBe(200)
    const again = await attack.authorize({ scope: r }, { client, submit: null })
    expect(again.text).toContain('name="authorization_request"')
  })

  test('deletes all objects of a deleted client, for all users', async () => {
    const owner = attack.users.m.user.id
    const client = await attack.client({ name: 'Deleted', userId: owner, defaultScopes: [r] })
    const things = await live(client, 'a')
    const entered = await enterCode(
      attack.server,
      await attack.browser('a'),
      things.pending.user_code,
    )
    expect(entered.status).toBe(200)
    const who = await person('m')
    const { clientId } = client
    const key = await keyOf(clientId)
    const form = { delete: 'yes', confirm_name: 'Deleted' }
    expect((await who.post(at.client(clientId), form)).status).toBe(303)
    await expectDead([...things.accessTokens, things.machineToken])
    await expectNoGrant(things, client, 'invalid_client')
    expectLocal400(
      await attack.authorize(
        { request_uri: things.requestUri, redirect_uri: undefined },
        { client },
      ),
    )
    expectLocal400(await attack.authorize({}, { client }))
    const late = await attack.request('/oauth/device', {
      agent: (await attack.browser('a')).agent,
      method: 'POST',
      body: new URLSearchParams({ ...entered.hidden, confirm: 'yes' }),
    })
    expect(late.status).toBe(400)
    expect(await rowsOf('client_key', key)).toBe(0)
    const orphans = await attack.server.query(
      'select 1 from oauth2server_rotated_refresh_token where authorization_id not in (select id from oauth2server_authorization)',
    )
    expect(orphans).toEqual([])
  })

  test('rejects the tokens and codes of a deactivated user until reactivation', async () => {
    const client = await attack.client({ name: 'Paused', defaultScopes: [r] })
    const things = await live(client, 'b')
    const own = await attack.personalToken('b')
    const theirs = await live(await attack.client({ userId: attack.users.b.user.id }), 'a')
    const { users } = attack.server.server
    const { id } = attack.users.b.user
    await users.setActive(id, false)
    await expectDead([...things.accessTokens, own.value])
    // The clients of a deactivated user are rejected too.
    await expectDead([...theirs.accessTokens, theirs.machineToken])
    for (const token of things.refreshTokens)
      expectJson(await attack.refresh(token, {}, { client }), 400, 'invalid_grant')
    expectJson(await attack.token({ code: things.code }, { client }), 400, 'invalid_grant')
    await users.setActive(id, true)
    for (const token of [...things.accessTokens, ...theirs.accessTokens, own.value])
      expect((await attack.ping(token)).status).toBe(200)
  })

  test('deletes the clients, tokens and other rows of a deleted user', async () => {
    const { server } = attack.server
    const { password } = attack.users.a
    const user = await server.users.create({ email: 'deleted@example.org', password })
    const client = await attack.client({ name: 'Theirs', userId: user.id, defaultScopes: [r] })
    const things = await live(client, 'a')
    const made = await server.tokens.createPersonal('Theirs', user.id, { scopes: [r] })
    attack.saw(made.accessToken)
    expect((await attack.ping(made.accessToken)).status).toBe(200)
    const key = await keyOf(client.clientId)
    expect(await server.users.delete(user.id)).toBe(true)
    await expectDead([...things.accessTokens, things.machineToken, made.accessToken])
    await expectNoGrant(things, client, 'invalid_client')
    expect(await rowsOf('client_key', key)).toBe(0)
    expect(await rowsOf('user_id', user.id)).toBe(0)
    const left = await attack.server.query(
      `select 1 from oauth2server_client where user_id = ${Number(user.id)}`,
    )
    expect(left).toEqual([])
  })

  test('retains the audit event of a client that an administrator deleted', async () => {
    const client = await attack.client({ name: 'Banned' })
    const { accessToken } = await attack.grant({}, { client })
    await attack.server.server.users.setAdmin(attack.users.m.user.id, true)
    const admin = await person('m')
    const fields = { client_id: client.clientId, act: 'delete', confirm_name: 'Banned' }
    expect((await admin.post(at.admin, fields)).status).toBe(303)
    await expectDead([accessToken])
    const acts = await attack.server.query(
      `select event, actor_email, subject from oauth2server_audit
      where client_id = '${client.clientId}' and event = 'client.deleted'`,
    )
    expect(acts).toEqual([
      {
        event: 'client.deleted',
        actor_email: attack.users.m.user.email,
        subject: expect.stringContaining('Banned'),
      },
    ])
    await attack.server.server.users.setAdmin(attack.users.m.user.id, false)
  })

  // An option of this server is a function, which cannot be sent to other processes. So the server has only one node.
  test.each<[string, (server: AttackServer, client: AttackClient) => Promise<unknown>]>([
    ['the client is deleted', ({ server }, { clientId }) => server.server.clients.delete(clientId)],
    ['the user is deleted', ({ server, users }) => server.server.users.delete(users.b.user.id)],
    [
      'the user is deactivated',
      ({ server, users }) => server.server.users.setActive(users.b.user.id, false),
    ],
    [
      'the application is revoked',
      ({ server, users }, { clientId }) =>
        server.server.authorizedApplications.revoke(users.b.user.id, clientId),
    ],
  ])('issues no valid token if %s during an exchange', async (what, end) => {
    let reached: (() => void) | undefined
    let resume: Promise<void> | undefined
    await using paused = await startAttackServer({
      async aroundStore({ name }, operation) {
        const isWrite = name === 'transaction' || name === 'authorizations.insertWithToken'
        const wait = isWrite ? resume : undefined
        if (wait) {
          resume = undefined
          reached?.()
          await wait
        }
        return operation()
      },
    })
    const client = await paused.client({ name: 'Raced' })
    const code = await paused.code({}, { client, as: 'b' })
    const { refreshToken, accessToken } = await paused.grant({}, { client, as: 'b' })
    for (const send of [
      () => paused.token({ code }, { client }),
      () => paused.refresh(refreshToken, {}, { client }),
    ]) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const arrived = Promise.withResolvers<void>()
      resume = promise
      reached = arrived.resolve
      const sent = send()
      const first = await Promise.race([arrived.promise.then(() => 'paused'), sent])
      if (first === 'paused') await end(paused, client)
      resume = undefined
      resolve()
      const { status, body, text } = await sent
      if (body.access_token === undefined) expect([400, 401], text).toContain(status)
      // Tokens may be issued for a deactivated user, but they are invalid until reactivation.
      else {
        expect(what).toBe('the user is deactivated')
        expectBearer(await paused.ping(String(body.access_token)), 'invalid_token')
      }
    }
    expectBearer(await paused.ping(accessToken), 'invalid_token')
  })
})

describe('PT-08 Secrets in responses and logs', () => {
  test('shows a secret once and only to the session that created it', async () => {
    const [who, twin, other] = [
      await person(),
      new Person(attack.server, await attack.newBrowser('a'), attack.users.a.user),
      await person('b'),
    ]
    const once = async (made: { status: number; location: string | null }, id: string) => {
      expect(made.status).toBe(303)
      const path = made.location ?? ''
      // Another session of the user and another user do not see the secret.
      expect((await twin.get(path)).copied(id)).toBeUndefined()
      expect((await other.get(path)).status).toBe(404)
      const page = await who.get(path)
      const secret = page.copied(id)
      expect(secret).toMatch(/^[A-Za-z0-9]{40,}$/)
      expect(page.headers.get('cache-control')).toBe('no-store')
      attack.saw(secret)
      for (const visitor of [who, twin])
        for (const _ of times) expect((await visitor.get(path)).html).not.toContain(String(secret))
      return path
    }
    const redirect_uris = 'https://client.example/cb'
    const client = await once(
      await who.post(at.newClient, { name: 'Once', redirect_uris }),
      'client-secret',
    )
    await once(await who.post(`${client}reset/`), 'client-secret')
    const token = await once(await who.post(at.newToken, { name: 'Once' }), 'access-token')
    await once(await who.post(`${token}rotate/`), 'access-token')
  })

  test('never returns stored secrets or digests on pages or in JSON', async () => {
    const [owner, other] = [await person(), await person('b')]
    const { conf, evil, pub } = attack.clients
    const { id, value } = await attack.personalToken('a', [r, w])
    const { accessToken, refreshToken } = await attack.grant({ scope: r })
    const code = await attack.code()
    const device = await idOfToken(accessToken)
    const { session: mine } = owner
    const rows = [
      ...(await attack.server.query(
        'select client_secret as one, seal as two, registration_token as three from oauth2server_client',
      )),
      ...(await attack.server.query(
        'select access_token as one, access_token_digest as two, refresh_token as three from oauth2server_token',
      )),
      ...(await attack.server.query(
        'select refresh_token_digest as one, access_token_digest as two from oauth2server_token',
      )),
      ...(await attack.server.query('select password_hash as one from oauth2server_user')),
      ...(await attack.server.query('select seal as one from oauth2server_consent')),
    ]
    const kept = rows.flatMap((row) => Object.values(row)).filter((text) => text !== null)
    const secrets = [
      ...kept.map(String),
      ...[conf, evil, pub].map(({ clientSecret }) => clientSecret),
      ...[value, accessToken, refreshToken, code, mine.identifier],
    ].filter((text) => text.length >= 16)
    expect(secrets.length).toBeGreaterThan(20)
    const paths = [
      ...[at.list, at.newClient, at.newToken, at.sessions, at.admin, '/oauth/device', '/'],
      ...[at.adminHome, at.adminTokens, at.adminApplication(conf.clientId)],
      ...[at.client(conf.clientId), at.token(id), at.view(device)],
      ...['/oauth/absent', '/oauth/errors?error=x', '/openapi.json'],
      ...['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource'],
    ]
    const responses: { path: string; text: string }[] = []
    for (const who of [owner, other]) {
      const script = new Script(attack.server, who.session)
      for (const path of paths) {
        responses.push({ path, text: (await who.get(path)).html })
        responses.push({ path: `${path} as JSON`, text: (await script.get(path)).text })
      }
    }
    const byToken = { headers: { authorization: `Bearer ${accessToken}` } }
    for (const path of ['/oauth/info', '/oauth/ping'])
      responses.push({ path, text: (await attack.request(path, byToken)).text })
    const introspected = await attack.request('/oauth/introspect', {
      method: 'POST',
      headers: basicOf(conf),
      body: new URLSearchParams({ token: accessToken }),
    })
    responses.push({ path: '/oauth/introspect', text: introspected.text })
    const consent = await attack.authorize({ prompt: 'consent' }, { submit: null })
    responses.push({ path: 'the consent page', text: consent.text })
    for (const { path, text } of responses) {
      expect(text.length, path).toBeGreaterThan(0)
      const found = secrets.filter((secret) => text.includes(secret))
      expect(found, path).toEqual([])
      expect(text, path).not.toMatch(/"(?:client_secret|password|password_hash|seal|digest)":\s*"/)
    }
  })

  test('does not return the client secret when a client reads its registration', async () => {
    const made = await registered(attack.server, { client_name: 'Reader' })
    attack.saw(made.client_secret, made.registration_access_token)
    const read = await manage('GET', made)
    expect(read.status).toBe(200)
    expect(read.body).not.toHaveProperty('client_secret')
    expect(JSON.stringify(read.body)).not.toContain(made.client_secret)
    expect(read.headers.get('cache-control')).toBe('no-store')
  })

  test('does not return or log the secrets of a failed request', async () => {
    const { conf } = attack.clients
    const secret = 'a-wrong-secret-that-somebody-typed'
    const responses = [
      await attack.token({ code: secret }),
      await attack.refresh(secret),
      await attack.token(
        { code: 'x', client_id: conf.clientId, client_secret: secret },
        { auth: 'none' },
      ),
      await attack.token({ code: 'x' }, { client: { ...conf, clientSecret: secret } }),
      await attack.ping(secret),
      await attack.authorize({ client_id: 'nope', client_secret: secret }),
      await attack.authorize({ scope: 'bogus', client_secret: secret }),
    ]
    for (const { status, text, headers } of responses) {
      expect(status).toBeGreaterThanOrEqual(300)
      expect(text).not.toContain(secret)
      expect([...headers.values()].join('\n')).not.toContain(secret)
    }
    expect(JSON.stringify(attack.server.log)).not.toContain(secret)
  })
})

/** Uses another browser of user-a, because these tests end sessions. */
const pasteAs = async (name: UserName, credential: string) => {
  const who = await person(name)
  return { who, page: await who.post(at.leaked, { credential }) }
}

describe('PT-09 Look-up of another user’s leaked secret [T1380]', () => {
  test('returns the same page as for an unknown value, for every kind of secret', async () => {
    const { conf } = attack.clients
    const { value } = await attack.personalToken('a', [r])
    const tokens = await attack.grant({ scope: r })
    const code = await attack.code({ scope: r })
    const { identifier } = await attack.browser('a')
    const before = await attack.state()
    const shown = async (credential: string): Promise<string> => {
      const { page } = await pasteAs('b', credential)
      expect(page.status).toBe(400)
      expect(page.html).not.toContain(credential)
      return page.html.replaceAll(/name="form_id" value="[^"]*"/g, '')
    }
    const unknown = await shown('x'.repeat(43))
    for (const secret of [
      value,
      tokens.accessToken,
      tokens.refreshToken ?? '',
      conf.clientSecret ?? '',
      code,
      identifier,
    ])
      expect(await shown(secret)).toBe(unknown)
    expect(await attack.state()).toEqual(before)
    await attack.expectAlive(tokens)
  })

  test('returns 404 for the reference to the result of another user, on pages and in JSON', async () => {
    const { value } = await attack.personalToken('a', [r])
    const { page } = await pasteAs('a', value)
    const found = page.location?.split('found=')[1] ?? ''
    expect(found).not.toBe('')
    const other = await person('b')
    const before = await attack.state()
    for (const act of ['end', 'end_user', 'end_application', 'disable', 'log_out']) {
      await other.post(at.leaked, { found, at: '0', act })
      const script = new Script(attack.server, other.session)
      expect((await script.post(at.leaked, { found, at: 0, act })).status).toBe(404)
    }
    expect((await other.get(`${at.leaked}?found=${found}`)).html).not.toContain('credential-0')
    expect(await attack.state()).toEqual(before)
  })
})

describe('PT-10 Pasted secrets in URLs, logs, rows and pages [T1381]', () => {
  test('stores, logs and displays no pasted value', async () => {
    const { value } = await attack.personalToken('a', [r])
    const { accessToken } = await attack.grant({ scope: r })
    for (const credential of [value, `curl -H 'Authorization: Bearer ${accessToken}'`]) {
      const { who, page } = await pasteAs('a', credential)
      expect(page.status).toBe(303)
      const result = await who.get(page.location ?? '')
      expect(result.html).toContain('credential-0')
      for (const secret of [value, accessToken])
        for (const text of [
          page.location ?? '',
          page.html,
          [...page.headers].join('\n'),
          result.html,
          JSON.stringify(attack.server.log),
          JSON.stringify(await attack.server.query('select * from oauth2server_transient')),
          JSON.stringify(await attack.server.query('select * from oauth2server_audit')),
        ])
          expect(text).not.toContain(secret)
    }
  })

  test('rejects a text in a field of another type without repeating the text', async () => {
    const { value } = await attack.personalToken('a', [r])
    const who = await person('a')
    const script = new Script(attack.server, who.session)
    for (const body of [
      { credential: [value] },
      { credential: { value } },
      { found: value, act: value },
    ]) {
      const { status, text } = await script.post(at.leaked, body)
      expect([400, 404]).toContain(status)
      expect(text).not.toContain(value)
    }
  })
})

describe('PT-11 Forged acts on a leaked secret or on a user [T1382]', () => {
  test('rejects a form from another site, or without the CSRF token of the session', async () => {
    const { value } = await attack.personalToken('a', [r])
    const { who, page } = await pasteAs('a', value)
    const found = page.location?.split('found=')[1] ?? ''
    const { user } = attack.users.b
    const before = await attack.state()
    for (const [path, fields] of [
      [at.leaked, { found, at: '0', act: 'end' }],
      [at.leaked, { credential: value }],
      [at.adminUser(user.id), { act: 'deactivate' }],
      [at.adminUsers, { user: value }],
    ] as const) {
      expect((await who.post(path, fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
      expect((await who.post(path, fields, { origin: 'https://evil.example' })).status).toBe(403)
      expect((await who.postRaw(path, fields)).status).toBeOneOf([403, 404])
      const other = await person('b')
      const csrf_token = other.session.csrfToken
      expect((await who.postRaw(path, { ...fields, csrf_token })).status).toBeOneOf([403, 404])
    }
    expect(await attack.state()).toEqual(before)
  })

  test('returns 404 for every action on a user to users who are not administrators', async () => {
    const { user } = attack.users.b
    await expectNotFound(await person('a'), [
      [at.adminUsers],
      [at.adminUser(user.id)],
      ...['deactivate', 'activate', 'log_out', 'end_tokens'].map(
        (act): Sent => [at.adminUser(user.id), { act }],
      ),
    ])
  })
})

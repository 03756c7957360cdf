import { setTimeout as delay } from 'node:timers/promises'
import { Scope } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deviceGrant } from '../support/device.ts'
import { sendConcurrently } from '../support/nodes.ts'
import { startServer } from '../support/server.ts'
import { authorizationOf } from '../support/tokens.ts'
import {
  type AttackClient,
  type AttackServer,
  attackOptions,
  basic,
  expectJson,
  expectNoChange,
  formOf,
  type Over,
  scopes,
  startAttackServer,
  type Tokens,
} from './support/attack-server.ts'

let attack: AttackServer
beforeAll(async () => {
  attack = await startAttackServer()
})
afterAll(() => attack.close())

const { r, w, rwAll } = scopes
const hour = 3600

describe('CD-01 Short lifetime', () => {
  test('accepts a code one second before its expiry but not one second after', async () => {
    const [early, late] = [await attack.code(), await attack.code()]
    attack.server.advance(59)
    expect((await attack.token({ code: early })).status).toBe(200)
    attack.server.advance(2)
    await expectNoChange(attack, async () => {
      expectJson(await attack.token({ code: late }), 400, 'invalid_grant')
    })
  })

  test('limits the lifetime of codes to 60 seconds by default and 600 seconds at most', async () => {
    expect(attack.server.server.settings.authorizationCodeExpiresIn).toBe(60)
    const lasting = { beside: attack.server, authorizationCodeExpiresIn: 601 }
    await expect(startServer(lasting)).rejects.toThrow(/AUTHORIZATION_CODE_EXPIRES_IN/)
  })

  test('accepts a code on another node, until its original expiry', async () => {
    const [early, late] = [await attack.code(), await attack.code()]
    attack.server.advance(30)
    await using again = await startServer({
      beside: attack.server,
      ...attackOptions,
      authorizationCodeExpiresIn: 600,
    })
    expect((await attack.token({ code: early }, { at: again })).status).toBe(200)
    attack.server.advance(31)
    expectJson(await attack.token({ code: late }, { at: again }), 400, 'invalid_grant')
  })
})

describe('CD-02 Sequential replay by the client of the code [T549]', () => {
  test.each([
    ['immediately', 0],
    ['after a second', 1],
    ['after its expiry', 61],
    ['after an hour', hour],
  ])('rejects a code that is replayed %s, and revokes its tokens', async (_, seconds) => {
    const code = await attack.code({ scope: `${r} ${w}` })
    const first = attack.tokensIn(await attack.token({ code }))
    const second = attack.tokensIn(await attack.refresh(first.refreshToken))
    const other = await attack.grant()
    const others = await attack.grant({}, { as: 'b' })
    attack.server.advance(seconds)
    expectJson(await attack.token({ code }), 400, 'invalid_grant')
    for (const tokens of [first, second]) await attack.expectDead(tokens)
    // Other tokens of the user and the client remain valid. The access tokens may have expired, so check the refresh
    // tokens.
    for (const { refreshToken } of [other, others])
      expect((await attack.refresh(refreshToken)).status).toBe(200)
    await attack.server.server.sweep()
    expectJson(await attack.token({ code }), 400, 'invalid_grant')
    await attack.expectDead(second)
  })

  test('detects a replay after expired rows were swept', async () => {
    const code = await attack.code()
    const tokens = attack.tokensIn(await attack.token({ code }))
    attack.server.advance(hour)
    await attack.server.server.sweep()
    const next = attack.tokensIn(await attack.refresh(tokens.refreshToken))
    expectJson(await attack.token({ code }), 400, 'invalid_grant')
    await attack.expectDead(next)
  })

  test.each<[string, Over, Parameters<AttackServer['token']>[1]]>([
    ['with a wrong verifier', { code_verifier: 'v'.repeat(43) }, {}],
    ['with another redirect URI', { redirect_uri: 'https://evil.example/cb' }, {}],
    ['by another client', {}, { client: 'conf2' }],
    ['by a public client', {}, { client: 'spa' }],
    ['by its client without authentication', {}, { auth: 'none' }],
  ])('does not revoke tokens for a replay %s', async (_, over, redeeming) => {
    const code = await attack.code()
    const tokens = attack.tokensIn(await attack.token({ code }))
    await expectNoChange(attack, async () => {
      const { status } = await attack.token({ code, ...over }, redeeming)
      expect([400, 401]).toContain(status)
    })
    await attack.expectAlive(tokens)
  })
})

describe('CD-04 Binding to the client and the user [T551]', () => {
  const attempts = (
    code: string,
  ): [string, Over, Parameters<AttackServer['token']>[1], number, string][] => {
    const { conf, conf2, pub } = attack.clients
    const { redirectUri: redirect_uri } = conf
    const of = (client: AttackClient) => ({
      authorization: basic(client.clientId, client.clientSecret),
    })
    return [
      ['another client', { code, redirect_uri }, { client: 'conf2' }, 400, 'invalid_grant'],
      ['a public client', { code, redirect_uri }, { client: 'pub' }, 400, 'invalid_grant'],
      ['the attacker’s client', { code, redirect_uri }, { client: 'evil' }, 400, 'invalid_grant'],
      ['a missing client', { code, client_id: undefined }, { auth: 'none' }, 401, 'invalid_client'],
      ['an empty client_id', { code, client_id: '' }, { auth: 'none' }, 401, 'invalid_client'],
      [
        'Basic credentials of another client with the client_id of this client',
        { code, client_id: conf.clientId },
        { auth: 'none', headers: of(conf2) },
        400,
        'invalid_request',
      ],
      [
        'Basic credentials of this client with the client_id of a public client',
        { code, client_id: pub.clientId },
        {},
        400,
        'invalid_request',
      ],
      ['client_id alone', { code }, { auth: 'none' }, 401, 'invalid_client'],
    ]
  }

  test('redeems a code for its client after other clients failed to redeem it [T059]', async () => {
    const code = await attack.code()
    await expectNoChange(attack, async () => {
      for (const [name, over, redeeming, status, error] of attempts(code)) {
        const response = await attack.token(over, redeeming)
        expect([name, response.status]).toEqual([name, status])
        expectJson(response, status, error)
      }
    })
    expect((await attack.token({ code })).status).toBe(200)
  })

  test('issues the tokens for the user who consented', async () => {
    const code = await attack.code({}, { as: 'b' })
    const { body } = await attack.token({ code })
    expect(body.user).toEqual({ id: attack.users.b.id })
  })

  test('rejects other credentials as authorization codes, and codes as other credentials', async () => {
    const code = await attack.code()
    const device = { grant_type: deviceGrant, device_code: code }
    expectJson(await attack.token(device, { client: 'imp' }), 400, 'invalid_grant')
    expectJson(await attack.refresh(code), 400, 'invalid_grant')
    expect((await attack.ping(code)).status).toBe(401)
    const { accessToken, refreshToken } = await attack.grant()
    for (const other of [accessToken, refreshToken])
      expectJson(await attack.token({ code: other }), 400, 'invalid_grant')
  })
})

describe('CD-05 Binding to the redirect URI [T552]', () => {
  const cb = 'https://client.example/cb'
  test('rejects another redirect URI without consuming the code', async () => {
    const own = await attack.client({ redirectUris: [cb, `${cb}2`] })
    const code = await attack.code({}, { client: own })
    await expectNoChange(attack, async () => {
      for (const redirect_uri of [
        `${cb}2`,
        undefined,
        '',
        'https://evil.example/cb',
        `${cb}/`,
        'https://client.example/c%62',
        'https://client.example/%63b',
        'HTTPS://client.example/cb',
        encodeURIComponent(cb),
        `${cb} `,
      ]) {
        const response = await attack.token({ code, redirect_uri }, { client: own })
        expectJson(response, 400, 'invalid_grant')
      }
      const twice = { code, redirect_uri: [cb, cb] }
      expectJson(await attack.token(twice, { client: own }), 400, 'invalid_request')
    })
    expect((await attack.token({ code }, { client: own })).status).toBe(200)
  })

  test('accepts an omitted redirect URI if the authorization request omitted it', async () => {
    const code = await attack.code({ redirect_uri: undefined })
    await expectNoChange(attack, async () => {
      const redirect_uri = `${cb}2`
      expectJson(await attack.token({ code, redirect_uri }), 400, 'invalid_grant')
    })
    expect((await attack.token({ code, redirect_uri: undefined })).status).toBe(200)
  })

  test('rejects the code after its redirect URI was removed from the client', async () => {
    const own = await attack.client({ redirectUris: [cb, `${cb}2`] })
    const code = await attack.code({}, { client: own })
    await attack.server.server.clients.update(own.clientId, { redirectUris: [`${cb}2`] })
    expectJson(await attack.token({ code }, { client: own }), 400, 'invalid_grant')
  })

  test('accepts the code after another redirect URI was added to the client', async () => {
    const own = await attack.client({ redirectUris: [cb] })
    const code = await attack.code({}, { client: own })
    await attack.server.server.clients.update(own.clientId, { redirectUris: [`${cb}2`, cb] })
    expect((await attack.token({ code }, { client: own })).status).toBe(200)
  })
})

const many = 50

/** Sends the same token request many times concurrently, each over a separate socket. */
const race = async (code: string): Promise<readonly { status: number; body: object }[]> => {
  const { clientId, clientSecret, redirectUri: redirect_uri } = attack.clients.conf
  const fields = {
    grant_type: 'authorization_code',
    code,
    redirect_uri,
    code_verifier: attack.verifier,
  }
  const url = `${attack.issuer}/oauth/token`
  const form = { url, authorization: basic(clientId, clientSecret), fields }
  const responses = await sendConcurrently(Array.from({ length: many }, () => form))
  return responses.map((response) => {
    if (response.status === 'rejected') throw response.reason
    return response.value
  })
}

describe('CD-06 50 concurrent redemptions on one node [T550]', () => {
  test('redeems the code once, and revokes the tokens because of the replays', async () => {
    const other = await attack.grant()
    const code = await attack.code()
    const responses = await race(code)
    const [won, ...more] = responses.filter(({ status }) => status === 200)
    expect(more).toEqual([])
    expect(
      responses.filter(({ body }) => Reflect.get(body, 'error') === 'invalid_grant'),
    ).toHaveLength(many - 1)
    const tokens = won?.body as Record<string, string>
    attack.saw(tokens.access_token, tokens.refresh_token)
    await attack.expectDead({
      accessToken: tokens.access_token ?? '',
      refreshToken: tokens.refresh_token ?? '',
    } as Tokens)
    await attack.expectAlive(other)
    const families = await attack.server.query(
      'select code_digest from oauth2server_authorization where code_digest is not null group by code_digest having count(*) > 1',
    )
    expect(families).toEqual([])
  })
})

describe('CD-07 Concurrent redemptions on two nodes with a slow store', () => {
  test.each([
    'after consents.findGrant',
    'after transients.get',
    'after consents.find',
    'before transaction',
  ])('redeems the code once if the slow node pauses %s', async (at) => {
    let isSlow = false
    let pauses = 0
    await using slow = await startServer({
      beside: attack.server,
      ...attackOptions,
      // With a low limit, the node redeems codes in a transaction instead of one statement.
      authorizationsPerApplication: 16,
      aroundStore: async ({ name }, run) => {
        if (isSlow && at.endsWith(` ${name}`)) pauses += 1
        // Fixed time: the redemptions overlap.
        if (isSlow && at === `before ${name}`) await delay(200)
        const result = await run()
        // Fixed time: the redemptions overlap.
        if (isSlow && at === `after ${name}`) await delay(200)
        return result
      },
    })
    const code = await attack.code()
    isSlow = true
    const first = attack.token({ code }, { at: slow })
    // Fixed time: the redemptions overlap.
    await delay(50)
    const [late, quick] = [await attack.token({ code }), await first]
    expect(pauses).toBeGreaterThan(0)
    const statuses = [late, quick].map(({ status }) => status).sort()
    expect(statuses).toEqual([200, 400])
    const winner = late.status === 200 ? late : quick
    const loser = late.status === 200 ? quick : late
    expectJson(loser, 400, 'invalid_grant')
    await attack.expectDead(attack.tokensIn(winner))
  })
})

describe('CD-10 Changes of the user or the client before the redemption', () => {
  type Server = AttackServer['server']['server']
  /** A user consents to the client of another user. Then each test changes the user or the client. */
  test.each<
    [
      string,
      (
        server: Server,
        of: Record<'user' | 'owner', number> & { clientId: string },
      ) => Promise<unknown>,
      string,
    ]
  >([
    [
      'the user is deactivated',
      ({ users }, { user }) => users.setActive(user, false),
      'invalid_grant',
    ],
    ['the user is deleted', ({ users }, { user }) => users.delete(user), 'invalid_grant'],
    [
      'the user changes the password',
      ({ users }, { user }) => users.setPassword(user, 'another one, long enough'),
      'invalid_grant',
    ],
    [
      'the client is deleted',
      ({ clients }, { clientId }) => clients.delete(clientId),
      'invalid_client',
    ],
    [
      'the owner of the client is deactivated',
      ({ users }, { owner }) => users.setActive(owner, false),
      'invalid_client',
    ],
    [
      'the owner of the client is deleted',
      ({ users }, { owner }) => users.delete(owner),
      'invalid_client',
    ],
    [
      'the client may no longer request the scope',
      ({ clients }, { clientId }) => clients.update(clientId, { allowedScopes: [w] }),
      'invalid_grant',
    ],
    [
      'the client may no longer use the grant type',
      ({ clients }, { clientId }) =>
        clients.update(clientId, { grantTypes: ['client_credentials'] }),
      'unauthorized_client',
    ],
    [
      'the client becomes public',
      ({ clients }, { clientId }) => clients.update(clientId, { isConfidential: false }),
      'invalid_client',
    ],
  ])('rejects the code if %s before the redemption', async (_, change, error) => {
    const [person, owner] = [await attack.newPerson(), await attack.newPerson()]
    const own = await attack.client({
      userId: owner.id,
      redirectUris: ['https://client.example/cb'],
    })
    const { agent } = person
    const code = await attack.code({}, { client: own, agent })
    await change(attack.server.server, {
      user: Number(person.id),
      owner: Number(owner.id),
      clientId: own.clientId,
    })
    await expectNoChange(attack, async () => {
      const response = await attack.token({ code }, { client: own })
      expectJson(response, error === 'invalid_client' ? 401 : 400, error)
    })
  })

  test('rejects the code after the user logs out or withdraws the consent', async () => {
    const person = await attack.newPerson()
    const { agent, csrfToken } = person
    const post = (path: string) =>
      attack.request(path, {
        agent,
        method: 'POST',
        body: new URLSearchParams({ csrf_token: csrfToken }),
      })
    const withdrawn = await attack.code({}, { agent })
    const { clientId } = attack.clients.conf
    const revoke = await post(`/account/settings/applications/authorized/${clientId}/revoke/`)
    expect(revoke.status).toBe(303)
    expectJson(await attack.token({ code: withdrawn }), 400, 'invalid_grant')
    const loggedOut = await attack.code({}, { agent })
    expect((await post('/logout')).status).toBe(303)
    expectJson(await attack.token({ code: loggedOut }), 400, 'invalid_grant')
  })

  test('rejects the code after its scope is no longer registered', async () => {
    const code = await attack.code({ scope: `${r} ${w}` })
    await using fewer = await startServer({
      beside: attack.server,
      ...attackOptions,
      scopes: [new Scope(r)],
    })
    expectJson(await attack.token({ code }, { at: fewer }), 400, 'invalid_grant')
  })
})

describe('CD-12 Unguessable values and fixed scopes', () => {
  const samples = 300

  /** Expects at least 128 bits, no duplicates, and different characters at every position. */
  const expectRandom = (values: readonly string[]) => {
    expect(new Set(values).size).toBe(values.length)
    const [first = ''] = values
    for (const value of values) expect(value).toMatch(/^[A-Za-z0-9]{22,255}$/)
    for (let place = 0; place < first.length; place += 1) {
      const characters = new Set(values.map((value) => value[place]))
      expect(characters.size, `at ${place}`).toBeGreaterThan(values.length > 100 ? 40 : 15)
    }
  }

  test('issues access and refresh tokens of at least 128 random bits [T083]', async () => {
    const { clientId } = attack.clients.conf
    const issued = []
    for (let count = 0; count < samples; count += 1)
      issued.push(await authorizationOf(attack.server, clientId, { scopes: [] }))
    expectRandom(issued.map(({ accessToken }) => accessToken))
    expectRandom(issued.map(({ refreshToken }) => refreshToken))
  })

  test('issues authorization codes of at least 128 random bits [T089]', async () => {
    const codes = []
    for (let count = 0; count < 60; count += 1) codes.push(await attack.code())
    expectRandom(codes)
  })

  test('issues device codes and pushed request references of at least 128 random bits', async () => {
    const responses = []
    for (let count = 0; count < 60; count += 1) {
      responses.push(
        await attack.request('/oauth/device_authorization', {
          method: 'POST',
          body: formOf({ client_id: attack.clients.imp.clientId, scope: r }),
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            authorization: basic(attack.clients.imp.clientId, attack.clients.imp.clientSecret),
          },
        }),
      )
    }
    expectRandom(responses.map(({ body }) => String(body.device_code)))
    const userCodes = responses.map(({ body }) => String(body.user_code))
    expect(new Set(userCodes).size).toBe(userCodes.length)
  })

  test('creates client IDs and secrets of at least 128 random bits [T530]', async () => {
    const made = []
    for (let count = 0; count < 60; count += 1) made.push(await attack.client())
    expectRandom(made.map(({ clientId }) => clientId))
    expectRandom(made.map(({ clientSecret }) => clientSecret))
  })

  test('ignores additional scopes in the token request', async () => {
    for (const scope of [`${r} ${w} ${rwAll}`, w, rwAll]) {
      const response = await attack.token({ code: await attack.code(), scope })
      if (response.status !== 200) expectJson(response, 400, 'invalid_scope')
      else expect(response.body.scope).toBe(r)
      if (response.status !== 200) continue
      const refreshed = await attack.refresh(attack.tokensIn(response).refreshToken)
      expect(refreshed.body.scope).toBe(r)
    }
  })
})

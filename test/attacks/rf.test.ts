import { setTimeout as delay } from 'node:timers/promises'
import { Scope } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendConcurrently } from '../support/nodes.ts'
import { startServer } from '../support/server.ts'
import {
  type AttackServer,
  attackOptions,
  basic,
  expectBearer,
  expectJson,
  expectNoChange,
  type Redeeming,
  scopes,
  startAttackServer,
  type Tokens,
} from './support/attack-server.ts'

let attack: AttackServer
/** A server without a leeway for retries. */
let strict: AttackServer
beforeAll(async () => {
  ;[attack, strict] = await Promise.all([
    startAttackServer(),
    startAttackServer({ refreshTokenLeeway: 0 }),
  ])
})
afterAll(async () => {
  await attack.close()
  await strict.close()
})

const { r, w, rwAll } = scopes
const day = 86_400

describe('RF-01 Rotation and reuse detection [T542]', () => {
  /** Grants a refresh token and rotates it twice. Returns all three token pairs: R0, R1 and R2. */
  const rotatedTwice = async (
    server: AttackServer,
    redeeming: Redeeming = {},
  ): Promise<readonly [Tokens, Tokens, Tokens]> => {
    const r0 = await server.grant({}, redeeming.client ? { client: redeeming.client } : {})
    const r1 = server.tokensIn(await server.refresh(r0.refreshToken, {}, redeeming))
    const r2 = server.tokensIn(await server.refresh(r1.refreshToken, {}, redeeming))
    return [r0, r1, r2]
  }

  test('issues new tokens at each rotation, and leaves only the last two access tokens valid', async () => {
    const [r0, r1, r2] = await rotatedTwice(attack)
    const all = [r0, r1, r2].flatMap(({ accessToken, refreshToken }) => [accessToken, refreshToken])
    expect(new Set(all).size).toBe(6)
    expectBearer(await attack.ping(r0.accessToken), 'invalid_token')
    expect((await attack.ping(r1.accessToken)).status).toBe(200)
    await attack.expectAlive(r2)
  })

  test.each<[string, Redeeming]>([
    ['a confidential client', {}],
    ['a public client', { client: 'spa' }],
  ])('revokes only the authorization of a reused refresh token of %s', async (_, redeeming) => {
    for (const which of [0, 1] as const) {
      const other = await attack.grant({}, redeeming.client ? { client: redeeming.client } : {})
      const family = await rotatedTwice(attack, redeeming)
      // Within the leeway, R1 would return the current token again, so wait until the leeway is over.
      if (which === 1) attack.server.advance(61)
      expectJson(
        await attack.refresh(family[which].refreshToken, {}, redeeming),
        400,
        'invalid_grant',
      )
      await attack.expectDead(family[2], redeeming)
      await attack.expectAlive(other)
      expect((await attack.refresh(other.refreshToken, {}, redeeming)).status).toBe(200)
    }
  })

  test('revokes the authorization on the first reuse if there is no leeway', async () => {
    const r0 = await strict.grant()
    const r1 = strict.tokensIn(await strict.refresh(r0.refreshToken))
    expectJson(await strict.refresh(r0.refreshToken), 400, 'invalid_grant')
    await strict.expectDead(r1)
  })

  test('returns the same tokens for a retry within the leeway', async () => {
    const r0 = await attack.grant()
    const r1 = attack.tokensIn(await attack.refresh(r0.refreshToken))
    attack.server.advance(59)
    const again = await attack.refresh(r0.refreshToken)
    expect(again.body).toEqual({ ...r1.response.body, expires_in: 3600 - 59 })
    attack.server.advance(2)
    expectJson(await attack.refresh(r0.refreshToken), 400, 'invalid_grant')
    await attack.expectDead(r1)
  })

  test('rejects a retry with other parameters within the leeway, without revoking tokens', async () => {
    const r0 = await attack.grant({ scope: `${r} ${w}` })
    const r1 = attack.tokensIn(await attack.refresh(r0.refreshToken))
    await expectNoChange(attack, async () => {
      expectJson(await attack.refresh(r0.refreshToken, { scope: r }), 400, 'invalid_grant')
    })
    await attack.expectAlive(r1)
  })

  test('does not revoke tokens if another or an unauthenticated client reuses a refresh token', async () => {
    const [, r1, r2] = await rotatedTwice(attack)
    await expectNoChange(attack, async () => {
      for (const redeeming of [{ client: 'conf2' }, { client: 'spa' }, { auth: 'none' }] as const) {
        const { status } = await attack.refresh(r1.refreshToken, {}, redeeming)
        expect([400, 401]).toContain(status)
      }
    })
    await attack.expectAlive(r2)
  })

  test('rejects a retry within the leeway after the successor was revoked', async () => {
    const r0 = await attack.grant()
    const r1 = attack.tokensIn(await attack.refresh(r0.refreshToken))
    const { clientId, clientSecret } = attack.clients.conf
    const revoked = await attack.request('/oauth/revoke', {
      method: 'POST',
      body: new URLSearchParams({ token: r1.refreshToken }),
      headers: { authorization: basic(clientId, clientSecret) },
    })
    expect(revoked.status).toBe(200)
    expectJson(await attack.refresh(r0.refreshToken), 400, 'invalid_grant')
    await attack.expectDead(r1)
  })
})

describe('RF-05 50 concurrent refreshes on one and two nodes', () => {
  const many = 50

  const race = async (server: AttackServer, refreshToken: string, issuers = [server.issuer]) => {
    const { clientId, clientSecret } = server.clients.conf
    const forms = Array.from({ length: many }, (_, at) => ({
      url: `${issuers[at % issuers.length]}/oauth/token`,
      authorization: basic(clientId, clientSecret),
      fields: { grant_type: 'refresh_token', refresh_token: refreshToken },
    }))
    const responses = await sendConcurrently(forms)
    return responses.map((response) => {
      if (response.status === 'rejected') throw response.reason
      const { access_token, refresh_token } = response.value.body
      server.saw(access_token as string, refresh_token as string)
      return response.value
    })
  }
  /** Starts a node that pauses between reading a token and rotating it. */
  const slowBeside = (server: AttackServer, leeway: number) =>
    startServer({
      beside: server.server,
      ...attackOptions,
      refreshTokenLeeway: leeway,
      aroundStore: async ({ name }, run) => {
        const result = await run()
        // Fixed time: concurrent refreshes overlap.
        if (name === 'tokens.findByRefresh') await delay(20)
        return result
      },
    })

  const expectSame = async (server: AttackServer, issuers?: string[]) => {
    const { refreshToken } = await server.grant()
    const responses = await race(server, refreshToken, issuers)
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(responses.map(({ body }) => body.refresh_token)).size).toBe(1)
    expect(new Set(responses.map(({ body }) => body.access_token)).size).toBe(1)
    const [first] = responses
    await server.expectAlive({ accessToken: String(first?.body.access_token) })
    expect((await server.refresh(String(first?.body.refresh_token))).status).toBe(200)
  }
  const expectOne = async (server: AttackServer, issuers?: string[]) => {
    const { refreshToken } = await server.grant()
    const responses = await race(server, refreshToken, issuers)
    const [won, ...more] = responses.filter(({ status }) => status === 200)
    expect(more).toEqual([])
    const refused = responses.filter(
      ({ status, body }) => status === 400 && body.error === 'invalid_grant',
    )
    expect(refused).toHaveLength(many - 1)
    // The other requests reused the refresh token, so the authorization is revoked.
    await server.expectDead({
      accessToken: String(won?.body.access_token),
      refreshToken: String(won?.body.refresh_token),
    } as Tokens)
  }

  test('returns the same new refresh token to all requests if there is a leeway', async () => {
    await expectSame(attack)
  })

  test('returns a new refresh token to only one request without a leeway, and revokes its authorization because of the reuse', async () => {
    await expectOne(strict)
  })

  test.each([1, 2])(
    'returns the results of the two tests above on %i nodes that pause between reading and rotating',
    async (count) => {
      for (const [server, leeway, expectation] of [
        [attack, 60, expectSame],
        [strict, 0, expectOne],
      ] as const) {
        await using one = await slowBeside(server, leeway)
        await using two = await slowBeside(server, leeway)
        await expectation(server, [one.issuer, two.issuer].slice(0, count))
      }
    },
  )
})

describe('RF-07 Refreshes with fewer scopes [T560]', () => {
  test('restricts only one access token, and rejects scopes that were not granted', async () => {
    const own = await attack.client({ redirectUris: ['https://client.example/cb'] })
    const redeeming = { client: own }
    let { refreshToken } = await attack.grant({ scope: `${r} ${w}` }, redeeming)
    const next = async (scope?: string) => {
      const response = await attack.refresh(refreshToken, { scope }, redeeming)
      const tokens = attack.tokensIn(response)
      refreshToken = tokens.refreshToken
      return String(response.body.scope).split(' ').sort().join(' ')
    }
    const all = [r, w].sort().join(' ')
    expect(await next(r)).toBe(r)
    expect(await next()).toBe(all)
    expect(await next(`${r} ${w}`)).toBe(all)
    expect(await next(w)).toBe(w)
    expect(await next(`${w} ${r} ${w}`)).toBe(all)
    await expectNoChange(attack, async () => {
      for (const scope of [
        `${r} ${w} ${rwAll}`,
        rwAll,
        'bogus',
        scopes.internal,
        `${r}  bogus`,
        'r"',
      ])
        expectJson(await attack.refresh(refreshToken, { scope }, redeeming), 400, 'invalid_scope')
    })
    expect(await next()).toBe(all)
  })

  test('issues an access token with only the requested scope', async () => {
    const tokens = await attack.grant({ scope: `${r} ${w}` })
    const narrowed = attack.tokensIn(await attack.refresh(tokens.refreshToken, { scope: w }))
    const { body } = await attack.request('/oauth/info', {
      headers: { authorization: `Bearer ${narrowed.accessToken}` },
    })
    expect(body.scopes).toEqual([w])
  })
})

describe('RF-08 Expiry and changes of users and clients [T561]', () => {
  test('rejects a refresh token after the maximum lifetime, despite rotations', async () => {
    await using own = await startAttackServer({
      authorizationExpiresIn: 10 * day,
      refreshTokenExpiresIn: 4 * day,
    })
    let tokens = await own.grant()
    for (let days = 0; days < 9; days += 3) {
      own.server.advance(3 * day)
      tokens = own.tokensIn(await own.refresh(tokens.refreshToken))
    }
    own.server.advance(day - 1)
    tokens = own.tokensIn(await own.refresh(tokens.refreshToken))
    own.server.advance(1)
    expectJson(await own.refresh(tokens.refreshToken), 400, 'invalid_grant')
  })

  test('rejects an unused refresh token after its expiry, before and after the sweep [T528]', async () => {
    await using own = await startAttackServer({ refreshTokenExpiresIn: 4 * day })
    const [kept, used] = [await own.grant(), await own.grant()]
    own.server.advance(4 * day - 1)
    const next = own.tokensIn(await own.refresh(used.refreshToken))
    own.server.advance(1)
    expectJson(await own.refresh(kept.refreshToken), 400, 'invalid_grant')
    await own.server.server.sweep()
    expectJson(await own.refresh(kept.refreshToken), 400, 'invalid_grant')
    expect((await own.refresh(next.refreshToken)).status).toBe(200)
  })

  test('rejects the refresh token of a deactivated user until reactivation, without consuming it', async () => {
    const person = await attack.newPerson()
    const { users } = attack.server.server
    const tokens = await attack.grant({}, { agent: person.agent })
    await users.setActive(person.id, false)
    await expectNoChange(attack, async () => {
      await attack.expectDead(tokens)
    })
    await users.setActive(person.id, true)
    expect((await attack.refresh(tokens.refreshToken)).status).toBe(200)
  })

  test('rejects the refresh token of a deleted user, a deleted client or a client with an inactive owner', async () => {
    const [person, owner] = [await attack.newPerson(), await attack.newPerson()]
    const input = { redirectUris: ['https://client.example/cb'], userId: owner.id }
    const [own, deleted] = [await attack.client(input), await attack.client(input)]
    const { users, clients } = attack.server.server
    const ofPerson = await attack.grant({}, { agent: person.agent })
    const ofOwn = await attack.grant({}, { client: own })
    const ofDeleted = await attack.grant({}, { client: deleted })
    await users.delete(person.id)
    await clients.delete(deleted.clientId)
    await users.setActive(owner.id, false)
    await attack.expectDead(ofPerson)
    for (const [client, { refreshToken, accessToken }] of [
      [own, ofOwn],
      [deleted, ofDeleted],
    ] as const) {
      expectJson(await attack.refresh(refreshToken, {}, { client }), 401, 'invalid_client')
      expectBearer(await attack.ping(accessToken), 'invalid_token')
    }
  })

  test('omits a scope that the client may no longer request from the next token', async () => {
    const own = await attack.client({ redirectUris: ['https://client.example/cb'] })
    const redeeming = { client: own }
    const tokens = await attack.grant({ scope: `${r} ${w}` }, redeeming)
    const { clients } = attack.server.server
    await clients.update(own.clientId, { allowedScopes: [r] })
    expectJson(
      await attack.refresh(tokens.refreshToken, { scope: w }, redeeming),
      400,
      'invalid_scope',
    )
    const next = attack.tokensIn(await attack.refresh(tokens.refreshToken, {}, redeeming))
    expect(next.scope).toBe(r)
    await clients.update(own.clientId, { allowedScopes: [rwAll] })
    expectJson(await attack.refresh(next.refreshToken, {}, redeeming), 400, 'invalid_scope')
  })

  test('omits a scope that is no longer registered from the next token', async () => {
    const tokens = await attack.grant({ scope: `${r} ${w}` })
    const gone = await attack.grant({ scope: w })
    await using fewer = await startServer({
      beside: attack.server,
      ...attackOptions,
      scopes: [new Scope(r)],
    })
    const next = await attack.refresh(tokens.refreshToken, {}, { at: fewer })
    expect(attack.tokensIn(next).scope).toBe(r)
    expectJson(await attack.refresh(gone.refreshToken, {}, { at: fewer }), 400, 'invalid_scope')
  })
})

describe('RF-09 Grants without a refresh token, and other credentials', () => {
  test('issues no refresh token with implicit, client_credentials and personal tokens, or to a client without the refresh grant', async () => {
    const implicit = await attack.authorize({ response_type: 'token' }, { client: 'imp' })
    expect(implicit.fragment).toHaveProperty('access_token')
    expect(implicit.fragment).not.toHaveProperty('refresh_token')
    const machine = await attack.token({ grant_type: 'client_credentials' }, { client: 'm2m' })
    expect(machine.body).toHaveProperty('access_token')
    expect(machine.body).not.toHaveProperty('refresh_token')
    const own = await attack.client({
      redirectUris: ['https://client.example/cb'],
      grantTypes: ['authorization_code'],
    })
    const { response, accessToken } = await attack.grant({}, { client: own })
    expect(response.body).not.toHaveProperty('refresh_token')
    expectJson(await attack.refresh(accessToken, {}, { client: own }), 400, 'unauthorized_client')
    await attack.personalToken()
    const rows = await attack.server.query(
      'select refresh_token, refresh_token_digest from oauth2server_token where is_personal = 1 or authorization_id is null or authorization_id in (select id from oauth2server_authorization where code_digest is null)',
    )
    expect(rows.length).toBeGreaterThan(2)
    for (const row of rows) expect(Object.values(row)).toEqual([null, null])
  })

  test('rejects other credentials as refresh tokens', async () => {
    const { accessToken } = await attack.grant()
    const personal = await attack.personalToken()
    const machine = await attack.token({ grant_type: 'client_credentials' }, { client: 'm2m' })
    const code = await attack.code()
    await expectNoChange(attack, async () => {
      for (const value of [
        accessToken,
        personal.value,
        String(machine.body.access_token),
        code,
        attack.clients.conf.clientSecret,
        'undefined',
        'null',
        'x'.repeat(10_000),
      ])
        expectJson(await attack.refresh(value), 400, 'invalid_grant')
    })
    await attack.expectAlive({ accessToken })
    await attack.expectAlive({ accessToken: personal.value })
  })

  test('rejects a missing, empty or repeated refresh token', async () => {
    const { refreshToken } = await attack.grant()
    await expectNoChange(attack, async () => {
      expectJson(await attack.refresh('', {}), 400, 'invalid_request')
      const missing = { grant_type: 'refresh_token' }
      expectJson(await attack.token(missing), 400, 'invalid_request')
      const twice = { ...missing, refresh_token: [refreshToken, refreshToken] }
      expectJson(await attack.token(twice), 400, 'invalid_request')
      const inQuery = await attack.request(
        `/oauth/token?grant_type=refresh_token&refresh_token=${refreshToken}`,
        {
          method: 'POST',
          headers: {
            authorization: basic(attack.clients.conf.clientId, attack.clients.conf.clientSecret),
          },
        },
      )
      expect(inQuery.status).toBe(400)
    })
    expect((await attack.refresh(refreshToken)).status).toBe(200)
  })

  test('rejects a refresh token at a resource', async () => {
    const { refreshToken } = await attack.grant()
    expectBearer(await attack.ping(refreshToken), 'invalid_token')
    const query = `/api/notes?access_token=${refreshToken}`
    expectBearer(await attack.request(query), 'invalid_token')
  })
})

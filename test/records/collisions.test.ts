import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/crypto/random.ts'
import { count, query } from '../support/database.ts'
import { type RepeatingRandom, repeatingRandom } from '../support/random.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { authorizationOf, clientOf, statusOf } from '../support/tokens.ts'
import { authorizeUrl, tokenRequest, UserAgent } from '../support/user-agent.ts'

const browser = { cookie: null, address: '127.0.0.1', userAgent: 'test' }

describe('ST-04 if the random source repeats a value, the server', () => {
  let app: TestServer
  let source: RepeatingRandom
  beforeEach(async () => {
    source = repeatingRandom()
    app = await startServer({ random: source.random })
    source.drawn()
  })
  afterEach(async () => {
    // The server has drawn all repeated values, so the test has caused a collision.
    expect(source.left).toBe(0)
    await app.close()
  })

  const fresh = () => systemRandom(76)
  const rows = (table: string) =>
    query(app.database, `select * from oauth2server_${table} order by 1`)
  /** Runs `work` twice. The second run draws the values of the first run again. */
  const repeatDraws = async <T>(
    work: () => Promise<T>,
    choose = (drawn: readonly Uint8Array[]) => drawn,
  ): Promise<[T, T]> => {
    source.drawn()
    const first = await work()
    source.repeat(choose(source.drawn()))
    return [first, await work()]
  }

  test.each([
    ['client_secret and client_id', (drawn: readonly Uint8Array[]) => drawn],
    ['client_secret', ([secret]: readonly Uint8Array[]) => [secret ?? fresh()]],
    ['client_id', ([, id]: readonly Uint8Array[]) => [fresh(), id ?? fresh()]],
  ])('creates a client with another value for a repeated %s', async (_, choose) => {
    const [one, other] = await repeatDraws(() => app.client(), choose)
    expect(one.clientId).not.toBe(other.clientId)
    expect(one.clientSecret).not.toBe(other.clientSecret)
    for (const { clientId, clientSecret } of [one, other])
      expect((await clientOf(app, clientId)).checkSecret(clientSecret, app.now())).toBe(true)
  })

  test('resets client_id, client_secret, or both to unused values', async () => {
    source.drawn()
    const taken = await app.client()
    const [secret = fresh(), id = fresh()] = source.drawn()
    const { clientId } = await app.client()
    const before = rows('client').find((row) => row.client_id === taken.clientId)

    source.repeat([id])
    const { clientId: renewed } = await app.server.clients.resetClientId(clientId)
    expect(source.left).toBe(0)
    source.repeat([secret])
    const { clientSecret } = await app.server.clients.resetClientSecret(renewed)
    expect(source.left).toBe(0)
    source.repeat([secret, id])
    const both = await app.server.clients.resetCredentials(renewed)

    expect(new Set([taken.clientId, renewed, both.client.clientId]).size).toBe(3)
    expect(new Set([taken.clientSecret, clientSecret, both.clientSecret]).size).toBe(3)
    expect(rows('client').find((row) => row.client_id === taken.clientId)).toEqual(before)
    expect(
      (await clientOf(app, both.client.clientId)).checkSecret(both.clientSecret, app.now()),
    ).toBe(true)
  })

  test('creates a personal token and its client with unused values', async () => {
    const [one, other] = await repeatDraws(() => app.personalToken(['notes:read']))
    expect(one).not.toBe(other)
    source.repeat([])
    const [third, fourth] = await repeatDraws(
      () => app.personalToken(['notes:write']),
      ([, , token]) => [fresh(), fresh(), token ?? fresh()],
    )
    for (const token of [one, other, third, fourth]) expect(await statusOf(app, token)).toBe(200)
    expect(count(app.database, 'oauth2server_token')).toBe(4)
    expect(count(app.database, 'oauth2server_client')).toBe(4)
  })

  test('issues access and refresh tokens of an authorization with unused values [T697]', async () => {
    const { clientId } = await app.client()
    const [one, other] = await repeatDraws(() => authorizationOf(app, clientId))
    expect(
      new Set([one.accessToken, other.accessToken, one.refreshToken, other.refreshToken]).size,
    ).toBe(4)
    for (const { accessToken, refreshToken, token } of [one, other]) {
      expect((await app.server.tokens.find({ accessToken }))?.token.id).toBe(token.id)
      expect((await app.server.tokens.find({ refreshToken }))?.token.id).toBe(token.id)
    }
    expect(count(app.database, 'oauth2server_authorization')).toBe(2)
  })

  test('issues tokens of client_credentials with unused values', async () => {
    const client = await clientOf(app, (await app.client()).clientId)
    const [one, other] = await repeatDraws(() =>
      app.server.tokens.issue({ type: 'client', client, subject: null, scopes: [] }),
    )
    expect(one.accessToken).not.toBe(other.accessToken)
    expect((await app.server.tokens.find({ accessToken: one.accessToken }))?.token.id).toBe(
      one.token.id,
    )
  })

  test.each([
    ['another pair', 'other', [0, 1]],
    ['another access token', 'other', [0]],
    ['its own pair', 'own', [0, 1]],
    ['its own access token', 'own', [0]],
    ['its own refresh token', 'own', [undefined, 1]],
  ] as const)(
    'rotates a refresh token to unused values, if the source repeats %s',
    async (_, whose, which) => {
      const basic = await app.client()
      source.drawn()
      const one = await authorizationOf(app, basic.clientId)
      const own = source.drawn()
      const two = await authorizationOf(app, basic.clientId)
      const other = source.drawn()
      source.repeat(
        which.map(
          (index) => (index === undefined ? undefined : { own, other }[whose][index]) ?? fresh(),
        ),
      )
      const { body } = await tokenRequest(
        app.issuer,
        { grant_type: 'refresh_token', refresh_token: one.refreshToken },
        { basic },
      )
      const values = [
        one.accessToken,
        one.refreshToken,
        two.accessToken,
        two.refreshToken,
        body.access_token,
        body.refresh_token,
      ]
      expect(new Set(values).size).toBe(6)
      // The replaced access token remains valid for the leeway.
      expect(await statusOf(app, one.accessToken)).toBe(200)
      expect(await statusOf(app, two.accessToken)).toBe(200)
      expect(await statusOf(app, String(body.access_token))).toBe(200)
      expect(await app.server.tokens.find({ refreshToken: one.refreshToken })).toBeUndefined()
    },
  )

  test('creates a session with an unused identifier', async () => {
    const other = await app.server.users.create({ email: 'other@example.org', password: null })
    source.drawn()
    const mine = await app.server.sessions.signIn(app.user.id, browser)
    source.repeat(source.drawn())
    const theirs = await app.server.sessions.signIn(other.id, browser)
    const userOf = async (cookie: string) =>
      (await app.server.sessions.signedIn({ ...browser, cookie: cookie.split(';')[0] ?? '' }))?.user
        .id
    expect(await userOf(mine)).toBe(app.user.id)
    expect(await userOf(theirs)).toBe(other.id)
  })

  test('stores a code and a pending authorization request under unused values', async () => {
    const basic = await app.client()
    const url = authorizeUrl(app.issuer, {
      client_id: basic.clientId,
      redirect_uri: redirectUri,
      scope: 'notes:read',
    })
    const agent = new UserAgent()
    await agent.authorize(app, url)
    // The consent is stored, so the server draws only the code.
    const [one, other] = await repeatDraws(
      async () => (await agent.authorize(app, url)).searchParams.get('code') ?? '',
    )
    expect(one).not.toBe(other)
    for (const code of [one, other]) {
      const { status } = await tokenRequest(
        app.issuer,
        { grant_type: 'authorization_code', code, redirect_uri: redirectUri },
        { basic },
      )
      expect(status).toBe(200)
    }
    const shown = async () =>
      /name="authorization_request" value="([^"]+)"/.exec(
        await (await agent.fetch(`${url}&prompt=consent`)).text(),
      )?.[1]
    const [request, another] = await repeatDraws(shown)
    expect(request).toMatch(/^[A-Za-z0-9]{43}$/)
    expect(another).toMatch(/^[A-Za-z0-9]{43}$/)
    expect(request).not.toBe(another)
  })

  test('gives up after a limited number of attempts, and overwrites nothing, if every value is repeated', async () => {
    source.drawn()
    await app.client()
    const values = source.drawn()
    const before = rows('client')
    source.repeat(Array.from({ length: 5 }, () => values).flat())
    await expect(app.client()).rejects.toThrow(/repeats values/)
    expect(rows('client')).toEqual(before)
  })
})

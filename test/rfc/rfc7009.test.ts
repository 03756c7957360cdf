import { StoreUnavailable } from 'svc-oauth2server'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { basicOf, type FormResponse, postForm } from '../support/form.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { ping, refusal, TestClient, type TokenResponse, UserAgent } from '../support/user-agent.ts'

let failing: string | undefined
let app: TestServer
let alone: TestServer
let agent: UserAgent
let conf: TestClient
let conf2: TestClient
let pub: TestClient

beforeAll(async () => {
  app = await startServer({
    aroundStore: ({ name }, run) => {
      if (name === failing) throw new StoreUnavailable('the disk at /var/lib is gone')
      return run()
    },
  })
  alone = await startServer({ revokeAccessTokenAlone: true })
  agent = new UserAgent()
  conf = await TestClient.register(app, agent)
  conf2 = await TestClient.register(app, agent)
  pub = await TestClient.register(app, agent, { isConfidential: false })
})
afterEach(() => {
  failing = undefined
})
afterAll(async () => {
  await app.close()
  await alone.close()
})

type Fields = Record<string, string> | string | readonly [string, string][]

const revokeAs = (client: TestClient | undefined, fields: Fields): Promise<FormResponse> =>
  postForm(`${client?.app.issuer ?? app.issuer}/oauth/revoke`, fields, client && basicOf(client))

const revoke = (client: TestClient, token: string, more: Record<string, string> = {}) =>
  client === pub
    ? revokeAs(undefined, { token, client_id: pub.clientId, ...more })
    : revokeAs(client, { token, ...more })

const refreshStatus = async (client: TestClient, refreshToken: string): Promise<number> =>
  (await client.refresh(refreshToken)).status

const asTokenResponse = (answer: FormResponse) => answer as unknown as TokenResponse

describe('RFC 7009 §2 the revocation endpoint', () => {
  test('§2 lists the endpoint and its authentication methods in the metadata [T117]', async () => {
    const response = await fetch(`${app.issuer}/.well-known/oauth-authorization-server`)
    const metadata = (await response.json()) as Record<string, unknown>
    expect(metadata.revocation_endpoint).toBe(`${app.issuer}/oauth/revoke`)
    expect(metadata.revocation_endpoint_auth_methods_supported).toEqual(
      metadata.token_endpoint_auth_methods_supported,
    )
    expect(metadata.revocation_endpoint_auth_signing_alg_values_supported).toEqual(
      metadata.token_endpoint_auth_signing_alg_values_supported,
    )
  })

  test('§2 returns 404 and omits the endpoint from the metadata if revocation is disabled', async () => {
    await using off = await startServer({ revocation: false })
    const response = await fetch(`${off.issuer}/.well-known/oauth-authorization-server`)
    const metadata = (await response.json()) as Record<string, unknown>
    expect(Object.keys(metadata).filter((name) => name.startsWith('revocation'))).toEqual([])
    expect((await postForm(`${off.issuer}/oauth/revoke`, { token: 'x' })).status).toBe(404)
  })
})

describe('RFC 7009 §2.1 the revocation request', () => {
  test('§2.1 rejects a client that fails to authenticate, and does not revoke the token [T121]', async () => {
    const { access_token: token } = await conf.tokens()
    const wrong = { ...conf, clientId: conf.clientId, clientSecret: 'wrong' }
    const nobody = { clientId: 'nobody', clientSecret: 'wrong' }
    const responses = [
      await revokeAs(undefined, { token }),
      await postForm(`${app.issuer}/oauth/revoke`, { token }, basicOf(wrong)),
      await postForm(`${app.issuer}/oauth/revoke`, { token }, basicOf(nobody)),
      await revokeAs(undefined, { token, client_id: conf.clientId }),
      await revokeAs(undefined, { token, client_id: conf.clientId, client_secret: 'wrong' }),
      await postForm(`${app.issuer}/oauth/revoke`, { token }, { authorization: `Bearer ${token}` }),
    ]
    for (const answer of responses)
      expect(refusal(asTokenResponse(answer))).toBe('401 invalid_client')
    expect(responses[1]?.headers.get('www-authenticate')).toMatch(/^Basic /)
    expect(await ping(app, token)).toBe(200)
  })

  test('§2.1 authenticates the client before it reports a missing token [T122]', async () => {
    expect(refusal(asTokenResponse(await revokeAs(undefined, {})))).toBe('401 invalid_client')
  })

  test('§2.1 accepts client_secret_post, and the client_id of a public client [T123]', async () => {
    const { access_token: token } = await conf.tokens()
    const { clientId: client_id, clientSecret: client_secret } = conf
    expect((await revokeAs(undefined, { token, client_id, client_secret })).status).toBe(200)
    expect(await ping(app, token)).toBe(401)
    const own = await pub.tokens()
    expect((await revoke(pub, own.access_token)).status).toBe(200)
    expect(await ping(app, own.access_token)).toBe(401)
  })

  test.each<[string, Fields]>([
    ['missing', {}],
    ['empty', { token: '' }],
    ['repeated', 'token=a&token=a'],
    ['sent with a repeated hint', 'token=a&token_type_hint=x&token_type_hint=x'],
  ])('§2.1 returns invalid_request for a token that is %s [T119]', async (_what, fields) => {
    expect(refusal(asTokenResponse(await revokeAs(conf, fields)))).toBe('400 invalid_request')
  })

  test('§2.1 ignores parameters in the query', async () => {
    const { access_token: token } = await conf.tokens()
    const answer = await postForm(`${app.issuer}/oauth/revoke?token=${token}`, {}, basicOf(conf))
    expect(refusal(asTokenResponse(answer))).toBe('400 invalid_request')
    expect(await ping(app, token)).toBe(200)
  })

  test.each([
    ['of 60 kB', 'x'.repeat(60_000)],
    ['with control characters', '\0\n\u007f'],
    ['with dots', 'a.b.c'],
    ['with non-ASCII characters', '\u{1F511}é'],
    ['that contains SQL', "' or 1=1 --"],
  ])('§2.2 treats a token %s as unknown [T130]', async (_what, token) => {
    expect((await revokeAs(conf, { token })).status).toBe(200)
  })
})

describe('RFC 7009 §2.1 the tokens that a request revokes', () => {
  test('§2.1 revokes a refresh token and the access tokens of its authorization immediately [T112]', async () => {
    for (const client of [conf, pub]) {
      const { access_token, refresh_token } = await client.tokens()
      const answer = await revoke(client, refresh_token)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(await ping(app, access_token)).toBe(401)
      expect(await refreshStatus(client, refresh_token)).toBe(400)
    }
  })

  test('§2.1 for an access token, also revokes the refresh token of its authorization [T113]', async () => {
    const { access_token, refresh_token } = await conf.tokens()
    await revoke(conf, access_token)
    expect(await ping(app, access_token)).toBe(401)
    expect(await refreshStatus(conf, refresh_token)).toBe(400)
  })

  test('§2.1 revokes the authorization even for an expired access token', async () => {
    await using other = await startServer()
    const client = await TestClient.register(other, new UserAgent())
    const { access_token, refresh_token } = await client.tokens()
    other.advance(3_601)
    await revokeAs(client, { token: access_token })
    expect(await refreshStatus(client, refresh_token)).toBe(400)
  })

  test('§2.1 revokes a client_credentials token and no other token of that client [T114]', async () => {
    const machine = { grant_type: 'client_credentials' }
    const first = (await conf.token(machine)).body.access_token
    const second = (await conf.token(machine)).body.access_token
    await revoke(conf, first)
    expect(await ping(app, first)).toBe(401)
    expect(await ping(app, second)).toBe(200)
  })

  test('§2.1 revokes an implicit token [T115]', async () => {
    const answer = await conf.ask({ response_type: 'token' })
    const token = new URLSearchParams(answer.hash.slice(1)).get('access_token') ?? ''
    expect(await ping(app, token)).toBe(200)
    await revoke(conf, token)
    expect(await ping(app, token)).toBe(401)
  })

  test('does not revoke other authorizations of the same user and client [T127]', async () => {
    const [one, other] = [await conf.tokens(), await conf.tokens()]
    await revoke(conf, one.refresh_token)
    expect(await ping(app, other.access_token)).toBe(200)
    expect(await refreshStatus(conf, other.refresh_token)).toBe(200)
  })

  test.each([
    ['access_token', 'access_token'],
    ['refresh_token', 'refresh_token'],
    ['an unknown one', 'session'],
    ['an empty one', ''],
    ['5,000 characters', 'x'.repeat(5_000)],
  ])(
    '§2.1 revokes the token with any token_type_hint: %s [T120]',
    async (_what, token_type_hint) => {
      const [one, other] = [await conf.tokens(), await conf.tokens()]
      expect((await revoke(conf, one.access_token, { token_type_hint })).status).toBe(200)
      expect((await revoke(conf, other.refresh_token, { token_type_hint })).status).toBe(200)
      expect(await ping(app, one.access_token)).toBe(401)
      expect(await ping(app, other.access_token)).toBe(401)
    },
  )

  test('§2.1 also revokes the tokens of a concurrent refresh [T126]', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { refresh_token } = await conf.tokens()
      const [refreshed] = await Promise.all([
        conf.refresh(refresh_token),
        revoke(conf, refresh_token),
      ])
      if (refreshed.status !== 200) continue
      expect(await ping(app, refreshed.body.access_token)).toBe(401)
      expect(await refreshStatus(conf, refreshed.body.refresh_token)).toBe(400)
    }
  })

  test('§2.1 revokes a JWT access token immediately at the endpoints of this server [T116]', async () => {
    await using other = await startServer({ accessTokenFormat: 'jwt' })
    const client = await TestClient.register(other, new UserAgent())
    const { access_token, refresh_token } = await client.tokens()
    expect(access_token.split('.')).toHaveLength(3)
    expect(await ping(other, access_token)).toBe(200)
    await revokeAs(client, { token: access_token })
    expect(await ping(other, access_token)).toBe(401)
    expect(await refreshStatus(client, refresh_token)).toBe(400)
  })

  test('§2.1 revokes a key-bound and resource-bound token without a DPoP proof', async () => {
    const found = await app.server.clients.find(conf.clientId)
    if (!found) throw new Error('The client does not exist.')
    const { accessToken } = await app.server.tokens.issue({
      type: 'user',
      client: found,
      subject: app.user,
      scopes: [],
      refreshable: true,
      resources: [`${app.issuer}/api`],
      keyThumbprint: 'x'.repeat(43),
    })
    await revoke(conf, accessToken)
    expect(await app.server.tokens.find({ accessToken })).toBeUndefined()
  })
})

describe('RFC 7009 §2.2 requests that revoke no token', () => {
  const machine = { grant_type: 'client_credentials' }

  test('IR-03 returns 200 and does not revoke the tokens of another client [T124]', async () => {
    const { access_token, refresh_token } = await conf.tokens()
    const own = (await conf.token(machine)).body.access_token
    for (const other of [conf2, pub]) {
      for (const token of [access_token, refresh_token, own])
        expect((await revoke(other, token)).status).toBe(200)
    }
    expect(await ping(app, access_token)).toBe(200)
    expect(await ping(app, own)).toBe(200)
    expect(await refreshStatus(conf, refresh_token)).toBe(200)
  })

  test('IR-03 returns the same response for unknown, revoked, rotated and valid tokens [T129]', async () => {
    const { access_token, refresh_token } = await conf.tokens()
    const { body } = await conf.refresh(refresh_token)
    const responses = [
      await revoke(conf, access_token),
      await revoke(conf, 'unknown'),
      await revoke(conf, await conf.code()),
    ]
    expect(await ping(app, body.access_token)).toBe(200)
    responses.push(await revoke(conf, body.access_token), await revoke(conf, body.access_token))
    expect(responses.map(({ status }) => status)).toEqual(Array(5).fill(200))
    expect(responses.map((answer) => answer.body)).toEqual(Array(5).fill({}))
  })

  test('IR-03 returns 200 to three concurrent requests for the same authorization', async () => {
    const { access_token, refresh_token } = await conf.tokens()
    const responses = await Promise.all([
      revoke(conf, refresh_token),
      revoke(conf, access_token),
      revoke(conf, refresh_token),
    ])
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await ping(app, access_token)).toBe(401)
  })

  test('IR-03 does not revoke a personal token at the request of a client [T125]', async () => {
    const token = await app.personalToken()
    for (const client of [conf, pub]) expect((await revoke(client, token)).status).toBe(200)
    const [{ client_id }] = (await app.query(
      'select client_id from oauth2server_client where is_personal = 1',
    )) as [{ client_id: string }]
    const itself = await revokeAs(undefined, { token, client_id })
    expect(refusal(asTokenResponse(itself))).toBe('401 invalid_client')
    expect(await ping(app, token)).toBe(200)
  })

  test('for a rotated refresh token, revokes the authorization only at the request of its client [T131]', async () => {
    const first = await conf.tokens()
    const { body } = await conf.refresh(first.refresh_token)
    expect((await revoke(conf2, first.refresh_token)).status).toBe(200)
    expect((await revoke(pub, first.refresh_token)).status).toBe(200)
    expect(await ping(app, body.access_token)).toBe(200)
    expect((await revoke(conf, first.refresh_token)).status).toBe(200)
    expect(await ping(app, body.access_token)).toBe(401)
    expect(await refreshStatus(conf, body.refresh_token)).toBe(400)
    expect(await refreshStatus(conf, first.refresh_token)).toBe(400)
    expect((await revoke(conf, first.refresh_token)).status).toBe(200)
  })
})

describe('RFC 7009 §2.1 the setting revokeAccessTokenAlone', () => {
  test('revokes only the access token, so that the refresh token remains valid [T128]', async () => {
    for (const isConfidential of [true, false]) {
      const client = await TestClient.register(alone, agent, { isConfidential })
      const by = (token: string) =>
        isConfidential
          ? revokeAs(client, { token })
          : postForm(`${alone.issuer}/oauth/revoke`, { token, client_id: client.clientId })
      let { access_token, refresh_token } = await client.tokens()
      for (let round = 0; round < 3; round += 1) {
        expect(await ping(alone, access_token)).toBe(200)
        expect((await by(access_token)).status).toBe(200)
        expect((await by(access_token)).status).toBe(200)
        expect(await ping(alone, access_token)).toBe(401)
        const { status, body } = await client.refresh(refresh_token)
        expect(status).toBe(200)
        ;({ access_token, refresh_token } = body)
      }
      expect(await ping(alone, access_token)).toBe(200)
    }
  })

  test('returns no valid access token for a repeated refresh after the access token was revoked', async () => {
    const client = await TestClient.register(alone, agent)
    const { refresh_token } = await client.tokens()
    const { body } = await client.refresh(refresh_token)
    await revokeAs(client, { token: body.access_token })
    const again = await client.refresh(refresh_token)
    expect([again.status, again.body.expires_in]).toEqual([200, 0])
    expect(await ping(alone, again.body.access_token)).toBe(401)
    expect((await client.refresh(again.body.refresh_token)).status).toBe(200)
  })

  test('revokes the whole authorization if the request contains a refresh token', async () => {
    const client = await TestClient.register(alone, agent)
    const { access_token, refresh_token } = await client.tokens()
    await revokeAs(client, { token: refresh_token })
    expect(await ping(alone, access_token)).toBe(401)
    expect((await client.refresh(refresh_token)).status).toBe(400)
  })

  test('revokes the whole authorization if it has no refresh token', async () => {
    const client = await TestClient.register(alone, agent)
    const answer = await client.ask({ response_type: 'token' })
    const token = new URLSearchParams(answer.hash.slice(1)).get('access_token') ?? ''
    await revokeAs(client, { token })
    expect(await ping(alone, token)).toBe(401)
    const [row] = await alone.query(
      `select revoked_at from oauth2server_authorization join oauth2server_client using (client_key) where client_id = '${client.clientId}'`,
    )
    expect(Number(row?.revoked_at)).toBe(alone.now())
  })

  test('revokes the given access token alone if a refresh has already replaced it', async () => {
    const client = await TestClient.register(alone, agent)
    const { access_token: accessToken, refresh_token } = await client.tokens()
    const found = await alone.server.tokens.find({ accessToken })
    if (!found) throw new Error('The token does not exist.')
    const { body } = await client.refresh(refresh_token)
    expect(await ping(alone, accessToken)).toBe(200)
    expect(await alone.server.tokens.revokeAccess(found, accessToken)).toBe(true)
    expect(await alone.server.tokens.revokeAccess(found, accessToken)).toBe(false)
    expect(await ping(alone, accessToken)).toBe(401)
    expect(await ping(alone, body.access_token)).toBe(200)
  })

  test('revokes only the given access token if a refresh runs concurrently', async () => {
    const client = await TestClient.register(alone, agent)
    for (let round = 0; round < 5; round += 1) {
      const { access_token, refresh_token } = await client.tokens()
      const [refreshed] = await Promise.all([
        client.refresh(refresh_token),
        revokeAs(client, { token: access_token }),
      ])
      expect(refreshed.status).toBe(200)
      expect(await ping(alone, access_token)).toBe(401)
      expect(await ping(alone, refreshed.body.access_token)).toBe(200)
    }
  })
})

test('RFC 7009 §5 does not return or log the secrets of a request [T135]', async () => {
  const { access_token, refresh_token } = await conf.tokens()
  const responses = [
    await revoke(conf2, access_token),
    await revoke(conf, access_token),
    await revokeAs(undefined, { token: refresh_token, client_secret: conf.clientSecret }),
  ]
  const output = JSON.stringify([responses.map(({ body }) => body), app.log])
  for (const secret of [access_token, refresh_token, conf.clientSecret])
    expect(output).not.toContain(secret)
})

import { setTimeout as delay } from 'node:timers/promises'
import * as dpop from 'dpop'
import { decodeJwt } from 'jose'
import {
  type AroundStore,
  type AuthorizationServer,
  createAuthorizationServer,
  type IssuedToken,
  StoreUnavailable,
  type User,
} from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basicOf, type FormResponse, postForm } from '../support/form.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { testScopes } from '../support/scopes.ts'
import { secretKey, startServer, type TestOptions, type TestServer } from '../support/server.ts'
import { clientOf } from '../support/tokens.ts'
import { ping, refusal, TestClient, type TokenResponse, UserAgent } from '../support/user-agent.ts'

const grant_type = 'urn:ietf:params:oauth:grant-type:token-exchange'
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'
const files = 'https://files.example'
const mail = 'https://mail.example'

const withExchange = {
  tokenExchange: true,
}
const start = (options: TestOptions = {}): Promise<TestServer> =>
  startServer({ ...withExchange, ...options })

let app: TestServer
let agent: UserAgent
let conf: TestClient
let conf2: TestClient
let pub: TestClient

beforeAll(async () => {
  app = await start()
  agent = new UserAgent()
  await agent.logIn(app)
  conf = await TestClient.register(app, agent)
  conf2 = await TestClient.register(app, agent)
  pub = await TestClient.register(app, agent, { isConfidential: false })
})
afterAll(() => app.close())

type Given = Record<string, string | undefined>

const fieldsOf = (subject_token: string | undefined, more: Given = {}): [string, string][] =>
  Object.entries({
    grant_type,
    subject_token,
    subject_token_type: accessTokenType,
    ...more,
  }).filter((pair): pair is [string, string] => pair[1] !== undefined)

/** Exchanges a token without client authentication, as the holder of a personal token does. */
const exchange = async (
  subjectToken: string | undefined,
  more: Given = {},
  { issuer }: Pick<TestServer, 'issuer'> = app,
  headers: Record<string, string> = {},
): Promise<FormResponse> => postForm(`${issuer}/oauth/token`, fieldsOf(subjectToken, more), headers)

/** Exchanges a token with the authentication of a client. */
const exchangeAs = (client: TestClient, subjectToken: string, more: Given = {}) =>
  client.clientSecret === pub.clientSecret
    ? exchange(subjectToken, { client_id: client.clientId, ...more }, client.app)
    : exchange(subjectToken, more, client.app, basicOf(client))

const refused = (response: FormResponse): string => refusal(response as unknown as TokenResponse)

const childOf = (response: FormResponse): string => {
  if (response.status !== 200)
    throw new Error(`The exchange was refused: ${JSON.stringify(response.body)}`)
  return String(response.body.access_token)
}

const me = async (token: string, { issuer } = app) => {
  const response = await fetch(`${issuer}/api/me`, {
    headers: { authorization: `Bearer ${token}` },
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

// In this file, a child is a token that an exchange issues, and its parent is the exchanged token.
describe('RFC 8693 §2.1 the exchange of a personal token', () => {
  test('§2.2.1 returns exactly the expected members, without a refresh token [T327]', async () => {
    const token = await app.personalToken(['notes:read', 'notes:write'])
    const response = await exchange(token, { scope: 'notes:read', expires_in: '600' })
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.body).toEqual({
      access_token: expect.stringMatching(/^[A-Za-z0-9]{43}$/),
      issued_token_type: accessTokenType,
      token_type: 'Bearer',
      expires_in: 600,
      scope: 'notes:read',
      user: { id: app.user.id },
    })
    const read = await fetch(`${app.issuer}/api/notes`, {
      headers: { authorization: `Bearer ${childOf(response)}` },
    })
    expect(read.status).toBe(200)
    const written = await fetch(`${app.issuer}/api/notes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${childOf(response)}`, 'content-type': 'application/json' },
      body: '{"text":"x"}',
    })
    expect(written.status).toBe(403)
    expect(await ping(app, token)).toBe(200)
  })

  test('§2.1 issues a child with the user and the type of its parent', async () => {
    const token = await app.personalToken(['user:email'])
    const child = childOf(await exchange(token))
    expect((await me(child)).body).toEqual((await me(token)).body)
    expect((await me(child)).body).toMatchObject({ kind: 'personal_token' })
  })

  test('§2.1 does not change the parent [T339]', async () => {
    const token = await app.personalToken(['notes:read'])
    const before = await app.server.tokens.find({ accessToken: token })
    for (let times = 0; times < 3; times += 1) expect((await exchange(token)).status).toBe(200)
    const after = await app.server.tokens.find({ accessToken: token })
    expect({ ...after?.token }).toEqual({ ...before?.token })
    const many = await Promise.all(Array.from({ length: 8 }, () => exchange(token)))
    expect(new Set(many.map(childOf)).size).toBe(8)
  })

  test('§2.1 by default, grants the scopes of the parent and a lifetime of one hour [T333]', async () => {
    const token = await app.personalToken(['notes:read', 'notes:write', 'test:scope'])
    const { body } = await exchange(token, { scope: '' })
    expect(body).toMatchObject({ scope: 'notes:read notes:write test:scope', expires_in: 3_600 })
  })

  test('§2.1 limits the requested lifetime of a child to the lifetime of its parent [T344]', async () => {
    await using other = await start()
    const { accessToken } = await other.server.tokens.createPersonal('Short', other.user.id, {
      expiresIn: 300,
    })
    const long = await other.personalToken()
    expect((await exchange(accessToken, {}, other)).body.expires_in).toBe(300)
    expect((await exchange(accessToken, { expires_in: '900' }, other)).body.expires_in).toBe(300)
    expect((await exchange(long, { expires_in: '999999999' }, other)).body.expires_in).toBe(3_600)
    const [first, second] = [
      childOf(await exchange(accessToken, {}, other)),
      childOf(await exchange(long, { expires_in: '60' }, other)),
    ]
    other.advance(60)
    expect([await ping(other, first), await ping(other, second)]).toEqual([200, 401])
    other.advance(240)
    expect(await ping(other, first)).toBe(401)
    expect(await ping(other, long)).toBe(200)
  })

  test.each(['0', '-1', '1.5', '1e3', 'soon', ' 60', '99999999999', '٣'])(
    'returns invalid_request for the invalid expires_in "%s"',
    async (expires_in) => {
      const token = await app.personalToken()
      expect(refused(await exchange(token, { expires_in }))).toBe('400 invalid_request')
    },
  )

  test('§2.1 accepts the access token type as requested_token_type [T334]', async () => {
    const token = await app.personalToken()
    const named = { requested_token_type: accessTokenType }
    expect((await exchange(token, named)).status).toBe(200)
  })

  test('issues a child without the prefix of personal tokens', async () => {
    await using other = await start({ tokenPersonalPrefix: 'notes_' })
    const token = await other.personalToken()
    const child = childOf(await exchange(token, {}, other))
    expect(child).not.toContain('_')
    expect(await ping(other, child)).toBe(200)
  })

  test('RFC 9068 issues a JWT with the user as sub if access tokens are JWTs [T343]', async () => {
    await using other = await start({ accessTokenFormat: 'jwt' })
    const token = await other.personalToken(['notes:read'])
    const child = childOf(await exchange(token, { expires_in: '60' }, other))
    const claims = decodeJwt(child)
    expect(claims).toMatchObject({ sub: String(other.user.id), scope: 'notes:read' })
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(60)
    expect(await ping(other, child)).toBe(200)
  })
})

describe('RFC 8693 §2.1 the exchange of an access token', () => {
  test('§2.1 accepts a token of an authorization from its confidential or public client', async () => {
    for (const client of [conf, pub]) {
      const { access_token } = await client.tokens({ scope: 'notes:read notes:write' })
      const response = await exchangeAs(client, access_token, { scope: 'notes:read' })
      expect(response.body).toMatchObject({
        scope: 'notes:read',
        issued_token_type: accessTokenType,
      })
      expect(response.body).not.toHaveProperty('refresh_token')
      expect((await me(childOf(response))).body).toMatchObject({ kind: 'access_token' })
    }
  })

  test('§2.1 accepts a client_credentials token', async () => {
    const { body } = await conf.token({ grant_type: 'client_credentials' })
    expect(await ping(app, childOf(await exchangeAs(conf, body.access_token)))).toBe(200)
  })

  test('§2.1 requires the authentication of a confidential client [T340]', async () => {
    const { access_token } = await conf.tokens()
    const responses = [
      await exchange(access_token),
      await exchange(access_token, { client_id: conf.clientId }),
      await exchange(
        access_token,
        {},
        app,
        basicOf({ ...conf, clientId: conf.clientId, clientSecret: 'wrong' }),
      ),
    ]
    for (const response of responses) expect(refused(response)).toBe('401 invalid_client')
  })

  test('§2.2.2 rejects the token of another client [T336]', async () => {
    const { access_token } = await conf.tokens()
    expect(refused(await exchangeAs(conf2, access_token))).toBe('400 invalid_request')
    expect(refused(await exchangeAs(pub, access_token))).toBe('400 invalid_request')
    const open = await pub.tokens()
    expect(refused(await exchangeAs(conf, open.access_token))).toBe('400 invalid_request')
  })

  test('RFC 6749 §5.2 returns unauthorized_client if the client may not use the grant', async () => {
    const client = await TestClient.register(app, agent, {
      grantTypes: ['authorization_code', 'client_credentials'],
    })
    const { body } = await client.token({ grant_type: 'client_credentials' })
    expect(refused(await exchangeAs(client, body.access_token))).toBe('400 unauthorized_client')
  })

  test('RFC 7009, RFC 7662 lets the client introspect a child, and revoke it without its parent', async () => {
    const { access_token } = await conf.tokens({ scope: 'notes:read notes:write' })
    const [one, other] = [
      childOf(await exchangeAs(conf, access_token, { scope: 'notes:read' })),
      childOf(await exchangeAs(conf, access_token)),
    ]
    const about = { token: one }
    const asked = await postForm(`${app.issuer}/oauth/introspect`, about, basicOf(conf))
    expect(asked.body).toMatchObject({ active: true, scope: 'notes:read' })
    expect((await postForm(`${app.issuer}/oauth/revoke`, about, basicOf(conf))).status).toBe(200)
    const statuses = [one, other, access_token].map((token) => ping(app, token))
    expect(await Promise.all(statuses)).toEqual([401, 200, 200])
  })
})

describe('RFC 8693 §2.1 client credentials together with a personal token', () => {
  test('§2.1 rejects any client credentials together with a personal token [T341]', async () => {
    const token = await app.personalToken()
    const { clientId: client_id, clientSecret: client_secret } = conf
    const responses = [
      await exchange(token, {}, app, basicOf(conf)),
      await exchange(token, {}, app, { authorization: 'Basic !' }),
      await exchange(token, {}, app, { authorization: `Bearer ${token}` }),
      await exchange(token, { client_secret: 'x' }),
      await exchange(token, { client_assertion: 'x' }),
      await exchange(token, { client_id }),
      await exchange(token, { client_id, client_secret }),
    ]
    for (const response of responses) expect(refused(response)).toBe('400 invalid_request')
  })

  test('accepts the client_id of a personal token only in the exchange of this token [T342]', async () => {
    const token = await app.personalToken()
    const found = await app.server.tokens.find({ accessToken: token })
    const client_id = found?.token.clientId ?? ''
    expect((await exchange(token, { client_id })).status).toBe(200)
    const as = { client_id, grant_type: 'client_credentials' }
    expect(refused(await postForm(`${app.issuer}/oauth/token`, as))).toBe('401 invalid_client')
    const { access_token } = await conf.tokens()
    expect(refused(await exchange(access_token, { client_id }))).toBe('401 invalid_client')
  })
})

describe('RFC 8693 §2.2.2 rejected requests', () => {
  test.each<[string, Given]>([
    ['without a subject_token', { subject_token: undefined }],
    ['with an empty subject_token', { subject_token: '' }],
    ['without a subject_token_type', { subject_token_type: undefined }],
    [
      'of a refresh token',
      { subject_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
    ],
    ['of a JWT', { subject_token_type: 'urn:ietf:params:oauth:token-type:jwt' }],
    ['of an unknown type', { subject_token_type: 'token' }],
    [
      'that requests a refresh token',
      { requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
    ],
    [
      'that requests a SAML assertion',
      { requested_token_type: 'urn:ietf:params:oauth:token-type:saml2' },
    ],
    ['with an actor_token', { actor_token: 'x', actor_token_type: accessTokenType }],
    ['with actor_token_type only', { actor_token_type: accessTokenType }],
  ])('§2.1 returns invalid_request for an exchange %s [T329]', async (_what, given) => {
    const token = await app.personalToken()
    const { subject_token = 'subject_token' in given ? undefined : token, ...more } = given
    expect(refused(await exchange(subject_token, more))).toBe('400 invalid_request')
  })

  test('§2.1 returns invalid_scope for scopes that the parent does not have [T332]', async () => {
    const token = await app.personalToken(['notes:read'])
    for (const scope of ['notes:write', 'notes:read notes:write', 'test:scope', 'unknown', 'a"b'])
      expect(refused(await exchange(token, { scope }))).toBe('400 invalid_scope')
    const { access_token } = await conf.tokens({ scope: 'notes:read' })
    expect(refused(await exchangeAs(conf, access_token, { scope: 'notes:write' }))).toBe(
      '400 invalid_scope',
    )
  })

  test('§2.2.2 returns invalid_target for an unsupported audience or resource [T331]', async () => {
    const token = await app.personalToken()
    for (const audience of ['files', app.issuer])
      expect(refused(await exchange(token, { audience }))).toBe('400 invalid_target')
    await using without = await start({ resourceIndicators: false })
    const other = await without.personalToken()
    expect(refused(await exchange(other, { resource: files }, without))).toBe('400 invalid_target')
  })

  test('§2.2.2 rejects a subject_token that is not a valid access token [T335]', async () => {
    await using other = await start()
    const client = await TestClient.register(other, new UserAgent())
    const { access_token, refresh_token } = await client.tokens()
    const code = await client.code()
    const { body } = await client.refresh(refresh_token)
    const wrong = [
      'unknown',
      '\0',
      'x'.repeat(50_000),
      'a.b.c',
      code,
      access_token,
      body.refresh_token,
    ]
    for (const token of wrong)
      expect(refused(await exchangeAs(client, token))).toBe('400 invalid_request')
    expect((await exchangeAs(client, body.access_token)).status).toBe(200)
    other.advance(3_600)
    expect(refused(await exchangeAs(client, body.access_token))).toBe('400 invalid_request')

    const personal = await other.personalToken()
    await other.server.users.setActive(other.user.id, false)
    expect(refused(await exchange(personal, {}, other))).toBe('400 invalid_request')
    await other.server.users.setActive(other.user.id, true)
    expect((await exchange(personal, {}, other)).status).toBe(200)
  })

  test('rejects the exchange of a child [T338]', async () => {
    const child = childOf(await exchange(await app.personalToken()))
    expect(refused(await exchange(child))).toBe('400 invalid_request')
    const { access_token } = await conf.tokens()
    const own = childOf(await exchangeAs(conf, access_token))
    expect(refused(await exchangeAs(conf, own))).toBe('400 invalid_request')
  })

  test('rejects the grant type, and omits it from the metadata, if token exchange is disabled [T328]', async () => {
    await using off = await start({ tokenExchange: false })
    const metadata = async ({ issuer }: TestServer) =>
      (await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json()) as {
        readonly grant_types_supported: readonly string[]
      }
    expect((await metadata(off)).grant_types_supported).not.toContain(grant_type)
    expect((await metadata(app)).grant_types_supported).toContain(grant_type)
    const client = await TestClient.register(off, new UserAgent())
    const { body } = await client.token({ grant_type: 'client_credentials' })
    const response = await exchangeAs(client, body.access_token)
    expect(refused(response)).toBe('400 unsupported_grant_type')
  })

  test('§5 does not return or log a presented token [T346]', async () => {
    const token = await app.personalToken()
    const responses = [await exchange(token, { scope: 'notes:write' }), await exchange(token)]
    expect(JSON.stringify([responses.map(({ body }) => body), app.log])).not.toContain(token)
    expect(JSON.stringify(app.log)).not.toContain(childOf(responses[1] as FormResponse))
  })
})

describe('RFC 8693 §2.1 restrictions that a child inherits', () => {
  const issued = async (
    more: { resources?: readonly string[]; keyThumbprint?: string },
    at = app,
    of = conf,
  ): Promise<IssuedToken> => {
    const client = await clientOf(at, of.clientId)
    const redemption = { type: 'client', client, subject: at.user, scopes: [], ...more } as const
    return at.server.tokens.issue(redemption)
  }

  test('RFC 8707 restricts a child to the resources of its parent [T330]', async () => {
    await using other = await start({ resources: [{ resource: files }, { resource: mail }] })
    const client = await TestClient.register(other, new UserAgent())
    const parent = await issued({ resources: [files] }, other, client)
    const child = childOf(await exchangeAs(client, parent.accessToken))
    expect((await other.server.tokens.find({ accessToken: child }))?.token.resources).toEqual([
      files,
    ])
    for (const resource of [mail, other.issuer]) {
      const response = await exchangeAs(client, parent.accessToken, { resource })
      expect(refused(response)).toBe('400 invalid_target')
    }
    const personal = await other.personalToken()
    const narrowed = childOf(await exchange(personal, { resource: mail }, other))
    expect((await other.server.tokens.find({ accessToken: narrowed }))?.token.resources).toEqual([
      mail,
    ])
    expect(await ping(other, narrowed)).toBe(401)
  })

  test('RFC 8707 restricts a child to the resources of its parent even if resource indicators are disabled', async () => {
    await using other = await start({ resourceIndicators: false })
    const client = await TestClient.register(other, new UserAgent())
    const parent = await issued({ resources: [files] }, other, client)
    const child = childOf(await exchangeAs(client, parent.accessToken))
    const found = await other.server.tokens.find({ accessToken: child })
    expect(found?.token.resources).toEqual([files])
  })

  test('refuses to issue a child with more rights than its parent, even if an extension requests it [T345]', async () => {
    const { accessToken } = await issued({ resources: [files], keyThumbprint: 'x'.repeat(43) })
    const parent = await app.server.tokens.find({ accessToken })
    if (!parent) throw new Error('The parent token does not exist.')
    const base = {
      type: 'narrowing',
      client: await clientOf(app, conf.clientId),
      parent,
      scopes: [],
      expiresIn: 60,
      resources: [files],
      keyThumbprint: 'x'.repeat(43),
    } as const
    const { resources: _resources, ...everywhere } = base
    const { keyThumbprint: _key, ...unbound } = base
    const issue = app.server.tokens
    await expect(issue.issue({ ...base, scopes: ['notes:read'] })).rejects.toMatchObject({
      code: 'invalid_scope',
    })
    for (const wider of [everywhere, { ...base, resources: [] }, { ...base, resources: [mail] }])
      await expect(issue.issue(wider)).rejects.toMatchObject({ code: 'invalid_target' })
    for (const loose of [unbound, { ...base, keyThumbprint: 'y'.repeat(43) }])
      await expect(issue.issue(loose)).rejects.toMatchObject({ code: 'invalid_request' })
    expect((await issue.issue(base)).token.parentId).toBe(parent.token.id)
  })

  test('RFC 9449 §5 binds a child to the key of its parent, and requires a proof of this key [T337]', async () => {
    // The DPoP library uses the clock of the machine, so the server must use it too.
    await using other = await start({ clock: () => Date.now() })
    const client = await TestClient.register(other, new UserAgent())
    const [key, otherKey] = [
      await dpop.generateKeyPair('ES256'),
      await dpop.generateKeyPair('ES256'),
    ]
    const url = `${other.issuer}/oauth/token`
    const proof = (by: dpop.KeyPair) => dpop.generateProof(by, url, 'POST')
    const jkt = await dpop.calculateThumbprint(key.publicKey)
    const parent = await issued({ keyThumbprint: jkt }, other, client)
    const by = async (holder?: dpop.KeyPair) =>
      exchange(parent.accessToken, {}, other, {
        ...basicOf(client),
        ...(holder ? { dpop: await proof(holder) } : {}),
      })
    for (const response of [await by(), await by(otherKey)]) expect(response.status).toBe(400)
    const response = await by(key)
    expect(response.body).toMatchObject({ token_type: 'DPoP' })
    const child = await other.server.tokens.find({ accessToken: childOf(response) })
    expect(child?.token.keyThumbprint).toBe(jkt)

    // A child of an unbound token may be bound to a key.
    const personal = await other.personalToken()
    const bound = await exchange(personal, {}, other, { dpop: await proof(key) })
    expect(bound.body).toMatchObject({ token_type: 'DPoP' })
    expect(await ping(other, childOf(bound))).toBe(401)
  })
})

describe('the validity of a child when its parent changes', () => {
  const ofPersonal = async (scopes = ['notes:read', 'notes:write']) => {
    const parent = await app.server.tokens.createPersonal('Test', app.user.id, { scopes })
    return { parent, child: childOf(await exchange(parent.accessToken)) }
  }

  test('revokes the child if the personal token is revoked', async () => {
    const { parent, child } = await ofPersonal()
    await app.server.tokens.revoke(parent)
    expect(await ping(app, child)).toBe(401)
    expect(await app.server.tokens.find({ accessToken: child })).toBeUndefined()
  })

  test('revokes the child if the personal token is rotated, even while the former value is valid', async () => {
    for (const overlap of [0, 3_600]) {
      const { parent, child } = await ofPersonal()
      await app.server.personalTokens.rotate(parent.id, { overlap })
      expect(await ping(app, child)).toBe(401)
      const again = await exchange(parent.accessToken)
      expect(again.status).toBe(overlap === 0 ? 401 : 200)
    }
  })

  test('revokes all children if the scopes of the personal token change', async () => {
    const { parent, child } = await ofPersonal()
    const { accessToken } = await app.server.personalTokens.rotate(parent.id, { overlap: 3_600 })
    const ofFormer = childOf(await exchange(parent.accessToken, { scope: 'notes:read' }))
    const ofCurrent = childOf(await exchange(accessToken, { scope: 'notes:read' }))
    const managed = await app.server.personalTokens.find(app.user.id, parent.id)
    if (!managed) throw new Error('The token does not exist.')
    await app.server.personalTokens.update(managed, { scopes: ['notes:write'] })
    for (const token of [child, ofFormer, ofCurrent]) expect(await ping(app, token)).toBe(401)
    for (const token of [parent.accessToken, accessToken]) {
      const { body } = await exchange(token)
      expect(body.scope).toBe('notes:write')
    }
  })

  test('does not revoke the child if only the name of the personal token changes', async () => {
    const { parent, child } = await ofPersonal()
    const managed = await app.server.personalTokens.find(app.user.id, parent.id)
    if (!managed) throw new Error('The token does not exist.')
    await app.server.personalTokens.update(managed, { name: 'Another' })
    expect(await ping(app, child)).toBe(200)
  })

  test('revokes the child if the access token is refreshed or revoked, also with revokeAccessTokenAlone', async () => {
    for (const revokeAccessTokenAlone of [false, true]) {
      await using other = await start({ revokeAccessTokenAlone })
      const client = await TestClient.register(other, new UserAgent())
      const first = await client.tokens()
      const childOne = childOf(await exchangeAs(client, first.access_token))
      const { body } = await client.refresh(first.refresh_token)
      expect(await ping(other, childOne)).toBe(401)
      const childTwo = childOf(await exchangeAs(client, body.access_token))
      expect(await ping(other, childTwo)).toBe(200)
      const about = { token: body.access_token }
      await postForm(`${other.issuer}/oauth/revoke`, about, basicOf(client))
      expect(await ping(other, childTwo)).toBe(401)
      expect(refused(await exchangeAs(client, body.access_token))).toBe('400 invalid_request')
    }
  })

  test('rejects the child if its client is deleted, or its user is deleted or inactive', async () => {
    const { server } = app
    const user = await server.users.create({ email: 'user-d@example.org', password: null })
    const parent = await server.tokens.createPersonal('Test', user.id, {})
    const child = childOf(await exchange(parent.accessToken))
    await server.users.setActive(user.id, false)
    expect(await ping(app, child)).toBe(401)
    await server.users.setActive(user.id, true)
    expect(await ping(app, child)).toBe(200)
    await server.users.delete(user.id)
    expect(await ping(app, child)).toBe(401)

    const client = await TestClient.register(app, agent)
    const { access_token } = await client.tokens()
    const own = childOf(await exchangeAs(client, access_token))
    await server.clients.delete(client.clientId)
    expect(await ping(app, own)).toBe(401)
    const ids =
      'select id from oauth2server_token where parent_id not in (select id from oauth2server_token)'
    expect(await app.query(ids)).toEqual([])
  })

  test('deletes an expired child, but not its parent', async () => {
    await using other = await start()
    const token = await other.personalToken()
    const child = childOf(await exchange(token, { expires_in: '60' }, other))
    other.advance(61)
    await other.server.sweep()
    expect(await other.server.tokens.find({ accessToken: child })).toBeUndefined()
    expect(await ping(other, token)).toBe(200)
    expect((await exchange(token, {}, other)).status).toBe(200)
  })
})

test('does not list a child as a personal token, and counts it neither as a device nor as a user of the client', async () => {
  await using other = await start()
  const { tokens, personalTokens, clients, authorizedApplications } = other.server
  const personal = await tokens.createPersonal('Test', other.user.id)
  childOf(await exchange(personal.accessToken, {}, other))
  const part = { after: null, limit: 10 }
  const listed = await personalTokens.listByUser(other.user.id, part)
  expect(listed.items.map(({ token }) => token.id)).toEqual([personal.id])
  expect(await tokens.personalNamed(other.user.id, 'Test')).toEqual([personal.id])

  const client = await TestClient.register(other, new UserAgent())
  const { access_token } = await client.tokens()
  childOf(await exchangeAs(client, access_token))
  const [application] = (await authorizedApplications.listByUser(other.user.id, part)).items
  expect(application?.deviceCount).toBe(1)
  expect(await (await clients.find(client.clientId))?.getUsers()).toBe(1)
})

test('does not find or rotate a child as a personal token', async () => {
  const personal = await app.server.tokens.createPersonal('Test', app.user.id)
  const child = await app.server.tokens.find({
    accessToken: childOf(await exchange(personal.accessToken)),
  })
  const id = child?.token.id ?? 0
  expect(await app.server.personalTokens.find(app.user.id, id)).toBeUndefined()
  await expect(app.server.personalTokens.rotate(id)).rejects.toThrow('There is no such token.')
})

/** Pauses a server before or after a store operation until the test releases it. */
const newBrake = () => {
  let at: string | undefined
  let reached = () => {}
  let goOn: Promise<void> = Promise.resolve()
  const around: AroundStore = async ({ name }, run) => {
    const stop = async () => {
      at = undefined
      reached()
      await goOn
    }
    if (at === `before ${name}`) await stop()
    const result = await run()
    if (at === `after ${name}`) await stop()
    return result
  }
  return {
    around,
    arm(where: string) {
      at = where
      const paused = new Promise<void>((resolve) => {
        reached = resolve
      })
      let release = () => {}
      goOn = new Promise((resolve) => {
        release = () => {
          at = undefined
          resolve()
        }
      })
      return { paused, release: () => release() }
    },
  }
}

interface Pair {
  readonly slow: AuthorizationServer
  readonly fast: AuthorizationServer
  readonly brake: ReturnType<typeof newBrake>
  close(): Promise<void>
}

const inSqlite = async (): Promise<Pair> => {
  const place = await start()
  const brake = newBrake()
  const slow = await start({ beside: place, issuer: place.issuer, aroundStore: brake.around })
  return {
    slow: slow.server,
    fast: place.server,
    brake,
    async close() {
      await slow.close()
      await place.close()
    },
  }
}

const inPostgres = async (): Promise<Pair> => {
  const database = await makeDatabase()
  const brake = newBrake()
  const open = (aroundStore?: AroundStore) =>
    createAuthorizationServer({
      issuer: 'http://localhost:8080',
      secretKeys: [secretKey],
      store: postgres(database.url, { poolSize: 5 }),
      scopes: testScopes,
      sweepInterval: 0,
      log: () => undefined,
      ...withExchange,
      ...(aroundStore && { aroundStore }),
    })
  const fast = await open()
  const slow = await open(brake.around)
  return {
    slow,
    fast,
    brake,
    async close() {
      await slow.close()
      await fast.close()
      await database.drop()
    },
  }
}

const withoutPostgres = await lacks('postgres')

describe.each([
  ['SQLite', inSqlite, false],
  ['PostgreSQL', inPostgres, withoutPostgres],
] as const)(
  'exchange of a token that is revoked or changed concurrently, in %s',
  (_name, make, isMissing) => {
    let pair: Pair
    let users = 0
    const newUser = (): Promise<User> => {
      users += 1
      return pair.fast.users.create({ email: `racer-${users}@example.org`, password: null })
    }
    beforeAll(async () => {
      if (!isMissing) pair = await make()
    })
    afterAll(() => pair?.close())

    const scopes = ['notes:read', 'notes:write']
    const ways = {
      'is revoked': async ({ parentId }: Parent) => {
        const token = await pair.fast.tokens.get(parentId)
        if (token) await pair.fast.tokens.revoke(token)
      },
      'is rotated': async ({ parentId }: Parent) => {
        await pair.fast.personalTokens.rotate(parentId)
      },
      'is rotated with an overlap': async ({ parentId }: Parent) => {
        await pair.fast.personalTokens.rotate(parentId, { overlap: 3_600 })
      },
      'is limited to fewer scopes': async ({ parentId, user }: Parent) => {
        const managed = await pair.fast.personalTokens.find(user.id, parentId)
        if (managed) await pair.fast.personalTokens.update(managed, { scopes: ['notes:read'] })
      },
      'is deleted with its user': async ({ user }: Parent) => {
        await pair.fast.users.delete(user.id)
      },
    }
    interface Parent {
      readonly parentId: number
      readonly user: User
    }

    const race = async (
      where: string,
      make: () => Promise<IssuedToken>,
      end: () => Promise<unknown>,
      // Deleting a user locks many rows, so a deadlock may cause StoreUnavailable.
      { mayCollide = false } = {},
    ): Promise<IssuedToken | undefined> => {
      const { paused, release } = pair.brake.arm(where)
      const making = make()
      await Promise.race([paused, making.catch(() => undefined)])
      const ending = end()
      // Fixed time: the end may wait for the exchange.
      await Promise.race([ending.catch(() => undefined), delay(100)])
      release()
      const [made, ended] = await Promise.allSettled([making, ending])
      for (const result of [made, ended]) {
        if (result.status === 'fulfilled') continue
        if (!mayCollide) expect(result.reason).not.toBeInstanceOf(StoreUnavailable)
      }
      if (ended.status === 'rejected') {
        expect(ended.reason).toBeInstanceOf(StoreUnavailable)
        await end()
      }
      return made.status === 'fulfilled' ? made.value : undefined
    }

    const moments = [
      'before transaction',
      'after clients.find',
      'after tokens.hold',
      'after tokens.insert',
      'after transaction',
    ]

    test
      .skipIf(isMissing)
      .each(Object.keys(ways).flatMap((way) => moments.map((where) => [way, where] as const)))(
      'accepts no child if its personal token %s while the exchange pauses %s',
      async (way, where) => {
        const user = await newUser()
        const personal = await pair.fast.tokens.createPersonal('Test', user.id, { scopes })
        const parent = await pair.slow.tokens.find({ accessToken: personal.accessToken })
        const client = await pair.slow.clients.find(personal.clientId)
        if (!parent || !client) throw new Error('The parent token does not exist.')
        const made = await race(
          where,
          async () =>
            pair.slow.tokens.issue({ type: 'narrowing', client, parent, scopes, expiresIn: 60 }),
          () => ways[way as keyof typeof ways]({ parentId: personal.id, user }),
          { mayCollide: way === 'is deleted with its user' },
        )
        const remaining = made && (await pair.fast.tokens.find({ accessToken: made.accessToken }))
        expect(remaining).toBeUndefined()
      },
    )

    test
      .skipIf(isMissing)
      .each(
        moments.flatMap((where) => [
          ['is refreshed', where] as const,
          ['is revoked', where] as const,
        ]),
      )(
      'accepts no child if its access token %s while the exchange pauses %s',
      async (way, where) => {
        const user = await newUser()
        const { client } = await pair.fast.clients.create({ name: 'Client', userId: user.id })
        const issued = await pair.fast.tokens.issue({
          type: 'user',
          client,
          subject: user,
          scopes,
          refreshable: true,
        })
        const parent = await pair.slow.tokens.find({ accessToken: issued.accessToken })
        const refreshToken = issued.refreshToken ?? ''
        const found = await pair.fast.tokens.find({ refreshToken })
        if (!parent || !found) throw new Error('The parent token does not exist.')
        const made = await race(
          where,
          async () =>
            pair.slow.tokens.issue({ type: 'narrowing', client, parent, scopes, expiresIn: 60 }),
          () =>
            way === 'is revoked'
              ? pair.fast.tokens.revoke(issued.token)
              : pair.fast.tokens.issue({
                  type: 'refresh',
                  client,
                  presented: refreshToken,
                  parameters: '',
                  current: { found, scopes },
                }),
        )
        const remaining = made && (await pair.fast.tokens.find({ accessToken: made.accessToken }))
        expect(remaining).toBeUndefined()
      },
    )
  },
)

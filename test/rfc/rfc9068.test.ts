import {
  createRemoteJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  generateKeyPair,
  jwtVerify,
  SignJWT,
} from 'jose'
import { StoreUnavailable } from 'svc-oauth2server'
import { rest } from 'svc-oauth2server/fetch'
import { actAs, createTestServer } from 'svc-oauth2server/testing'
import { describe, expect, test } from 'vitest'
import { SigningKeys } from '../../src/records/keys/signing-keys.ts'
import { execute } from '../support/database.ts'
import { basicOf, postForm } from '../support/form.ts'
import { startServer, type TestOptions, type TestServer } from '../support/server.ts'
import { clientOf } from '../support/tokens.ts'
import { ping, TestClient, UserAgent } from '../support/user-agent.ts'

const files = 'https://files.example'
const mail = 'https://mail.example'
const hour = 3_600
const day = 86_400

const start = (options: TestOptions = {}): Promise<TestServer> =>
  startServer({ accessTokenFormat: 'jwt', ...options })

const machine = { grant_type: 'client_credentials' }

/** Returns a new client_credentials token. */
const machineToken = async (client: TestClient): Promise<string> =>
  (await client.token(machine)).body.access_token

const kidOf = (token: string): string => decodeProtectedHeader(token).kid ?? ''

interface PublishedKey {
  readonly kid: string
  readonly alg: string
  readonly [member: string]: string
}

const publishedBy = async ({ issuer }: Pick<TestServer, 'issuer'>) => {
  const response = await fetch(`${issuer}/oauth/jwks`)
  const { keys } = (await response.json()) as { readonly keys: readonly PublishedKey[] }
  return keys
}

const kidsOf = async (app: TestServer) => (await publishedBy(app)).map(({ kid }) => kid)

/** Verifies a token with the published keys, as another resource server does. */
const verified = (app: TestServer, token: string, audience = app.issuer, node = app) =>
  jwtVerify(token, createRemoteJWKSet(new URL(`${node.issuer}/oauth/jwks`)), {
    issuer: app.issuer,
    audience,
    typ: 'at+jwt',
    currentDate: new Date(app.now()),
  })

describe('RFC 9068 §2 the JWT access token', () => {
  test.each(['ES256', 'RS256', 'EdDSA'] as const)(
    '§2.1 signs the token with %s and the type at+jwt, so that the published keys verify it [T360]',
    async (signingAlgorithm) => {
      await using app = await start({ signingAlgorithm })
      const client = await TestClient.register(app, new UserAgent())
      const { access_token } = await client.tokens()
      const { protectedHeader } = await verified(app, access_token)
      expect(protectedHeader).toEqual({
        alg: signingAlgorithm,
        typ: 'at+jwt',
        kid: (await publishedBy(app))[0]?.kid,
      })
      expect(await ping(app, access_token)).toBe(200)
    },
  )

  test('§2.2 contains exactly the expected claims [T361]', async () => {
    await using app = await start()
    const client = await TestClient.register(app, new UserAgent())
    const [one, other] = [await client.tokens(), await client.tokens()]
    const now = Math.floor(app.now() / 1000)
    expect(decodeJwt(one.access_token)).toEqual({
      iss: app.issuer,
      exp: now + 3_600,
      aud: app.issuer,
      sub: String(app.user.id),
      client_id: client.clientId,
      iat: now,
      jti: expect.stringMatching(/^[A-Za-z0-9]{43}$/),
      scope: 'notes:read',
    })
    expect(one.expires_in).toBe(3_600)
    expect(decodeJwt(other.access_token).jti).not.toBe(decodeJwt(one.access_token).jti)
    // The server does not accept the jti as a token.
    expect(await ping(app, String(decodeJwt(one.access_token).jti))).toBe(401)
  })

  test('§2.2 issues client_credentials tokens with the owner of the client as sub, or the client if there is no owner [T362]', async () => {
    await using app = await start()
    const agent = new UserAgent()
    const owned = await TestClient.register(app, agent)
    expect(decodeJwt(await machineToken(owned)).sub).toBe(String(app.user.id))
    const ownerless = await TestClient.register(app, agent, { userId: null })
    const claims = decodeJwt(await machineToken(ownerless))
    expect(claims.sub).toBe(ownerless.clientId)
    expect(claims).not.toHaveProperty('scope')
  })

  test('§3, RFC 9449 §6.1 contains the resources as aud, and the key thumbprint as cnf [T364]', async () => {
    await using app = await start()
    const client = await clientOf(app, (await app.client()).clientId)
    const issue = async (more: { resources: readonly string[]; keyThumbprint?: string }) => {
      const redemption = { type: 'client', client, subject: app.user, scopes: [], ...more } as const
      return (await app.server.tokens.issue(redemption)).accessToken
    }
    const one = await issue({ resources: [files] })
    expect(decodeJwt(one)).toMatchObject({ aud: files })
    await verified(app, one, files)
    await expect(verified(app, one)).rejects.toThrow('"aud"')
    const two = await issue({ resources: [files, mail], keyThumbprint: 'x'.repeat(43) })
    expect(decodeJwt(two)).toMatchObject({ aud: [files, mail], cnf: { jkt: 'x'.repeat(43) } })
  })

  test('§2 issues JWTs for all grants, but opaque personal tokens', async () => {
    await using app = await start()
    const client = await TestClient.register(app, new UserAgent())
    const { access_token, refresh_token } = await client.tokens()
    const { body } = await client.refresh(refresh_token)
    const implicit = await client.ask({ response_type: 'token' })
    const fragment = new URLSearchParams(implicit.hash.slice(1)).get('access_token') ?? ''
    for (const token of [access_token, body.access_token, fragment, await machineToken(client)])
      await verified(app, token)
    expect(refresh_token).toMatch(/^[A-Za-z0-9]{43}$/)
    const personal = await app.personalToken()
    expect(personal).not.toContain('.')
    expect(await ping(app, personal)).toBe(200)
  })

  test('decision §5.4 returns the same JWT for a repeated refresh within the leeway', async () => {
    await using app = await start()
    const client = await TestClient.register(app, new UserAgent())
    const { refresh_token } = await client.tokens()
    const [one, other] = await Promise.all([
      client.refresh(refresh_token),
      client.refresh(refresh_token),
    ])
    const again = await client.refresh(refresh_token)
    expect(other.body.access_token).toBe(one.body.access_token)
    expect(again.body.access_token).toBe(one.body.access_token)
    expect(await ping(app, again.body.access_token)).toBe(200)
  })

  test('issues a JWT with fewer scopes and an earlier exp if saveToken of the host reduces them [T363]', async () => {
    const seen: string[] = []
    await using app = await start({
      saveToken: (data, _request, next) => {
        seen.push(data.accessToken)
        const expires = (data.fields.expires ?? 0) - 600_000
        return next({ ...data, fields: { ...data.fields, scopes: ['notes:read'], expires } })
      },
    })
    const client = await TestClient.register(app, new UserAgent())
    const body = await client.tokens({ scope: 'notes:read notes:write' })
    const claims = decodeJwt(body.access_token)
    expect(claims).toMatchObject({ scope: 'notes:read', exp: app.now() / 1000 + 3_000 })
    expect(body).toMatchObject({ scope: 'notes:read', expires_in: 3_000 })
    expect(decodeJwt(seen[0] ?? '')).toMatchObject({ scope: 'notes:read notes:write' })
    expect(await ping(app, body.access_token)).toBe(200)
    expect(await ping(app, seen[0] ?? '')).toBe(401)
    const { body: refreshed } = await client.refresh(body.refresh_token)
    expect(decodeJwt(refreshed.access_token)).toMatchObject({ scope: 'notes:read' })
    expect(await ping(app, refreshed.access_token)).toBe(200)
  })

  test('issues the same JWT that saveToken of the host received if the host does not change the token', async () => {
    const seen: string[] = []
    await using app = await start({
      saveToken: (data, _request, next) => {
        seen.push(data.accessToken)
        return next(data)
      },
    })
    const client = await TestClient.register(app, new UserAgent())
    expect(await machineToken(client)).toBe(seen[0])
  })

  test('issues a valid JWT in a transaction of the host, and stores no key if the host rolls back', async () => {
    await using app = await start()
    const client = await clientOf(app, (await app.client()).clientId)
    const redemption = { type: 'client', client, subject: app.user, scopes: [] } as const
    const undone = app.server.transaction(async (tx) => {
      await tx.tokens.issue(redemption)
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    const { accessToken } = await app.server.transaction((tx) => tx.tokens.issue(redemption))
    await verified(app, accessToken)
    const after = await app.server.tokens.issue(redemption)
    await verified(app, after.accessToken)
    const stored = await app.query('select id from oauth2server_signing_key')
    expect(stored).toEqual([{ id: kidOf(accessToken) }])
    expect(kidOf(after.accessToken)).toBe(kidOf(accessToken))
  })
})

test('RFC 9068 §5 refuses to start if two resources have the same identifier [T370]', async () => {
  const twice = start({ resources: [{ resource: files }, { resource: files }] })
  await expect(twice).rejects.toThrow('two resources have the same identifier')
})

describe('RFC 9068 §4 token validation by this server', () => {
  test('§4 rejects a forged or changed token [T271]', async () => {
    await using app = await start()
    const client = await TestClient.register(app, new UserAgent())
    const token = await machineToken(client)
    const [header = '', payload = '', signature = ''] = token.split('.')
    const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url')
    const claims = { ...decodeJwt(token), scope: 'notes:read notes:write' }
    const more = Buffer.from(JSON.stringify(claims)).toString('base64url')
    const forged = [
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      `${header}.${more}.${signature}`,
      `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
      `${header}.${payload}`,
      `${token}.`,
    ]
    for (const value of forged) expect(await ping(app, value)).toBe(401)
    expect(await ping(app, token)).toBe(200)
  })

  test('§4 rejects a token of another issuer, or with a signature of another key [T367]', async () => {
    await using app = await start()
    await using other = await start()
    const client = await TestClient.register(app, new UserAgent())
    const foreign = await TestClient.register(other, new UserAgent())
    expect(await ping(app, await machineToken(foreign))).toBe(401)
    const token = await machineToken(client)
    const { privateKey } = await generateKeyPair('ES256')
    const { kid = '' } = decodeProtectedHeader(token)
    for (const typ of ['at+jwt', 'application/at+jwt', 'AT+JWT', 'JWT']) {
      const forged = await new SignJWT(decodeJwt(token))
        .setProtectedHeader({ alg: 'ES256', typ, kid })
        .sign(privateKey)
      expect(await ping(app, forged)).toBe(401)
    }
  })

  test('§4 rejects a token for another resource, and with requireAudience also a token for the whole server [T368]', async () => {
    const resources = [{ resource: files }, { resource: mail }]
    const server = await createTestServer({ accessTokenFormat: 'jwt', resources })
    const { user } = await actAs(server)
    const { client } = await server.clients.create({ name: 'C', userId: user.id })
    const subject = (await server.users.find(user.id)) ?? null
    const isLetIn = async (asked: readonly string[], guard: Parameters<typeof rest>[3]) => {
      const redemption = { type: 'client', client, subject, scopes: [], resources: asked } as const
      const { accessToken } = await server.tokens.issue(redemption)
      const headers = { authorization: `Bearer ${accessToken}` }
      const refusal = await rest(server, new Request(files, { headers }), {}, guard)
      return [decodeJwt(accessToken).aud, refusal === undefined]
    }
    const whole = server.issuer
    for (const asked of [[], [whole]]) {
      expect(await isLetIn(asked, {})).toEqual([whole, true])
      expect(await isLetIn(asked, { requireAudience: true })).toEqual([whole, true])
      expect(await isLetIn(asked, { resource: files })).toEqual([whole, true])
      const exactly = { resource: files, requireAudience: true }
      expect(await isLetIn(asked, exactly)).toEqual([whole, false])
    }
    for (const requireAudience of [false, true]) {
      const there = { resource: files, requireAudience }
      expect(await isLetIn([files], there)).toEqual([files, true])
      expect(await isLetIn([mail], there)).toEqual([mail, false])
      expect(await isLetIn([files], { requireAudience })).toEqual([files, false])
    }
    await server.close()
  })

  test('§4 immediately rejects expired tokens, revoked tokens, and tokens of inactive users [T369]', async () => {
    await using app = await start()
    const client = await TestClient.register(app, new UserAgent())
    const token = await machineToken(client)
    await app.server.users.setActive(app.user.id, false)
    expect(await ping(app, token)).toBe(401)
    await app.server.users.setActive(app.user.id, true)
    expect(await ping(app, token)).toBe(200)
    const other = await machineToken(client)
    await postForm(`${app.issuer}/oauth/revoke`, { token: other }, basicOf(client))
    expect(await ping(app, other)).toBe(401)
    app.advance(3_600)
    const response = await fetch(`${app.issuer}/oauth/ping`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
    await expect(verified(app, token)).rejects.toThrow('"exp"')
  })

  test('§5 does not store or log an access token', async () => {
    await using app = await start()
    const client = await TestClient.register(app, new UserAgent())
    const { access_token } = await client.tokens()
    const rows = await app.query('select * from oauth2server_token')
    expect(JSON.stringify([rows, app.log])).not.toContain(access_token.split('.')[2])
  })
})

describe('RFC 9068 §4 the published keys', () => {
  test('RFC 8414 §2 publishes only public keys, and permits caching and cross-origin requests [T365]', async () => {
    await using app = await start()
    const metadata = (await (
      await fetch(`${app.issuer}/.well-known/oauth-authorization-server`)
    ).json()) as Record<string, unknown>
    expect(metadata.jwks_uri).toBe(`${app.issuer}/oauth/jwks`)
    const response = await fetch(`${app.issuer}/oauth/jwks`, {
      headers: { origin: 'https://app.example' },
    })
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    expect(await response.json()).toEqual({
      keys: [
        {
          kty: 'EC',
          crv: 'P-256',
          x: expect.any(String),
          y: expect.any(String),
          kid: expect.stringMatching(/^[\w-]{43}$/),
          alg: 'ES256',
          use: 'sig',
        },
      ],
    })
  })

  test('RFC 8414 §2 publishes no keys and no jwks_uri if tokens are opaque', async () => {
    await using app = await startServer()
    const metadata = (await (
      await fetch(`${app.issuer}/.well-known/oauth-authorization-server`)
    ).json()) as Record<string, unknown>
    expect(metadata).not.toHaveProperty('jwks_uri')
    expect((await fetch(`${app.issuer}/oauth/jwks`)).status).toBe(404)
  })

  test('publishes a key before the first token is issued', async () => {
    await using app = await start()
    const [kid] = await kidsOf(app)
    const client = await TestClient.register(app, new UserAgent())
    expect(kidOf(await machineToken(client))).toBe(kid)
  })

  test('stores the private part of a key only in sealed form', async () => {
    await using app = await start()
    await publishedBy(app)
    const rows = await app.query('select * from oauth2server_signing_key')
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain('"d"')
    expect(rows[0]?.private_key).toMatch(/^[0-9a-f]{8}\./)
  })
})

describe('the rotation of signing keys', () => {
  test('publishes a new key an hour before its use, and the former key until its tokens expire', async () => {
    await using app = await start({ signingKeyExpiresIn: 10 * day })
    const client = await TestClient.register(app, new UserAgent())
    const [first = ''] = await kidsOf(app)
    app.advance(10 * day - 60)
    expect(kidOf(await machineToken(client))).toBe(first)
    expect(await kidsOf(app)).toEqual([first])

    app.advance(60)
    const [second = '', ...others] = await kidsOf(app)
    expect(others).toEqual([first])
    expect(kidOf(await machineToken(client))).toBe(first)
    app.advance(hour - 1)
    const last = await machineToken(client)
    expect(kidOf(last)).toBe(first)
    app.advance(1)
    expect(kidOf(await machineToken(client))).toBe(second)

    app.advance(hour - 2)
    await app.server.sweep()
    await verified(app, last)
    expect(await ping(app, last)).toBe(200)
    app.advance(2 * day)
    await app.server.sweep()
    app.advance(60)
    expect(await kidsOf(app)).toEqual([second])
    expect(kidOf(await machineToken(client))).toBe(second)
  })

  test('retains a key until its last long-lived token expires', async () => {
    await using app = await start({ signingKeyExpiresIn: day, tokenExpiresIn: 30 * day })
    const client = await TestClient.register(app, new UserAgent())
    await machineToken(client)
    app.advance(day)
    await kidsOf(app)
    app.advance(hour - 1)
    const last = await machineToken(client)
    for (let days = 1; days < 30; days += 1) {
      app.advance(day)
      await app.server.sweep()
    }
    await verified(app, last)
    app.advance(2 * day)
    expect(await app.server.sweep()).toBeGreaterThan(0)
    app.advance(60)
    expect(await kidsOf(app)).not.toContain(kidOf(last))
  })

  test('immediately signs with a key of the configured algorithm, and publishes the keys of both algorithms', async () => {
    await using app = await start()
    const client = await TestClient.register(app, new UserAgent())
    const before = await machineToken(client)
    app.advance(1)
    await using other = await start({ beside: app, issuer: app.issuer, signingAlgorithm: 'RS256' })
    const { accessToken } = await other.server.tokens.issue({
      type: 'client',
      client: await clientOf(other, client.clientId),
      subject: app.user,
      scopes: [],
    })
    expect(decodeProtectedHeader(accessToken).alg).toBe('RS256')
    app.advance(60)
    const published = await publishedBy(app)
    expect(published.map(({ alg }) => alg).sort()).toEqual(['ES256', 'RS256'])
    await verified(app, before)
    await verified(app, accessToken)

    // The sweeper of a node that still signs with the old algorithm does not delete the old key.
    app.advance(3 * day)
    await app.server.sweep()
    expect(kidOf(await machineToken(client))).toBe(kidOf(before))
    await other.server.sweep()
    app.advance(60)
    expect((await publishedBy(other)).map(({ alg }) => alg)).toEqual(['RS256'])
  })

  test('creates only one key if several nodes start concurrently', async () => {
    await using app = await start()
    await using second = await start({ beside: app, issuer: app.issuer })
    await using third = await start({ beside: app, issuer: app.issuer })
    const nodes = [app, second, third]
    const sets = await Promise.all([...nodes, ...nodes].map(kidsOf))
    expect(new Set(sets.flat()).size).toBe(1)
    expect(sets.map((set) => set.length)).toEqual(Array(6).fill(1))
    expect(await app.query('select id from oauth2server_signing_key')).toHaveLength(1)
    app.advance(90 * day)
    await Promise.all([...nodes, ...nodes].map(kidsOf))
    app.advance(31)
    const later = await Promise.all(nodes.map(kidsOf))
    expect(later[0]).toHaveLength(2)
    expect(later[1]).toEqual(later[0])
    expect(later[2]).toEqual(later[0])
  })

  test('publishes a key of another node within half a minute', async () => {
    await using app = await start({ signingKeyExpiresIn: day })
    await using other = await start({
      beside: app,
      issuer: app.issuer,
      signingKeyExpiresIn: day,
    })
    await kidsOf(other)
    await kidsOf(app)
    app.advance(day)
    const made = await kidsOf(other)
    expect(made).toHaveLength(2)
    app.advance(30)
    expect(await kidsOf(app)).toEqual(made)
  })

  test('uses keys that another node created concurrently', async () => {
    await using app = await start()
    let slow = true
    await using other = await start({
      beside: app,
      issuer: app.issuer,
      aroundStore: async ({ name }, run) => {
        // Let the other node create its key before this transaction begins, because SQLite allows only one writer.
        if (name === 'transaction' && slow) {
          slow = false
          await kidsOf(app)
        }
        return run()
      },
    })
    expect(await kidsOf(other)).toEqual(await kidsOf(app))
    expect(await app.query('select id from oauth2server_signing_key')).toHaveLength(1)
  })

  test('does not publish or use a key whose row was changed, and creates another key [T371]', async () => {
    await using app = await start()
    const client = await TestClient.register(app, new UserAgent())
    const before = await machineToken(client)
    const published = await publishedBy(app)
    const { kid: _kid, alg: _alg, use: _use, ...key } = published[0] ?? { kid: '', alg: '' }
    const forged = JSON.stringify({ ...key, x: key.y, y: key.x })
    execute(app.database, `update oauth2server_signing_key set public_key = '${forged}'`)
    app.advance(31)
    const after = await machineToken(client)
    expect(await publishedBy(app)).toHaveLength(1)
    expect(kidOf(after)).not.toBe(kidOf(before))
    await verified(app, after)
    await expect(verified(app, before)).rejects.toThrow()
    expect(app.log.map(({ event }) => event)).toContain('signing_key.tampered')
  })

  test('reseals the signing key when the secret keys are rotated', async () => {
    const next = 'the next secret key, of more than 32 bytes'
    await using app = await start()
    const client = await TestClient.register(app, new UserAgent())
    const token = await machineToken(client)
    await using both = await start({
      beside: app,
      issuer: app.issuer,
      secretKeys: [next, 'a test secret key of more than 32 bytes'],
    })
    const under = async () =>
      (await app.query('select private_key from oauth2server_signing_key'))[0]
    const before = await under()
    expect((await both.server.rotateSecretKeys()).isComplete).toBe(true)
    expect(await under()).not.toEqual(before)
    await using alone = await start({ beside: app, issuer: app.issuer, secretKeys: [next] })
    const again = await alone.server.tokens.issue({
      type: 'client',
      client: await clientOf(alone, client.clientId),
      subject: app.user,
      scopes: [],
    })
    expect(kidOf(again.accessToken)).toBe(kidOf(token))
    await verified(app, again.accessToken, app.issuer, alone)
  })

  test('returns 503 without consuming the code while the store cannot return the keys', async () => {
    let isFailing = false
    await using app = await start({
      aroundStore: ({ name }, run) => {
        if (isFailing && name.startsWith('signingKeys.')) throw new StoreUnavailable('gone')
        return run()
      },
    })
    const client = await TestClient.register(app, new UserAgent())
    const code = await client.code()
    isFailing = true
    expect((await client.redeem(code)).status).toBe(503)
    expect((await fetch(`${app.issuer}/oauth/jwks`)).status).toBe(503)
    isFailing = false
    expect((await client.redeem(code)).status).toBe(200)
  })

  test('throws an error if the store refuses every new key', async () => {
    const rows = async () => []
    const signingKeys = { select: rows, insert: async () => false, delete: async () => undefined }
    const { KeyRing } = await import('../../src/crypto/sealed.ts')
    const keys = new SigningKeys({
      store: { signingKeys, transaction: (work: (tx: object) => unknown) => work({ signingKeys }) },
      settings: { signingAlgorithm: 'ES256', signingKeyExpiresIn: day } as never,
      keys: new KeyRing(['a test secret key of more than 32 bytes']),
      clock: () => 0,
      log: () => undefined,
    } as never)
    await expect(keys.published()).rejects.toThrow('No signing key could be created')
  })
})

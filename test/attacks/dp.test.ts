import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  askToken,
  type Changed,
  type DpopKey,
  newKey,
  type ProofFor,
  proofBy,
  redeem,
  refresh,
  withKey,
} from '../support/dpop.ts'
import { basicOf } from '../support/form.ts'
import { push, pushed, referenceUrl } from '../support/pushed-request.ts'
import { rawHttp } from '../support/raw-http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { type LoggedIn, logIn } from '../support/session.ts'
import { ping, refusal, responseTo, TestClient, UserAgent } from '../support/user-agent.ts'
import { type AttackServer, startAttackServer } from './support/attack-server.ts'

const machine = { grant_type: 'client_credentials' }
const asPublic = { isPublic: true }

let it: AttackServer
let app: TestServer
let person: LoggedIn
let conf: TestClient
let pub: TestClient
let key: DpopKey
let other: DpopKey
beforeAll(async () => {
  it = await startAttackServer()
  app = it.server
  person = await logIn(app)
  conf = await TestClient.register(app, person.agent, { defaultScopes: ['notes:read'] })
  pub = await TestClient.register(app, person.agent, { isConfidential: false })
  key = await newKey()
  other = await newKey()
})
afterAll(() => it?.close())

const boundToken = async (): Promise<string> => {
  const { status, body } = await askToken(conf, machine, { dpop: key })
  expect([status, body.token_type]).toEqual([200, 'DPoP'])
  return body.access_token
}

/** Expects a DPoP challenge, and returns the status and the error of the response. */
const challenged = async (response: Response): Promise<string> => {
  const challenge = response.headers.get('www-authenticate') ?? ''
  expect(challenge).toMatch(/^DPoP /)
  expect(challenge).toMatch(/algs="[^"]*\bES256\b/)
  await response.body?.cancel()
  return `${response.status} ${/error="([^"]*)"/.exec(challenge)?.[1]}`
}

describe('DP-01 Validation of proofs', () => {
  type Make = (at: ProofFor) => Promise<string> | string
  const changed =
    (change: (at: ProofFor) => Changed): Make =>
    (at) =>
      proofBy(key, at, change(at))
  const seconds = () => Math.floor(app.now() / 1000)
  const claims = (given: Changed['claims']): Make => changed(() => ({ claims: given ?? {} }))
  const header = (given: Changed['header']): Make => changed(() => ({ header: given ?? {} }))
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

  const bad: Record<string, Make> = {
    'the value x, which is not a JWT': () => 'x',
    'two parts instead of three': () => 'e30.e30',
    'a missing typ': header({ typ: undefined }),
    'the typ of an access token': header({ typ: 'at+jwt' }),
    'a missing jwk': header({ jwk: undefined }),
    'a jwk with the private key': changed(() => ({ header: { jwk: key.privateJwk } })),
    'the jwk of another key': changed(() => ({ header: { jwk: other.publicJwk } })),
    'alg none': (at) =>
      `${part({ typ: 'dpop+jwt', alg: 'none', jwk: key.publicJwk })}.${part({ jti: 'x', htm: at.method, htu: `${at.app.issuer}${at.path}`, iat: seconds() })}.`,
    'alg HS256 with the public key as secret': (at) => {
      const input = `${part({ typ: 'dpop+jwt', alg: 'HS256', jwk: key.publicJwk })}.${part({ jti: 'x', htm: at.method, htu: `${at.app.issuer}${at.path}`, iat: seconds() })}`
      const secret = JSON.stringify(key.publicJwk)
      return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
    },
    'a bad signature': async (at) => {
      const [one, two] = [await proofBy(key, at), await proofBy(key, at)]
      return `${one.split('.').slice(0, 2).join('.')}.${two.split('.')[2]}`
    },
    'a missing jti': claims({ jti: undefined }),
    'a missing htm': claims({ htm: undefined }),
    'the htm of another method': claims({ htm: 'PATCH' }),
    'a missing htu': claims({ htu: undefined }),
    'the htu of another path': changed((at) => ({
      claims: { htu: `${at.app.issuer}/oauth/other` },
    })),
    'the htu of another host': changed((at) => ({
      claims: { htu: `https://evil.example${at.path}` },
    })),
    'a missing iat': claims({ iat: undefined }),
    'an iat of an hour ago': changed(() => ({ claims: { iat: seconds() - 3_600 } })),
    'an iat in an hour': changed(() => ({ claims: { iat: seconds() + 3_600 } })),
    'an exp of an hour ago': changed(() => ({ claims: { exp: seconds() - 3_600 } })),
    'an nbf in an hour': changed(() => ({ claims: { nbf: seconds() + 3_600 } })),
    'a critical header': header({ crit: ['x'], x: 1 }),
  }

  const good: Record<string, Make> = {
    'a query and a fragment in htu': changed((at) => ({
      claims: { htu: `${at.app.issuer}${at.path}?a=b#c` },
    })),
    'a scheme and a host in upper case': changed((at) => ({
      claims: { htu: `${at.app.issuer.toUpperCase()}${at.path}` },
    })),
    'an iat of 10 seconds ago': changed(() => ({ claims: { iat: seconds() - 10 } })),
    'an iat in 10 seconds': changed(() => ({ claims: { iat: seconds() + 10 } })),
    'unknown claims': claims({ sub: 'x', custom: { a: [1] } }),
    'a valid nbf and a valid exp': changed(() => ({
      claims: { nbf: seconds() - 1, exp: seconds() + 60 },
    })),
  }

  const atToken = (): ProofFor => ({ app, path: '/oauth/token', method: 'POST' })
  const atPing = (accessToken: string): ProofFor => ({
    app,
    path: '/oauth/ping',
    method: 'GET',
    accessToken,
  })
  const use = (accessToken: string, dpop: string, scheme = 'DPoP') =>
    fetch(`${app.issuer}/oauth/ping`, {
      headers: { authorization: `${scheme} ${accessToken}`, dpop },
    })

  test.each(Object.keys(bad))('rejects a proof with %s', async (name) => {
    const make = bad[name] ?? (() => '')
    expect(refusal(await askToken(conf, machine, { dpop: await make(atToken()) }))).toBe(
      '400 invalid_dpop_proof',
    )
    const accessToken = await boundToken()
    const response = await use(accessToken, await make(atPing(accessToken)))
    expect(await challenged(response)).toBe('401 invalid_dpop_proof')
    // A correct proof is accepted afterwards.
    expect((await withKey(key, accessToken, { app })).status).toBe(200)
  })

  test.each(Object.keys(good))('accepts a proof with %s', async (name) => {
    const make = good[name] ?? (() => '')
    expect((await askToken(conf, machine, { dpop: await make(atToken()) })).status).toBe(200)
    const accessToken = await boundToken()
    expect((await use(accessToken, await make(atPing(accessToken)))).status).toBe(200)
  })

  test.each<[string, Changed['claims']]>([
    ['a missing ath', { ath: undefined }],
    ['the ath of another token', { ath: 'x'.repeat(43) }],
    ['a number as ath', { ath: 1 }],
  ])('rejects a proof with %s at a resource', async (_what, wrong) => {
    const response = await withKey(key, await boundToken(), { app }, { claims: wrong ?? {} })
    expect(await challenged(response)).toBe('401 invalid_dpop_proof')
  })

  test('rejects a missing proof, a proof with another key, and the scheme Bearer', async () => {
    const accessToken = await boundToken()
    const headers = { authorization: `DPoP ${accessToken}` }
    const without = await fetch(`${app.issuer}/oauth/ping`, { headers })
    expect(await challenged(without)).toBe('401 invalid_dpop_proof')
    expect(await challenged(await withKey(other, accessToken, { app }))).toBe('401 invalid_token')
    const asBearer = await use(accessToken, await proofBy(key, atPing(accessToken)), 'Bearer')
    expect(asBearer.status).toBe(401)
    expect(asBearer.headers.get('www-authenticate')).toContain('error="invalid_token"')
  })

  test('rejects two DPoP headers, and accepts one header whose name has any case', async () => {
    const { authorization } = basicOf(conf)
    const ask = async (...proofs: readonly string[]) => {
      const answer = await rawHttp(app, {
        method: 'POST',
        target: '/oauth/token',
        headers: [
          `Authorization: ${authorization}`,
          'Content-Type: application/x-www-form-urlencoded',
          ...proofs,
        ],
        body: 'grant_type=client_credentials',
      })
      return `${answer.status} ${JSON.parse(answer.text).error ?? 'ok'}`
    }
    const proof = () => proofBy(key, atToken())
    expect(await ask(`DPoP: ${await proof()}`, `DPoP: ${await proof()}`)).toBe(
      '400 invalid_dpop_proof',
    )
    const same = await proof()
    expect(await ask(`DPoP: ${same}`, `DPoP: ${same}`)).toBe('400 invalid_dpop_proof')
    expect(await ask(`DPOP: ${await proof()}`)).toBe('200 ok')

    const accessToken = await boundToken()
    const guarded = async (...names: readonly string[]) => {
      const proofs = await Promise.all(names.map(() => proofBy(key, atPing(accessToken))))
      const { status } = await rawHttp(app, {
        target: '/oauth/ping',
        headers: [
          `Authorization: dpop ${accessToken}`,
          ...proofs.map((one, index) => `${names[index]}: ${one}`),
        ],
      })
      return status
    }
    expect(await guarded('DPoP', 'DPoP')).toBe(401)
    expect(await guarded('dpop', 'DPOP')).toBe(401)
    expect(await guarded('DPOP')).toBe(200)
  })

  test('consumes neither the code nor the proof of a rejected request', async () => {
    const code = await conf.code()
    const wrong = await proofBy(key, atToken(), { claims: { htm: 'GET' } })
    expect(refusal(await redeem(conf, code, { dpop: wrong }))).toBe('400 invalid_dpop_proof')
    const right = await proofBy(key, atToken())
    const elsewhere = { ...machine, scope: 'bogus' }
    expect(refusal(await askToken(conf, elsewhere, { dpop: right }))).toBe('400 invalid_scope')
    expect((await redeem(conf, code, { dpop: right })).body.token_type).toBe('DPoP')
  })
})

describe('DP-03 Bound tokens at resources', () => {
  test('returns the token type DPoP and the key at introspection', async () => {
    const accessToken = await boundToken()
    const response = await fetch(`${app.issuer}/oauth/introspect`, {
      method: 'POST',
      body: new URLSearchParams({ token: accessToken }),
      headers: basicOf(conf),
    })
    expect(await response.json()).toMatchObject({
      active: true,
      token_type: 'DPoP',
      cnf: { jkt: key.thumbprint },
    })
  })

  // /oauth/ping belongs to the server, /api/public allows anonymous callers, and /api/notes has several guards.
  test.each(['/oauth/ping', '/api/public', '/api/notes', '/api/me'])(
    'rejects a bound token at %s without the right key, even in a browser with a session',
    async (path) => {
      const { body } = await askToken(conf, { ...machine, scope: 'notes:read' }, { dpop: key })
      const accessToken = body.access_token
      const at = { app, path, method: 'GET', accessToken }
      const responses = [
        await fetch(`${app.issuer}${path}`, {
          headers: { authorization: `Bearer ${accessToken}` },
        }),
        await fetch(`${app.issuer}${path}`, {
          headers: { authorization: `Bearer ${accessToken}`, dpop: await proofBy(key, at) },
        }),
        await fetch(`${app.issuer}${path}?access_token=${accessToken}`),
        await fetch(`${app.issuer}${path}?access_token=${accessToken}`, {
          headers: { dpop: await proofBy(key, at) },
        }),
        await withKey(other, accessToken, { app, path }),
        await person.agent.fetch(`${app.issuer}${path}`, {
          headers: { authorization: `Bearer ${accessToken}` },
        }),
      ]
      for (const answer of responses) {
        expect(answer.status).toBe(401)
        expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
      }
      expect((await withKey(key, accessToken, { app, path })).status).toBe(200)
    },
  )

  test('rejects a bearer token in the scheme DPoP', async () => {
    const { body } = await askToken(conf, machine)
    expect(body.token_type).toBe('Bearer')
    for (const token of [body.access_token, await app.personalToken(['notes:read'])]) {
      expect(await challenged(await withKey(key, token, { app }))).toBe('401 invalid_token')
      expect(await ping(app, token)).toBe(200)
    }
  })
})

describe('DP-04 Binding of codes and refresh tokens', () => {
  const clients = () =>
    [
      [conf, {}],
      [pub, asPublic],
    ] as const

  test('rejects a code with another key or without a key, and does not consume the code', async () => {
    for (const [client, asking] of clients()) {
      const code = await client.code({ dpop_jkt: key.thumbprint })
      expect(refusal(await redeem(client, code, { ...asking, dpop: other }))).toBe(
        '400 invalid_grant',
      )
      expect(refusal(await redeem(client, code, asking))).toBe('400 invalid_dpop_proof')
      const { status, body } = await redeem(client, code, { ...asking, dpop: key })
      expect([status, body.token_type]).toEqual([200, 'DPoP'])
    }
  })

  test('binds a pushed request to the key of its DPoP header, which must match dpop_jkt', async () => {
    const byHeader = async (by: DpopKey, given: Record<string, string> = {}) =>
      push(conf, given, { headers: { dpop: await proofBy(by, { app, path: '/oauth/par' }) } })
    const mismatch = await byHeader(key, { dpop_jkt: other.thumbprint })
    expect(refusal(mismatch as never)).toBe('400 invalid_dpop_proof')

    const { body } = await byHeader(key)
    const url = referenceUrl(conf, String(body.request_uri))
    const { code = '' } = responseTo(conf, await person.agent.authorize(app, url))
    expect(refusal(await redeem(conf, code, { dpop: other }))).toBe('400 invalid_grant')
    expect(refusal(await redeem(conf, code))).toBe('400 invalid_dpop_proof')
    expect((await redeem(conf, code, { dpop: key })).status).toBe(200)

    const reference = await pushed(conf, { dpop_jkt: key.thumbprint })
    // A parameter in the browser cannot replace the key.
    const changed = referenceUrl(conf, reference, { dpop_jkt: other.thumbprint })
    const again = responseTo(conf, await person.agent.authorize(app, changed))
    expect(refusal(await redeem(conf, again.code ?? '', { dpop: other }))).toBe('400 invalid_grant')
    expect((await redeem(conf, again.code ?? '', { dpop: key })).status).toBe(200)
  })

  test('binds the refresh token of a public client to its key', async () => {
    const first = await redeem(pub, await pub.code(), { ...asPublic, dpop: key })
    const { refresh_token } = first.body
    expect(refusal(await refresh(pub, refresh_token, { ...asPublic, dpop: other }))).toBe(
      '400 invalid_grant',
    )
    expect(refusal(await refresh(pub, refresh_token, asPublic))).toBe('400 invalid_dpop_proof')
    const second = await refresh(pub, refresh_token, { ...asPublic, dpop: key })
    expect([second.status, second.body.token_type]).toEqual([200, 'DPoP'])
    const next = await refresh(pub, second.body.refresh_token, { ...asPublic, dpop: other })
    expect(refusal(next)).toBe('400 invalid_grant')
    expect((await withKey(key, second.body.access_token, { app })).status).toBe(200)
  })

  test('lets a confidential client replace its key, but not omit the proof', async () => {
    const { body } = await redeem(conf, await conf.code(), { dpop: key })
    expect(refusal(await refresh(conf, body.refresh_token))).toBe('400 invalid_dpop_proof')
    const second = await refresh(conf, body.refresh_token, { dpop: other })
    expect([second.status, second.body.token_type]).toEqual([200, 'DPoP'])
    expect((await withKey(other, second.body.access_token, { app })).status).toBe(200)
    expect((await withKey(key, second.body.access_token, { app })).status).toBe(401)
  })
})

describe('DP-05 Nonce', () => {
  let strict: AttackServer
  let client: TestClient
  beforeAll(async () => {
    strict = await startAttackServer({ requireDpopNonce: true })
    client = await TestClient.register(strict.server, new UserAgent(), {
      defaultScopes: ['notes:read'],
    })
  })
  afterAll(() => strict?.close())

  const ask = (nonce?: string, at = client) =>
    askToken(at, machine, { dpop: key, ...(nonce === undefined ? {} : { nonce }) })
  const nonceOf = ({ headers }: { headers: Headers }): string => {
    const nonce = headers.get('dpop-nonce') ?? ''
    expect(nonce).toMatch(/^[\x21\x23-\x5B\x5D-\x7E]+$/)
    return nonce
  }

  test('rejects a proof without a nonce, returns a nonce and does not consume the code', async () => {
    const code = await client.code()
    const first = await redeem(client, code, { dpop: key })
    expect(refusal(first)).toBe('400 use_dpop_nonce')
    const answer = await redeem(client, code, { dpop: key, nonce: nonceOf(first) })
    expect(answer.status).toBe(200)
    const { refresh_token } = answer.body
    expect(refusal(await refresh(client, refresh_token, { dpop: key }))).toBe('400 use_dpop_nonce')
    const nonce = nonceOf(answer)
    expect((await refresh(client, refresh_token, { dpop: key, nonce })).status).toBe(200)
  })

  test('rejects a proof without a nonce at a resource, and returns a nonce', async () => {
    const { body } = await ask(nonceOf(await ask()))
    const first = await withKey(key, body.access_token, { app: strict.server })
    const nonce = nonceOf(first)
    expect(await challenged(first)).toBe('401 use_dpop_nonce')
    const second = await withKey(key, body.access_token, { app: strict.server, nonce })
    expect(second.status).toBe(200)
  })

  test('requires a nonce for a pushed request', async () => {
    const at = { app: strict.server, path: '/oauth/par' }
    const first = await push(client, {}, { headers: { dpop: await proofBy(key, at) } })
    expect(refusal(first as never)).toBe('400 use_dpop_nonce')
    const dpop = await proofBy(key, { ...at, nonce: nonceOf(first) })
    expect((await push(client, {}, { headers: { dpop } })).status).toBe(201)
  })

  test('rejects an expired, forged or changed nonce', async () => {
    const nonce = nonceOf(await ask())
    const flipped = `${nonce.slice(0, -2)}${nonce.at(-2) === 'A' ? 'B' : 'A'}${nonce.at(-1)}`
    const forged = ['x', 'aaaaaaaa.bbbb', nonce.slice(1), flipped, nonce + nonce]
    for (const one of forged) expect(refusal(await ask(one))).toBe('400 use_dpop_nonce')
    expect((await ask(nonce)).status).toBe(200)
    strict.server.advance(301)
    expect(refusal(await ask(nonce))).toBe('400 use_dpop_nonce')
  })

  test('rejects the nonce of another server, even with the same secret key', async () => {
    await using elsewhere = await startServer({ requireDpopNonce: true })
    const stranger = await TestClient.register(elsewhere, new UserAgent())
    elsewhere.advance((strict.server.now() - elsewhere.now()) / 1000)
    const foreign = nonceOf(await ask(undefined, stranger))
    expect(refusal(await ask(foreign))).toBe('400 use_dpop_nonce')
  })

  test('accepts a nonce on every node, including nodes that started later', async () => {
    const nonce = nonceOf(await ask())
    await using node = await startServer({
      beside: strict.server,
      issuer: strict.server.issuer,
      requireDpopNonce: true,
    })
    for (const { issuer } of [node, strict.server]) {
      const response = await fetch(`${issuer === node.issuer ? node.issuer : issuer}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams(machine),
        headers: { ...basicOf(client), dpop: await proofBy(key, { app: strict.server, nonce }) },
      })
      expect(response.status).toBe(200)
    }
    // The first node also accepts a nonce of the later node.
    const asked = await fetch(`${node.issuer}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams(machine),
      headers: { ...basicOf(client), dpop: await proofBy(key, { app: strict.server }) },
    })
    expect((await ask(nonceOf(asked))).status).toBe(200)
  })
})

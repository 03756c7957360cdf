import { createHmac, generateKeyPairSync, randomUUID } from 'node:crypto'
import { generateKeyPair, generateProof } from 'dpop'
import { exportJWK, SignJWT } from 'jose'
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
import { push, pushed, referenceUrl } from '../support/pushed-request.ts'
import { rawHttp } from '../support/raw-http.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import {
  ping,
  refusal,
  responseTo,
  TestClient,
  tokenRequest,
  UserAgent,
} from '../support/user-agent.ts'

let app: TestServer
/** A browser whose user is logged in, for all tests of this file. */
let agent: UserAgent
let conf: TestClient
let pub: TestClient
let key: DpopKey
let other: DpopKey

beforeAll(async () => {
  app = await startServer()
  agent = new UserAgent()
  await agent.logIn(app)
  conf = await TestClient.register(app, agent, { defaultScopes: ['notes:read'] })
  pub = await TestClient.register(app, agent, { isConfidential: false })
  key = await newKey()
  other = await newKey()
})
afterAll(() => app.close())

const machine = { grant_type: 'client_credentials' }
const asPublic = { isPublic: true }
const askMachine = (dpop?: string | DpopKey) =>
  askToken(conf, machine, dpop === undefined ? {} : { dpop })
const atToken = (changed?: Changed, by = key) => proofBy(by, { app }, changed)

/** Returns the tokens of a new authorization, which are bound to the key. */
const boundTokens = async (client = conf, by = key, asking: object = {}) => {
  const { status, body } = await redeem(client, await client.code(), { ...asking, dpop: by })
  expect(status).toBe(200)
  return body
}
const boundToken = async (by = key): Promise<string> => {
  const { status, body } = await askMachine(by)
  expect([status, body.token_type]).toEqual([200, 'DPoP'])
  return body.access_token
}

/** Asserts that a response contains a DPoP challenge. Returns the status and the error. */
const challenged = async (response: Response): Promise<string> => {
  const challenge = response.headers.get('www-authenticate') ?? ''
  expect(challenge).toMatch(/^DPoP /)
  expect(challenge).toContain('algs="ES256 EdDSA Ed25519 PS256 RS256"')
  expect(challenge).toContain('resource_metadata="')
  const [, error = ''] = /error="([^"]*)"/.exec(challenge) ?? []
  expect(((await response.json()) as { error: string }).error).toBe(error)
  return `${response.status} ${error}`
}

describe('RFC 9449 §5 a token request with a proof', () => {
  test.each(['ES256', 'EdDSA', 'Ed25519', 'PS256', 'RS256'])(
    '§5 binds the token to a key of the algorithm %s, and returns token_type DPoP [T405]',
    async (algorithm) => {
      const own = await newKey(algorithm)
      const { status, body } = await askMachine(own)
      expect([status, body.token_type]).toEqual([200, 'DPoP'])
      expect((await withKey(own, body.access_token, { app })).status).toBe(200)
      const [row] = await app.query(
        `select key_thumbprint from oauth2server_token order by id desc limit 1`,
      )
      expect(row?.key_thumbprint).toBe(own.thumbprint)
    },
  )

  test('§5 issues a bearer token if the request has no proof', async () => {
    const { body } = await askMachine()
    expect(body.token_type).toBe('Bearer')
    expect(await ping(app, body.access_token)).toBe(200)
  })

  test('§4 accepts proofs that the npm package dpop creates', async () => {
    await using today = await startServer({ clock: () => Date.now() })
    const client = await TestClient.register(today, new UserAgent())
    for (const algorithm of ['ES256', 'Ed25519', 'PS256', 'RS256'] as const) {
      const pair = await generateKeyPair(algorithm)
      const at = (path: string, method: string, token?: string) =>
        generateProof(pair, `${today.issuer}${path}`, method, undefined, token)
      const { body } = await askToken(client, machine, { dpop: await at('/oauth/token', 'POST') })
      expect(body.token_type).toBe('DPoP')
      const response = await fetch(`${today.issuer}/oauth/ping`, {
        headers: {
          authorization: `DPoP ${body.access_token}`,
          dpop: await at('/oauth/ping', 'GET', body.access_token),
        },
      })
      expect(response.status).toBe(200)
    }
  })

  test('§5 binds the tokens of the authorization_code and refresh_token grants [T411]', async () => {
    for (const [client, asking] of [
      [conf, {}],
      [pub, asPublic],
    ] as const) {
      const first = await boundTokens(client, key, asking)
      expect(first.token_type).toBe('DPoP')
      const { status, body } = await refresh(client, first.refresh_token, { ...asking, dpop: key })
      expect([status, body.token_type]).toEqual([200, 'DPoP'])
      expect((await withKey(key, body.access_token, { app })).status).toBe(200)
    }
  })

  test('§5 binds the new access token of an unbound refresh token to the key in the proof', async () => {
    const first = await conf.tokens()
    expect(first.token_type).toBe('Bearer')
    const { body } = await refresh(conf, first.refresh_token, { dpop: key })
    expect(body.token_type).toBe('DPoP')
    expect(await ping(app, body.access_token)).toBe(401)
  })

  test('§7.1 accepts proofs for an issuer with a path', async () => {
    await using deep = await startServer({ basePath: '/app' })
    const client = await TestClient.register(deep, new UserAgent())
    const { body } = await askToken(client, machine, { dpop: key })
    expect(body.token_type).toBe('DPoP')
    expect((await withKey(key, body.access_token, { app: deep })).status).toBe(200)
  })
})

/** Creates an invalid JWT, which libraries refuse to create. */
const handmade = (header: object, claims: object, sign: (input: string) => string): string => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${part(header)}.${part(claims)}`
  return `${input}.${sign(input)}`
}

type Make = (at: ProofFor) => Promise<string> | string

const changed =
  (change: Changed | (() => Changed)): Make =>
  (at) =>
    proofBy(key, at, typeof change === 'function' ? change() : change)

const claimsOf = ({ app: { issuer, now }, path, method }: ProofFor) => ({
  jti: randomUUID(),
  htm: method,
  htu: `${issuer}${path}`,
  iat: Math.floor(now() / 1000),
})

const seconds = () => Math.floor(app.now() / 1000)

const badProofs: Record<string, Make> = {
  'an empty header': () => '',
  'a string that is not a JWT': () => 'x',
  'a JWT of two parts': () => 'e30.e30',
  'a JWT of five parts': () => 'e30.e30.e30.e30.e30',
  'a JWT header that is not JSON': () => 'eA.e30.eA',
  'a proof of 12 kB': changed({ claims: { x: 'x'.repeat(9_000) } }),
  'a missing typ': changed({ header: { typ: undefined } }),
  'the typ JWT': changed({ header: { typ: 'JWT' } }),
  'the typ of an access token': changed({ header: { typ: 'at+jwt' } }),
  'a missing alg': (at) =>
    handmade({ typ: 'dpop+jwt', jwk: key.publicJwk }, claimsOf(at), () => 'eA'),
  'alg none': (at) =>
    handmade({ typ: 'dpop+jwt', alg: 'none', jwk: key.publicJwk }, claimsOf(at), () => 'eA'),
  'alg HS256 with the public key as the secret': (at) => {
    const header = { typ: 'dpop+jwt', alg: 'HS256', jwk: key.publicJwk }
    const sign = (input: string) =>
      createHmac('sha256', JSON.stringify(key.publicJwk)).update(input).digest('base64url')
    return handmade(header, claimsOf(at), sign)
  },
  'alg HS256 with a symmetric jwk': async (at) => {
    const secret = new Uint8Array(32)
    const jwk = { kty: 'oct', k: Buffer.from(secret).toString('base64url') }
    const header = { typ: 'dpop+jwt', alg: 'HS256', jwk }
    return new SignJWT(claimsOf(at)).setProtectedHeader(header as never).sign(secret)
  },
  'an unsupported algorithm': async (at) => proofBy(await newKey('ES384'), at),
  'an RSA key of 1024 bits': async (at) => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
    const jwk = await exportJWK(publicKey)
    const { createSign } = await import('node:crypto')
    return handmade({ typ: 'dpop+jwt', alg: 'RS256', jwk }, claimsOf(at), (input) =>
      createSign('sha256').update(input).sign(privateKey, 'base64url'),
    )
  },
  'a missing jwk': changed({ header: { jwk: undefined } }),
  'a jwk that is not a key': changed({ header: { jwk: { kty: 'EC' } } }),
  'a jwk that is a string': changed({ header: { jwk: 'x' } }),
  'a private key as jwk': changed(() => ({ header: { jwk: key.privateJwk } })),
  'an RSA jwk with a private member': async (at) => {
    const rsa = await newKey('RS256')
    return proofBy(rsa, at, { header: { jwk: { ...rsa.publicJwk, dp: rsa.privateJwk.dp } } })
  },
  'the jwk of another key': changed(() => ({ header: { jwk: other.publicJwk } })),
  'a kid instead of the jwk': changed({ header: { jwk: undefined, kid: '1' } }),
  'an unknown critical header': changed({ header: { crit: ['x'], x: 1 } }),
  'an invalid signature': async (at) => {
    const [header, payload] = (await proofBy(key, at)).split('.')
    const [, , signature] = (await proofBy(key, at)).split('.')
    return `${header}.${payload}.${signature}`
  },
  'a missing jti': changed({ claims: { jti: undefined } }),
  'an empty jti': changed({ claims: { jti: '' } }),
  'a jti that is a number': changed({ claims: { jti: 1 } }),
  'a jti of 257 characters': changed({ claims: { jti: 'x'.repeat(257) } }),
  'a missing htm': changed({ claims: { htm: undefined } }),
  'another method': changed({ claims: { htm: 'PATCH' } }),
  'the method in lower case': (at) =>
    proofBy(key, at, { claims: { htm: at.method?.toLowerCase() } }),
  'a missing htu': changed({ claims: { htu: undefined } }),
  'an htu with another path': (at) =>
    proofBy(key, at, { claims: { htu: `${at.app.issuer}/oauth/other` } }),
  'an htu with an extra slash in the path': (at) =>
    proofBy(key, at, { claims: { htu: `${at.app.issuer}${at.path}/` } }),
  'an htu with another host': (at) =>
    proofBy(key, at, { claims: { htu: `https://evil.example${at.path}` } }),
  'an htu with https instead of http': (at) =>
    proofBy(key, at, { claims: { htu: `${at.app.issuer.replace('http:', 'https:')}${at.path}` } }),
  'an htu without a host': (at) => proofBy(key, at, { claims: { htu: at.path } }),
  'an htu with a user': (at) =>
    proofBy(key, at, { claims: { htu: `${at.app.issuer.replace('//', '//me@')}${at.path}` } }),
  'an htu that is an array': (at) =>
    proofBy(key, at, { claims: { htu: [`${at.app.issuer}${at.path}`] } }),
  'a missing iat': changed({ claims: { iat: undefined } }),
  'an iat that is a string': changed(() => ({ claims: { iat: String(seconds()) } })),
  'an iat an hour ago': changed(() => ({ claims: { iat: seconds() - 3_600 } })),
  'an iat 301 seconds ago': changed(() => ({ claims: { iat: seconds() - 301 } })),
  'an iat in an hour': changed(() => ({ claims: { iat: seconds() + 3_600 } })),
  'an iat in 61 seconds': changed(() => ({ claims: { iat: seconds() + 61 } })),
  'an nbf in 61 seconds': changed(() => ({ claims: { nbf: seconds() + 61 } })),
  'an exp an hour ago': changed(() => ({ claims: { exp: seconds() - 3_600 } })),
  'a nonce that is a number': changed({ claims: { nonce: 1 } }),
}

const goodProofs: Record<string, Make> = {
  'an htu with query and fragment': (at) =>
    proofBy(key, at, { claims: { htu: `${at.app.issuer}${at.path}?a=b#c` } }),
  'an htu with scheme and host in upper case': (at) =>
    proofBy(key, at, {
      claims: { htu: `${at.app.issuer.replace('http://localhost', 'HTTP://LOCALHOST')}${at.path}` },
    }),
  'an htu with dot segments and encoded letters': (at) =>
    proofBy(key, at, {
      claims: { htu: `${at.app.issuer}/x/..${at.path?.replace('oauth', '%6fauth')}` },
    }),
  'an iat 10 seconds ago': changed(() => ({ claims: { iat: seconds() - 10 } })),
  'an iat 300 seconds ago': changed(() => ({ claims: { iat: seconds() - 300 } })),
  'an iat in 10 seconds': changed(() => ({ claims: { iat: seconds() + 10 } })),
  'an iat in 60 seconds': changed(() => ({ claims: { iat: seconds() + 60 } })),
  'an iat with a fraction': changed(() => ({ claims: { iat: seconds() + 0.5 } })),
  'a valid nbf and exp': changed(() => ({
    claims: { nbf: seconds() - 5, exp: seconds() + 60 },
  })),
  'unknown claims': changed({ claims: { x: { y: [1] }, iss: 'me' } }),
  'unknown headers': changed({ header: { x: 1 } }),
  'a typ with the prefix application/': changed({ header: { typ: 'application/dpop+jwt' } }),
  'a jti of 256 characters': () =>
    proofBy(key, lastAt, { claims: { jti: randomUUID().padEnd(256, 'x') } }),
  'a jwk with a use and a kid': changed(() => ({
    header: { jwk: { ...key.publicJwk, use: 'sig', kid: 'mine' } },
  })),
}
let lastAt: ProofFor

describe('RFC 9449 §4.3 the validation of proofs', () => {
  test.each(Object.keys(badProofs))(
    'DP-01 rejects an invalid proof at the token endpoint: %s [T400]',
    async (name) => {
      const at = { app, path: '/oauth/token', method: 'POST' }
      const proof = (await badProofs[name]?.(at)) ?? ''
      expect(refusal(await askMachine(proof))).toBe('400 invalid_dpop_proof')
      expect((await askMachine(key)).status).toBe(200)
    },
  )

  test.each(Object.keys(badProofs))(
    'DP-01 rejects an invalid proof at a protected resource: %s [T401]',
    async (name) => {
      const accessToken = await boundToken()
      const at = { app, path: '/oauth/ping', method: 'GET', accessToken }
      const proof = (await badProofs[name]?.(at)) ?? ''
      const response = await fetch(`${app.issuer}/oauth/ping`, {
        headers: { authorization: `DPoP ${accessToken}`, dpop: proof },
      })
      // For a valid proof with another key, the error would be invalid_token.
      expect(await challenged(response)).toBe('401 invalid_dpop_proof')
      expect((await withKey(key, accessToken, { app })).status).toBe(200)
    },
  )

  test.each(Object.keys(goodProofs))('DP-01 accepts a proof with %s [T406]', async (name) => {
    const make = goodProofs[name] ?? badProofs.x
    lastAt = { app, path: '/oauth/token', method: 'POST' }
    const { status, body } = await askMachine((await make?.(lastAt)) ?? '')
    expect([status, body.error]).toEqual([200, undefined])
    lastAt = { app, path: '/oauth/ping', method: 'GET', accessToken: body.access_token }
    const response = await fetch(`${app.issuer}/oauth/ping`, {
      headers: {
        authorization: `DPoP ${body.access_token}`,
        dpop: (await make?.(lastAt)) ?? '',
      },
    })
    expect(response.status).toBe(200)
  })

  test('DP-01 §4.1 accepts the header name and the scheme in any case', async () => {
    const accessToken = await boundToken()
    const proof = () => proofBy(key, { app, path: '/oauth/ping', method: 'GET', accessToken })
    for (const [name, scheme] of [
      ['DPOP', 'dpop'],
      ['dpop', 'DPOP'],
    ]) {
      const { status } = await rawHttp(app, {
        target: '/oauth/ping',
        headers: [`Authorization: ${scheme} ${accessToken}`, `${name}: ${await proof()}`],
      })
      expect(status).toBe(200)
    }
  })

  test('DP-01 §4.3 rejects two DPoP headers in a request [T404]', async () => {
    const two = [`DPoP: ${await atToken()}`, `DPoP: ${await atToken()}`]
    const basic = `Authorization: Basic ${btoa(`${conf.clientId}:${conf.clientSecret}`)}`
    const form = 'Content-Type: application/x-www-form-urlencoded'
    const asked = await rawHttp(app, {
      method: 'POST',
      target: '/oauth/token',
      headers: [basic, form, ...two],
      body: 'grant_type=client_credentials',
    })
    expect([asked.status, JSON.parse(asked.text).error]).toEqual([400, 'invalid_dpop_proof'])
    const accessToken = await boundToken()
    const proofs = await Promise.all(
      [1, 2].map(() => proofBy(key, { app, path: '/oauth/ping', method: 'GET', accessToken })),
    )
    const used = await rawHttp(app, {
      target: '/oauth/ping',
      headers: [`Authorization: DPoP ${accessToken}`, ...proofs.map((proof) => `DPoP: ${proof}`)],
    })
    expect(used.status).toBe(401)
    expect(used.headers.get('www-authenticate')).toContain('invalid_dpop_proof')
  })

  test('§4.3 compares htu with the configured URL, not with the Host header [T407]', async () => {
    const headers = [
      'Host: evil.example',
      'X-Forwarded-Host: evil.example',
      `Authorization: Basic ${btoa(`${conf.clientId}:${conf.clientSecret}`)}`,
      'Content-Type: application/x-www-form-urlencoded',
    ]
    const ask = async (htu: string) => {
      const dpop = `DPoP: ${await atToken({ claims: { htu } })}`
      const { status } = await rawHttp(app, {
        method: 'POST',
        target: '/oauth/token',
        headers: [...headers, dpop],
        body: 'grant_type=client_credentials',
      })
      return status
    }
    expect(await ask('http://evil.example/oauth/token')).toBe(400)
    expect(await ask(`${app.issuer}/oauth/token`)).toBe(200)
  })

  test('§4.3 checks the method, but not the query, at a resource of the application [T418]', async () => {
    const { body } = await askToken(conf, { ...machine, scope: 'notes:read' }, { dpop: key })
    const accessToken = body.access_token
    for (const query of ['', '?a=b']) {
      const dpop = await proofBy(key, { app, path: '/api/notes', method: 'GET', accessToken })
      const response = await fetch(`${app.issuer}/api/notes${query}`, {
        headers: { authorization: `DPoP ${accessToken}`, dpop },
      })
      expect(response.status).toBe(200)
    }
    const post = await withKey(key, accessToken, { app, path: '/api/notes', method: 'POST' })
    expect(await challenged(post)).toBe('403 insufficient_scope')
    const other = await proofBy(key, { app, path: '/api/notes', method: 'GET', accessToken })
    const response = await fetch(`${app.issuer}/api/notes`, {
      method: 'POST',
      headers: { authorization: `DPoP ${accessToken}`, dpop: other },
    })
    expect(await challenged(response)).toBe('401 invalid_dpop_proof')
  })
})

describe('RFC 9449 §7 protected resources', () => {
  test.each([
    ['a missing ath', { ath: undefined }],
    ['the hash of another token', { ath: 'x'.repeat(43) }],
    ['an ath that is a number', { ath: 1 }],
  ])(
    'DP-01 §7 rejects a proof without the hash of the access token: %s [T402]',
    async (_what, claims) => {
      const accessToken = await boundToken()
      const response = await withKey(key, accessToken, { app }, { claims })
      expect(await challenged(response)).toBe('401 invalid_dpop_proof')
    },
  )

  test('DP-01 §7.1 rejects a bound token without a proof [T417]', async () => {
    const headers = { authorization: `DPoP ${await boundToken()}` }
    const response = await fetch(`${app.issuer}/oauth/ping`, { headers })
    expect(await challenged(response)).toBe('401 invalid_dpop_proof')
  })

  test('DP-03 §7.1 rejects a proof with another key [T410]', async () => {
    const response = await withKey(other, await boundToken(), { app })
    expect(await challenged(response)).toBe('401 invalid_token')
  })

  test('DP-03 §7.2 rejects a bound token in the scheme Bearer or in the query, even with a proof [T419]', async () => {
    const accessToken = await boundToken()
    const at = { app, path: '/oauth/ping', method: 'GET', accessToken }
    const ask = async (query: string, headers: Record<string, string>) => {
      const response = await fetch(`${app.issuer}/oauth/ping${query}`, { headers })
      const challenge = response.headers.get('www-authenticate') ?? ''
      return `${response.status} ${challenge.includes('error="invalid_token"')}`
    }
    const authorization = `Bearer ${accessToken}`
    expect(await ask('', { authorization })).toBe('401 true')
    expect(await ask('', { authorization, dpop: await proofBy(key, at) })).toBe('401 true')
    const query = `?access_token=${accessToken}`
    expect(await ask(query, {})).toBe('401 true')
    expect(await ask(query, { dpop: await proofBy(key, at) })).toBe('401 true')
  })

  test('DP-03 §7.1 rejects a bearer token in the scheme DPoP [T422]', async () => {
    const { body } = await askMachine()
    expect(await challenged(await withKey(key, body.access_token, { app }))).toBe(
      '401 invalid_token',
    )
    const personal = await app.personalToken()
    expect(await challenged(await withKey(key, personal, { app }))).toBe('401 invalid_token')
  })

  test('DP-03 §7.2 returns a DPoP challenge for an unknown or expired token in the scheme DPoP [T421]', async () => {
    expect(await challenged(await withKey(key, 'x'.repeat(43), { app }))).toBe('401 invalid_token')
    await using later = await startServer({ tokenExpiresIn: 1 })
    const client = await TestClient.register(later, new UserAgent())
    const { body } = await askToken(client, machine, { dpop: key })
    later.advance(1)
    const response = await withKey(key, body.access_token, { app: later })
    expect(await challenged(response)).toBe('401 invalid_token')
  })

  test('DP-03 §7.2 rejects a bound token without a proof even if the request has a session', async () => {
    const authorization = `Bearer ${await boundToken()}`
    const response = await agent.fetch(`${app.issuer}/api/notes`, { headers: { authorization } })
    expect(response.status).toBe(401)
  })

  test('§7.2 rejects a request with both schemes', async () => {
    const accessToken = await boundToken()
    const { status } = await rawHttp(app, {
      target: '/oauth/ping',
      headers: [
        `Authorization: DPoP ${accessToken}`,
        `Authorization: Bearer ${accessToken}`,
        `DPoP: ${await proofBy(key, { app, path: '/oauth/ping', method: 'GET', accessToken })}`,
      ],
    })
    expect(status).toBe(400)
  })

  test('§7 ignores a DPoP header in a request with a bearer token', async () => {
    const { body } = await askMachine()
    const headers = { authorization: `Bearer ${body.access_token}`, dpop: 'x' }
    expect((await fetch(`${app.issuer}/oauth/ping`, { headers })).status).toBe(200)
  })

  test('§7.1 for a resource on another host, requires the URL of the resource as htu', async () => {
    const resource = 'https://mcp.example.org/mcp'
    await using node = await startServer({ beside: app, resources: [{ resource }] })
    const accessToken = await boundToken()
    const ask = async (htu: string) => {
      const dpop = await proofBy(key, { app, method: 'GET', accessToken }, { claims: { htu } })
      return node.server.resourceServer
        .resolve({
          authorization: `DPoP ${accessToken}`,
          cookie: null,
          method: 'GET',
          path: '/mcp',
          query: '',
          resource,
          address: '127.0.0.1',
          userAgent: '',
          headers: () => new Headers({ dpop }),
        })
        .then(
          ({ auth }) => auth.kind,
          ({ status }) => status,
        )
    }
    expect(await ask(resource)).toBe('access_token')
    expect(await ask(`${app.issuer}/mcp`)).toBe(401)
  })

  test('§7.2 rejects bound tokens while DPoP is disabled', async () => {
    await using off = await startServer({ beside: app, dpop: 'off' })
    const accessToken = await boundToken()
    for (const scheme of ['DPoP', 'Bearer']) {
      const headers = { authorization: `${scheme} ${accessToken}` }
      expect((await fetch(`${off.issuer}/oauth/ping`, { headers })).status).toBe(401)
    }
    const metadata = await fetch(`${off.issuer}/.well-known/oauth-authorization-server`)
    expect(await metadata.json()).not.toHaveProperty('dpop_signing_alg_values_supported')
  })
})

describe('RFC 9449 §11.1 single use of proofs', () => {
  test('DP-02 rejects a used proof at the token endpoint and at a resource [T431]', async () => {
    const proof = await atToken()
    expect((await askMachine(proof)).status).toBe(200)
    expect(refusal(await askMachine(proof))).toBe('400 invalid_dpop_proof')
    const accessToken = await boundToken()
    const dpop = await proofBy(key, { app, path: '/oauth/ping', method: 'GET', accessToken })
    const headers = { authorization: `DPoP ${accessToken}`, dpop }
    expect((await fetch(`${app.issuer}/oauth/ping`, { headers })).status).toBe(200)
    expect(await challenged(await fetch(`${app.issuer}/oauth/ping`, { headers }))).toBe(
      '401 invalid_dpop_proof',
    )
  })

  test('DP-02 accepts only one of 50 concurrent token requests with the same proof [T432]', async () => {
    const proof = await atToken()
    const asked = await Promise.all(Array.from({ length: 50 }, () => askMachine(proof)))
    expect(asked.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(asked.filter(({ body }) => body.error === 'invalid_dpop_proof')).toHaveLength(49)
  })

  test('DP-02 accepts only one of 50 concurrent requests with the same proof at resources of two nodes [T433]', async () => {
    await using node = await startServer({ beside: app, issuer: app.issuer })
    const accessToken = await boundToken()
    const dpop = await proofBy(key, { app, path: '/oauth/ping', method: 'GET', accessToken })
    const headers = { authorization: `DPoP ${accessToken}`, dpop }
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const { issuer } = index % 2 === 0 ? app : node
        return (await fetch(`${issuer}/oauth/ping`, { headers })).status
      }),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 401)).toHaveLength(49)
  })

  test('§11.1 accepts the same jti with another key', async () => {
    const jti = randomUUID()
    for (const by of [key, other])
      expect((await askMachine(await atToken({ claims: { jti } }, by))).status).toBe(200)
  })

  test('§11.1 remembers a used proof until the proof has also expired on a node whose clock is two minutes slow', async () => {
    await using own = await startServer()
    const clock = () => own.now() - 120_000
    await using behind = await startServer({ beside: own, issuer: own.issuer, clock })
    const client = await TestClient.register(own, new UserAgent())
    const iat = Math.floor(own.now() / 1000) + 60
    const proof = await proofBy(key, { app: own }, { claims: { iat } })
    const ask = () => askToken(client, machine, { dpop: proof })
    expect((await ask()).status).toBe(200)
    const rows = () => own.query("select * from oauth2server_transient where key like 'dpop%'")
    own.advance(360)
    await own.server.sweep()
    expect(await rows()).toHaveLength(1)
    expect(refusal(await ask())).toBe('400 invalid_dpop_proof')
    own.advance(1)
    await own.server.sweep()
    const askThere = (dpop: string) =>
      tokenRequest(behind.issuer, machine, { basic: client, headers: { dpop } })
    const fresh = await proofBy(key, { app: own }, { claims: { iat } })
    expect((await askThere(fresh)).status).toBe(200)
    expect((await askThere(proof)).status).toBe(400)
    own.advance(420)
    await own.server.sweep()
    expect(await rows()).toEqual([])
    expect(refusal(await ask())).toBe('400 invalid_dpop_proof')
  })

  test('§11.1 stores a jti only as a digest [T430]', async () => {
    const jti = randomUUID()
    await askMachine(await atToken({ claims: { jti } }))
    expect(JSON.stringify(await app.query('select * from oauth2server_transient'))).not.toContain(
      jti,
    )
  })

  test('§11.1 does not consume a valid proof if the request is rejected for another reason', async () => {
    const proof = await atToken()
    const wrong = await askToken(conf, { ...machine, scope: 'bogus' }, { dpop: proof })
    expect(refusal(wrong)).toBe('400 invalid_scope')
    expect((await askMachine(proof)).status).toBe(200)
  })
})

describe('RFC 9449 §5, §10 bound codes and refresh tokens', () => {
  const code = (client: TestClient, jkt = key.thumbprint) => client.code({ dpop_jkt: jkt })

  test('DP-04 §10 requires a proof with the key in dpop_jkt [T426]', async () => {
    for (const [client, asking] of [
      [conf, {}],
      [pub, asPublic],
    ] as const) {
      const value = await code(client)
      expect(refusal(await redeem(client, value, { ...asking, dpop: other }))).toBe(
        '400 invalid_grant',
      )
      expect(refusal(await redeem(client, value, asking))).toBe('400 invalid_dpop_proof')
      const { status, body } = await redeem(client, value, { ...asking, dpop: key })
      expect([status, body.token_type]).toEqual([200, 'DPoP'])
    }
  })

  test.each([
    ['too short', 'x'.repeat(42)],
    ['too long', 'x'.repeat(44)],
    ['with padding', `${'x'.repeat(42)}=`],
    ['with a line feed', `${'x'.repeat(43)}\n`],
  ])('§10 rejects an invalid thumbprint: %s', async (_what, dpop_jkt) => {
    expect(responseTo(conf, await conf.ask({ dpop_jkt })).error).toBe('invalid_request')
  })

  test('§10 ignores an empty dpop_jkt, and rejects a repeated dpop_jkt', async () => {
    expect((await redeem(conf, await code(conf, ''))).body.token_type).toBe('Bearer')
    const url = `${conf.url()}&dpop_jkt=${key.thumbprint}&dpop_jkt=${other.thumbprint}`
    expect((await agent.browse(url)).address).toContain('/oauth/errors')
  })

  test('§10 rejects dpop_jkt for response type token, because the implicit grant cannot bind tokens', async () => {
    const answer = await pub.ask({ response_type: 'token', dpop_jkt: key.thumbprint })
    expect(responseTo(pub, answer, 'fragment').error).toBe('invalid_request')
    const dpop = await proofBy(key, { app, path: '/oauth/par' })
    const given = { response_type: 'token' }
    const pushing = await push(pub, given, { ...asPublic, headers: { dpop } })
    expect(refusal(pushing as never)).toBe('400 invalid_request')
  })

  test('DP-04 §5 binds the refresh token of a public client to its key [T412]', async () => {
    const { refresh_token } = await boundTokens(pub, key, asPublic)
    expect(refusal(await refresh(pub, refresh_token, { ...asPublic, dpop: other }))).toBe(
      '400 invalid_grant',
    )
    expect(refusal(await refresh(pub, refresh_token, asPublic))).toBe('400 invalid_dpop_proof')
    const { status, body } = await refresh(pub, refresh_token, { ...asPublic, dpop: key })
    expect(status).toBe(200)
    const next = await refresh(pub, body.refresh_token, { ...asPublic, dpop: other })
    expect(refusal(next)).toBe('400 invalid_grant')
  })

  test('DP-04 §5 lets a confidential client change its key, but not omit the proof [T413]', async () => {
    const { refresh_token } = await boundTokens(conf)
    expect(refusal(await refresh(conf, refresh_token))).toBe('400 invalid_dpop_proof')
    const { status, body } = await refresh(conf, refresh_token, { dpop: other })
    expect(status).toBe(200)
    expect((await withKey(other, body.access_token, { app })).status).toBe(200)
    expect((await withKey(key, body.access_token, { app })).status).toBe(401)
  })

  test('§5 returns the response of a repeated refresh only to the holder of the key', async () => {
    const { refresh_token } = await boundTokens(pub, key, asPublic)
    const first = await refresh(pub, refresh_token, { ...asPublic, dpop: key })
    const again = await refresh(pub, refresh_token, { ...asPublic, dpop: key })
    expect(again.body.access_token).toBe(first.body.access_token)
    for (const dpop of [{}, { dpop: other }])
      expect((await refresh(pub, refresh_token, { ...asPublic, ...dpop })).body.error).toBe(
        'invalid_grant',
      )
    expect((await withKey(key, first.body.access_token, { app })).status).toBe(200)
  })

  test('§5 binds an access token to the other key of a confidential client that repeats a refresh within the leeway [T1421]', async () => {
    const { refresh_token } = await boundTokens(conf)
    const first = await refresh(conf, refresh_token, { dpop: key })
    const again = await refresh(conf, refresh_token, { dpop: other })
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body.refresh_token).toBe(first.body.refresh_token)
    expect(again.body.access_token).not.toBe(first.body.access_token)
    expect(again.body).toMatchObject({ token_type: 'DPoP', scope: first.body.scope })
    const used = async (by: DpopKey, token: string) => (await withKey(by, token, { app })).status
    expect(await used(key, first.body.access_token)).toBe(200)
    expect(await used(other, again.body.access_token)).toBe(200)
    expect(await used(key, again.body.access_token)).toBe(401)
    const given = { grant_type: 'refresh_token', refresh_token, scope: 'user:email' }
    expect(refusal(await askToken(conf, given, { dpop: other }))).toBe('400 invalid_grant')
    expect(refusal(await refresh(conf, refresh_token))).toBe('400 invalid_grant')
    const same = await refresh(conf, refresh_token, { dpop: key })
    expect(same.body.access_token).toBe(first.body.access_token)
    // Revoking the authorization also revokes the token that is bound to the other key.
    await app.server.authorizedApplications.revoke(app.user.id, conf.clientId)
    expect(await used(other, again.body.access_token)).toBe(401)
  })

  test('§5 rejects a bound refresh token while DPoP is disabled', async () => {
    await using off = await startServer({ beside: app, issuer: app.issuer, dpop: 'off' })
    const { refresh_token } = await boundTokens(pub, key, asPublic)
    const response = await fetch(`${off.issuer}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        client_id: pub.clientId,
        refresh_token,
      }),
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: 'invalid_grant' })
    expect((await refresh(pub, refresh_token, { ...asPublic, dpop: key })).status).toBe(200)
  })

  test('revokes the tokens after a replay of a bound refresh token only if the replay has a proof with its key', async () => {
    await using own = await startServer()
    const browser = new UserAgent()
    const client = await TestClient.register(own, browser, { isConfidential: false })
    const first = await redeem(client, await client.code(), { ...asPublic, dpop: key })
    const second = await refresh(client, first.body.refresh_token, { ...asPublic, dpop: key })
    own.advance(61)
    for (const dpop of [{}, { dpop: other }]) {
      const late = await refresh(client, first.body.refresh_token, { ...asPublic, ...dpop })
      expect(refusal(late)).toBe('400 invalid_grant')
    }
    const token = second.body.access_token
    expect((await withKey(key, token, { app: own })).status).toBe(200)
    const replay = await refresh(client, first.body.refresh_token, { ...asPublic, dpop: key })
    expect(refusal(replay)).toBe('400 invalid_grant')
    expect((await withKey(key, token, { app: own })).status).toBe(401)
  })

  test('DP-04 §10.1 binds the code to the key in the DPoP header of a pushed request [T427]', async () => {
    const dpop = await proofBy(key, { app, path: '/oauth/par' })
    const url = referenceUrl(conf, await pushed(conf, {}, { headers: { dpop } }))
    const value = responseTo(conf, await agent.authorize(app, url)).code ?? ''
    expect(refusal(await redeem(conf, value, { dpop: other }))).toBe('400 invalid_grant')
    expect((await redeem(conf, value, { dpop: key })).body.token_type).toBe('DPoP')
  })

  test('DP-04 §10.1 binds the code to dpop_jkt in a pushed request, and rejects a header with another key [T429]', async () => {
    const dpop_jkt = key.thumbprint
    const url = referenceUrl(conf, await pushed(conf, { dpop_jkt }))
    const value = responseTo(conf, await agent.authorize(app, url)).code ?? ''
    expect(refusal(await redeem(conf, value, { dpop: other }))).toBe('400 invalid_grant')
    const by = async (one: DpopKey) =>
      push(
        conf,
        { dpop_jkt },
        { headers: { dpop: await proofBy(one, { app, path: '/oauth/par' }) } },
      )
    expect(refusal((await by(other)) as never)).toBe('400 invalid_dpop_proof')
    expect((await by(key)).status).toBe(201)
  })

  test('DP-01 §10.1 rejects a pushed request with an invalid or used proof [T428]', async () => {
    const dpop = await proofBy(key, { app, path: '/oauth/par' })
    const ask = (proof: string) => push(conf, {}, { headers: { dpop: proof } })
    expect(refusal((await ask(await atToken())) as never)).toBe('400 invalid_dpop_proof')
    expect((await ask(dpop)).status).toBe(201)
    expect(refusal((await ask(dpop)) as never)).toBe('400 invalid_dpop_proof')
  })
})

describe('RFC 9449 §8, §9 nonces', () => {
  let strict: TestServer
  let client: TestClient
  beforeAll(async () => {
    strict = await startServer({ requireDpopNonce: true })
    client = await TestClient.register(strict, new UserAgent(), { defaultScopes: ['notes:read'] })
  })
  afterAll(() => strict.close())

  const ask = (nonce?: string, at = client) =>
    askToken(at, machine, { dpop: key, ...(nonce === undefined ? {} : { nonce }) })
  const nonceOf = ({ headers }: { headers: Headers }): string => {
    const nonce = headers.get('dpop-nonce') ?? ''
    expect(nonce).toMatch(/^[\x21\x23-\x5B\x5D-\x7E]+$/)
    return nonce
  }

  test('DP-05 §8 returns a nonce if the proof has none, and accepts the next proof with this nonce [T403]', async () => {
    const first = await ask()
    expect(refusal(first)).toBe('400 use_dpop_nonce')
    const second = await ask(nonceOf(first))
    expect([second.status, second.body.token_type]).toEqual([200, 'DPoP'])
  })

  test('§8.2 returns the next nonce in a successful response [T424]', async () => {
    const answer = await ask(nonceOf(await ask()))
    expect((await ask(nonceOf(answer))).status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('DP-05 §8 does not consume the code or refresh token of a request without a nonce', async () => {
    const code = await client.code()
    const first = await redeem(client, code, { dpop: key })
    expect(refusal(first)).toBe('400 use_dpop_nonce')
    const second = await redeem(client, code, { dpop: key, nonce: nonceOf(first) })
    expect(second.status).toBe(200)
    const again = await refresh(client, second.body.refresh_token, { dpop: key })
    expect(refusal(again)).toBe('400 use_dpop_nonce')
    const third = await refresh(client, second.body.refresh_token, {
      dpop: key,
      nonce: nonceOf(again),
    })
    expect(third.status).toBe(200)
  })

  test('DP-05 §9 requires a nonce at a protected resource [T425]', async () => {
    const { body } = await ask(nonceOf(await ask()))
    const first = await withKey(key, body.access_token, { app: strict })
    const nonce = nonceOf(first)
    expect(await challenged(first)).toBe('401 use_dpop_nonce')
    const second = await withKey(key, body.access_token, { app: strict, nonce })
    expect(second.status).toBe(200)
    const api = await withKey(key, body.access_token, { app: strict, path: '/api/notes' })
    expect(nonceOf(api)).not.toBe('')
    expect(await challenged(api)).toBe('401 use_dpop_nonce')
  })

  test('DP-05 §8 accepts a nonce for five minutes [T409]', async () => {
    const nonce = nonceOf(await ask())
    strict.advance(299)
    expect((await ask(nonce)).status).toBe(200)
    strict.advance(1)
    expect(refusal(await ask(nonce))).toBe('400 use_dpop_nonce')
  })

  test.each(['x', 'aaaaaaaa.bbbb', ''])(
    'DP-05 §8 rejects a nonce that the server did not issue: "%s" [T408]',
    async (nonce) => {
      const answer = await ask(nonce)
      expect(refusal(answer)).toBe('400 use_dpop_nonce')
      expect((await ask(nonceOf(answer))).status).toBe(200)
    },
  )

  test('DP-05 §8 rejects the nonce of another server, even with the same secret key [T423]', async () => {
    await using elsewhere = await startServer({ requireDpopNonce: true })
    const anotherClient = await TestClient.register(elsewhere, new UserAgent())
    elsewhere.advance((strict.now() - elsewhere.now()) / 1000)
    const nonce = nonceOf(await ask(undefined, anotherClient))
    expect(refusal(await ask(nonce))).toBe('400 use_dpop_nonce')
  })

  test('DP-05 accepts a nonce on another node, even after a rotation of the secret keys', async () => {
    const nonce = nonceOf(await ask())
    const secretKeys = [
      'another secret key of more than 32 bytes',
      'a test secret key of more than 32 bytes',
    ]
    await using node = await startServer({
      beside: strict,
      issuer: strict.issuer,
      requireDpopNonce: true,
      secretKeys,
    })
    const proof = await proofBy(key, { app: strict, nonce })
    const response = await fetch(`${node.issuer}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams(machine),
      headers: {
        dpop: proof,
        authorization: `Basic ${btoa(`${client.clientId}:${client.clientSecret}`)}`,
      },
    })
    expect(response.status).toBe(200)
  })

  test('§8 returns invalid_dpop_proof and a nonce for an otherwise invalid proof', async () => {
    const dpop = await proofBy(key, { app: strict }, { claims: { htm: 'GET' } })
    const answer = await askToken(client, machine, { dpop })
    expect(refusal(answer)).toBe('400 invalid_dpop_proof')
    expect((await ask(nonceOf(answer))).status).toBe(200)
  })

  test('§10.1, §8 requires a nonce for a pushed request', async () => {
    const at = { app: strict, path: '/oauth/par' }
    const first = await push(client, {}, { headers: { dpop: await proofBy(key, at) } })
    expect(refusal(first as never)).toBe('400 use_dpop_nonce')
    const dpop = await proofBy(key, { ...at, nonce: nonceOf(first) })
    const second = await push(client, {}, { headers: { dpop } })
    expect(second.status).toBe(201)
    nonceOf(second)
  })

  test('§11.3 issues a bearer token and no nonce if the request has no proof', async () => {
    const answer = await askToken(client, machine)
    expect([answer.status, answer.body.token_type]).toEqual([200, 'Bearer'])
    expect(answer.headers.get('dpop-nonce')).toBeNull()
  })
})

describe('the setting dpop with the value required', () => {
  let strict: TestServer
  let client: TestClient
  beforeAll(async () => {
    strict = await startServer({ dpop: 'required' })
    client = await TestClient.register(strict, new UserAgent(), { defaultScopes: ['notes:read'] })
  })
  afterAll(() => strict.close())

  test('§5 rejects a token request without a proof, without consuming the code or refresh token', async () => {
    expect(refusal(await askToken(client, machine))).toBe('400 invalid_dpop_proof')
    const code = await client.code()
    expect(refusal(await redeem(client, code))).toBe('400 invalid_dpop_proof')
    const { body } = await redeem(client, code, { dpop: key })
    expect(body.token_type).toBe('DPoP')
    expect(refusal(await refresh(client, body.refresh_token))).toBe('400 invalid_dpop_proof')
    expect((await refresh(client, body.refresh_token, { dpop: key })).status).toBe(200)
  })

  test('§5 disables the implicit grant, which would issue an unbound token', async () => {
    const answer = await client.ask({ response_type: 'token' })
    expect(responseTo(client, answer).error).toBe('unsupported_response_type')
    const metadata = await fetch(`${strict.issuer}/.well-known/oauth-authorization-server`)
    expect(await metadata.json()).toMatchObject({
      response_types_supported: ['code'],
      grant_types_supported: expect.not.arrayContaining(['implicit']),
    })
  })

  test('§7.1 returns a challenge with both schemes if the request has no credential [T420]', async () => {
    const response = await fetch(`${strict.issuer}/oauth/ping`)
    expect(response.headers.get('www-authenticate')).toMatch(
      /^Bearer realm="[^"]*"(, [a-z_]+="[^"]*")*, DPoP realm="[^"]*"(, [a-z_]+="[^"]*")*$/,
    )
    expect(response.headers.get('www-authenticate')).not.toContain('error')
  })

  test.each([{ dpop: 'required' }, { securityProfile: 'fapi2' }] as const)(
    '§7.1, RFC 9728 §5.1 returns a complete challenge for each scheme with the settings %j [T448]',
    async (settings) => {
      await using node = await startServer({ beside: strict, ...settings })
      const { status, headers } = await fetch(`${node.issuer}/api/notes`)
      const [bearer, dpop] = (headers.get('www-authenticate') ?? '').split(', DPoP ')
      const metadata = await fetch(`${node.issuer}/.well-known/oauth-protected-resource`)
      const { dpop_signing_alg_values_supported: algorithms } = (await metadata.json()) as {
        readonly dpop_signing_alg_values_supported: readonly string[]
      }
      expect(status).toBe(401)
      const rest = `scope="notes:read", resource_metadata="${node.issuer}/.well-known/oauth-protected-resource"`
      expect(bearer).toBe(`Bearer realm="${node.issuer}", ${rest}`)
      expect(dpop).toBe(`realm="${node.issuer}", algs="${algorithms.join(' ')}", ${rest}`)
    },
  )

  test('§7.1 rejects an unbound access token that was issued before DPoP was required, but accepts a personal token [T511]', async () => {
    await using before = await startServer({ beside: strict })
    const old = await TestClient.register(before, new UserAgent())
    const { body } = await askToken(old, machine)
    expect(body.token_type).toBe('Bearer')
    expect(await ping(before, body.access_token)).toBe(200)
    expect(await ping(strict, body.access_token)).toBe(401)
    expect(await ping(strict, await strict.personalToken())).toBe(200)
  })

  test('§5.1, RFC 9728 §2 announces required DPoP in the metadata of the resource', async () => {
    const read = async ({ issuer }: TestServer) => {
      const response = await fetch(`${issuer}/.well-known/oauth-protected-resource`)
      return (await response.json()) as Record<string, unknown>
    }
    expect((await read(strict)).dpop_bound_access_tokens_required).toBe(true)
    const open = await read(app)
    expect(open).not.toHaveProperty('dpop_bound_access_tokens_required')
    expect(open.dpop_signing_alg_values_supported).toEqual([
      'ES256',
      'EdDSA',
      'Ed25519',
      'PS256',
      'RS256',
    ])
  })

  test('§5.2 requires a proof from a client that registered dpop_bound_access_tokens [T415]', async () => {
    const { client: made, clientSecret } = await app.server.clients.create(
      { name: 'Strict', userId: app.user.id, redirectUris: [redirectUri] },
      {
        origin: 'registration',
        registrationToken: null,
        metadata: JSON.stringify({ dpop_bound_access_tokens: true }),
      },
    )
    const registered = { clientId: made.clientId, clientSecret, redirectUri }
    const bound = new TestClient(app, agent, registered, 'basic')
    const code = await bound.code()
    expect(refusal(await redeem(bound, code))).toBe('400 invalid_dpop_proof')
    expect((await redeem(bound, code, { dpop: key })).body.token_type).toBe('DPoP')
  })
})

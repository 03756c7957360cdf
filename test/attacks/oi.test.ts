import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postForm } from '../support/form.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { claimsOf, logIn } from '../support/session.ts'
import { ping, responseTo, TestClient, type TokenBody, UserAgent } from '../support/user-agent.ts'

// ID tokens, ID token hints, the parameter claims, and logout requests.

let app: TestServer
let agent: UserAgent
let client: TestClient
let tokens: TokenBody
let idToken: string
const returnUri = 'https://client.example/logged-out'

beforeAll(async () => {
  app = await startServer({
    openidConnect: true,
    accessTokenFormat: 'jwt',
    claims: () => ({ name: 'Ada', phone_number: '+1 555 0100' }),
  })
  agent = new UserAgent()
  await agent.logIn(app)
  client = await TestClient.register(app, agent, {
    openid: { post_logout_redirect_uris: [returnUri] },
  })
  tokens = await client.tokens({ scope: 'openid' })
  idToken = tokens.id_token ?? ''
})
afterAll(() => app.close())

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const publishedKeys = async () => {
  const answer = await fetch(`${app.issuer}/oauth/jwks`)
  return (await answer.json()) as { keys: { kid: string; alg: string; [member: string]: string }[] }
}

const unsigned = (header: object, payload: object): string => `${base64(header)}.${base64(payload)}`

const withRsa = (text: string, key: KeyObject): string =>
  `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`

/** Returns forged ID tokens of the logged-in user, by the name of the attack. */
const forgeries = async (): Promise<Readonly<Record<string, string>>> => {
  const header = decodeProtectedHeader(idToken)
  const payload = decodeJwt(idToken)
  const [, , signature = ''] = idToken.split('.')
  const { keys } = await publishedKeys()
  const own = keys.find(({ kid }) => kid === header.kid) ?? keys[0]
  const pem = createPublicKey({ key: own as never, format: 'jwk' }).export({
    type: 'spki',
    format: 'pem',
  })
  const attacker = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = attacker.publicKey.export({ format: 'jwk' })
  const confused = (secret: string | Buffer) => {
    const text = unsigned({ ...header, alg: 'HS256' }, payload)
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
  }
  const signedByAttacker = (more: object, claims: object = payload) =>
    withRsa(unsigned({ ...header, ...more }, claims), attacker.privateKey)
  const changed = (claims: object) => `${unsigned(header, { ...payload, ...claims })}.${signature}`
  return {
    'alg none': `${unsigned({ ...header, alg: 'none' }, payload)}.`,
    'alg None with the signature': `${unsigned({ ...header, alg: 'None' }, payload)}.${signature}`,
    'no signature': `${idToken.split('.').slice(0, 2).join('.')}.`,
    'HS256 with the public key as PEM': confused(pem),
    'HS256 with the public key as JWK': confused(JSON.stringify(own)),
    'HS256 with an empty key': confused(''),
    'another algorithm of the same key': `${unsigned({ ...header, alg: 'PS256' }, payload)}.${signature}`,
    'an embedded key': signedByAttacker({ jwk }),
    'an embedded key without kid': signedByAttacker({ jwk, kid: undefined }),
    'the address of a key set': signedByAttacker({ jku: 'https://evil.example/jwks' }),
    'the address of a certificate': signedByAttacker({ x5u: 'https://evil.example/x5u' }),
    'an embedded certificate': signedByAttacker({ x5c: ['MIIB'] }),
    'an unknown kid': signedByAttacker({ kid: 'unknown' }),
    'a kid that is a path': signedByAttacker({ kid: '../../../../dev/null' }),
    'a kid that is SQL': signedByAttacker({ kid: "' or '1'='1" }),
    'a critical extension': signedByAttacker({ crit: ['exp'], exp: 1 }),
    'an unencoded payload': signedByAttacker({ b64: false, crit: ['b64'] }),
    'another subject': changed({ sub: '1' }),
    'another client': changed({ aud: 'x' }),
    'the own issuer of an attacker': signedByAttacker(
      {},
      { ...payload, iss: 'https://evil.example' },
    ),
    'an access token': tokens.access_token,
    'no JSON': `${Buffer.from('{').toString('base64url')}.${base64(payload)}.${signature}`,
    'five parts': `${idToken}.a.b`,
    'a huge value': 'a.'.repeat(4_500),
  }
}

const authorizing = async (given: Record<string, string>): Promise<Record<string, string>> => {
  const page = await agent.browse(client.url({ scope: 'openid', prompt: 'none', ...given }))
  return responseTo(client, new URL(page.headers.get('location') ?? '', page.address))
}

const isLoggedIn = async (): Promise<boolean> =>
  (await agent.fetch(`${app.issuer}/account/settings/applications/`)).status === 200

describe('ID token hints', () => {
  test('OI-01 accepts the genuine hint, from which the tests below make forged hints', async () => {
    expect(await authorizing({ id_token_hint: idToken })).toHaveProperty('code')
  })

  test('OI-01 rejects every forged hint at the authorization endpoint', async () => {
    for (const [what, hint] of Object.entries(await forgeries())) {
      const answer = await authorizing({ id_token_hint: hint })
      expect([what, answer.error]).toEqual([what, 'invalid_request'])
    }
  })

  test('OI-01 neither logs out nor redirects for a forged hint', async () => {
    for (const [what, id_token_hint] of Object.entries(await forgeries())) {
      const given = { id_token_hint, post_logout_redirect_uri: returnUri }
      const url = `${app.issuer}/oauth/logout?${new URLSearchParams(given)}`
      const answer = await agent.fetch(url)
      expect([what, answer.status, answer.headers.get('location')]).toEqual([what, 400, null])
      const plain = await agent.fetch(
        `${app.issuer}/oauth/logout?${new URLSearchParams({ id_token_hint })}`,
      )
      expect([what, plain.status]).toEqual([what, 200])
    }
    expect(await isLoggedIn()).toBe(true)
  })
})

describe('tokens for other purposes', () => {
  test('OI-02 rejects an ID token as an access token, refresh token, code, session JWT or client credential', async () => {
    expect(await ping(app, idToken)).toBe(401)
    const userinfo = await fetch(`${app.issuer}/oauth/userinfo`, {
      headers: { authorization: `Bearer ${idToken}` },
    })
    expect(userinfo.status).toBe(401)
    expect((await client.refresh(idToken)).body.error).toBe('invalid_grant')
    expect((await client.redeem(idToken)).body.error).toBe('invalid_grant')
    const { cookie } = await logIn(app)
    const asJwt = await fetch(`${app.issuer}/api/me`, {
      headers: { cookie, authorization: `Bearer ${idToken}` },
    })
    expect(asJwt.status).toBeGreaterThanOrEqual(400)
    const assertion = await postForm(`${app.issuer}/oauth/token`, {
      grant_type: 'client_credentials',
      client_assertion: idToken,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    })
    expect(assertion.body.error).toBe('invalid_client')
    const { body } = await postForm(`${app.issuer}/oauth/introspect`, {
      token: idToken,
      client_id: client.clientId,
      client_secret: client.clientSecret,
    })
    expect(body).toEqual({ active: false })
  })

  test('OI-02 the types of the tokens differ, and no ID token has the audience of a resource', () => {
    expect(decodeProtectedHeader(tokens.access_token).typ).toBe('at+jwt')
    expect(decodeProtectedHeader(idToken).typ).toBe('JWT')
    expect(claimsOf(idToken).aud).toBe(client.clientId)
    expect(claimsOf(tokens.access_token).aud).toBe(app.issuer)
  })
})

describe('the parameter claims', () => {
  test.each([
    '{"__proto__":{"userinfo":{}}}',
    '{"userinfo":{"__proto__":{"essential":true}}}',
    '{"userinfo":{"constructor":null,"toString":null}}',
    '{"id_token":{"iss":{"value":"https://evil.example"},"aud":{"value":"evil"},"exp":null}}',
    `{"userinfo":${'{"a":'.repeat(100)}null${'}'.repeat(100)}}`,
  ])('OI-03 changes no protocol claim for the hostile value %.40s', async (claims) => {
    const redirect = await client.ask({ scope: 'openid', claims })
    const { code, error } = responseTo(client, redirect)
    if (code === undefined) {
      expect(error).toBe('invalid_request')
      return
    }
    const { body } = await client.redeem(code)
    const { iss, aud, exp, iat } = decodeJwt(body.id_token ?? '')
    expect([iss, aud, Number(exp) - Number(iat)]).toEqual([app.issuer, client.clientId, 3600])
  })

  test('OI-03 does not return the claims of a scope that the client may not request', async () => {
    const limited = await TestClient.register(app, agent, { allowedScopes: ['openid'] })
    const claims = JSON.stringify({ userinfo: { phone_number: { essential: true } } })
    const { access_token, scope } = await limited.tokens({ scope: 'openid', claims })
    expect(scope).toBe('openid')
    const headers = { authorization: `Bearer ${access_token}` }
    const info = await (await fetch(`${app.issuer}/oauth/userinfo`, { headers })).json()
    expect(Object.keys(info as object)).toEqual(['sub'])
  })
})

describe('mix-up and substitution', () => {
  test('OI-04 redeems a code only for its client, and names the issuer in the response', async () => {
    const other = await TestClient.register(app, agent)
    const answer = responseTo(client, await client.ask({ scope: 'openid', nonce: 'n' }))
    expect(answer.iss).toBe(app.issuer)
    expect((await other.redeem(answer.code ?? '')).body.error).toBe('invalid_grant')
    const { body } = await client.redeem(answer.code ?? '')
    expect(decodeJwt(body.id_token ?? '')).toMatchObject({ nonce: 'n', aud: client.clientId })
  })

  test('OI-04 names the same issuer and the same keys in both metadata documents', async () => {
    for (const name of ['openid-configuration', 'oauth-authorization-server']) {
      const answer = await fetch(`${app.issuer}/.well-known/${name}`)
      const metadata = (await answer.json()) as Record<string, unknown>
      expect(metadata).toMatchObject({ issuer: app.issuer, jwks_uri: `${app.issuer}/oauth/jwks` })
    }
    expect(JSON.stringify(await publishedKeys())).not.toMatch(/"(?:d|p|q|dp|dq|qi|k)":/)
  })
})

describe('logout requests', () => {
  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    '//evil.example/',
    'https://evil.example/',
    `${returnUri}@evil.example`,
    `${returnUri}/..`,
    `${returnUri}#x`,
    returnUri.toUpperCase(),
  ])('OI-05 never redirects or links to %s', async (uri) => {
    for (const id_token_hint of [idToken, '']) {
      const given = { id_token_hint, client_id: client.clientId, post_logout_redirect_uri: uri }
      const answer = await agent.fetch(`${app.issuer}/oauth/logout?${new URLSearchParams(given)}`)
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
      expect(await answer.text()).not.toContain('href="javascript')
    }
    expect(await isLoggedIn()).toBe(true)
  })

  test('OI-05 does not log out for repeated parameters, long parameters or no parameters', async () => {
    const at = (query: string) => agent.fetch(`${app.issuer}/oauth/logout?${query}`)
    expect((await at(`id_token_hint=${idToken}&id_token_hint=${idToken}`)).status).toBe(400)
    expect((await at(`client_id=a&client_id=b`)).status).toBe(400)
    const state = 'x'.repeat(5_000)
    const uri = encodeURIComponent(returnUri)
    const long = await at(`id_token_hint=${idToken}&post_logout_redirect_uri=${uri}&state=${state}`)
    expect(long.status).toBe(400)
    expect((await at('')).status).toBe(200)
    expect(await isLoggedIn()).toBe(true)
  })
})

import { readdirSync, readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { base64url } from 'jose'
import { describe, expect, test } from 'vitest'
import { newKey, proofBy } from '../support/dpop.ts'
import { type FormResponse, postForm } from '../support/form.ts'
import { register } from '../support/registration.ts'
import { remoteSite } from '../support/remote-site.ts'
import { objectUrl, requestObjectOf } from '../support/request-object.ts'
import { redirectUri, type TestServer } from '../support/server.ts'
import {
  assertionOf,
  type ClientKey,
  jwksOf,
  jwtBearer,
  newClientKey,
} from '../support/signing-client.ts'
import { TestClient, tokenRequest, UserAgent } from '../support/user-agent.ts'
import { elsewhere, from, here, start } from './support.ts'

// Clients choose their keys, and strangers send JWTs that the server verifies with these keys.

const bytes = (length: number, last = 1) =>
  base64url.encode(new Uint8Array(length).fill(0xff).with(length - 1, last))

const rsa = (n: string, e: string) => ({ kty: 'RSA', n, e })
const modulus = bytes(256)

/** Keys that the server must not use, with a word of the error. */
const refusedKeys = {
  'an RSA key with an exponent of 3,071 bits': [rsa(bytes(384), bytes(383)), 'exponent'],
  'an RSA key with an exponent of 64 bits': [rsa(modulus, bytes(8)), 'exponent'],
  'an RSA key with an exponent of 17 bits above 65537': [rsa(modulus, 'AQAD'), 'exponent'],
  'an RSA key with an even exponent': [rsa(modulus, 'AQAA'), 'exponent'],
  'an RSA key with the exponent 1': [rsa(modulus, 'AQ'), 'exponent'],
  'an RSA key with the exponent 0': [rsa(modulus, 'AA'), 'exponent'],
  'an RSA key of 1,024 bits': [rsa(bytes(128), 'AQAB'), 'bits'],
  'an RSA key of 16,384 bits': [rsa(bytes(2_048), 'AQAB'), 'bits'],
  'an RSA key with many leading zeros': [rsa(`${'A'.repeat(3_000)}${modulus}`, 'AQAB'), 'bits'],
  'an RSA key with an even modulus': [rsa(bytes(256, 2), 'AQAB'), 'odd'],
  'an EC key with P-521': [{ kty: 'EC', crv: 'P-521', x: bytes(66), y: bytes(66) }, 'type'],
  'an EC key with secp256k1': [{ kty: 'EC', crv: 'secp256k1', x: bytes(32), y: bytes(32) }, 'type'],
  'an Ed448 key': [{ kty: 'OKP', crv: 'Ed448', x: bytes(57) }, 'type'],
  'an X25519 key': [{ kty: 'OKP', crv: 'X25519', x: bytes(32) }, 'type'],
  'a symmetric key': [{ kty: 'oct', k: bytes(32) }, 'secret'],
  'a private key': [{ ...rsa(modulus, 'AQAB'), d: bytes(256) }, 'secret'],
} as const satisfies Record<string, readonly [object, string]>

type Description = { readonly error: string; readonly error_description: string }

const assertionRequest = (
  app: TestServer,
  client_assertion: string,
  address: string = here,
): Promise<FormResponse> =>
  postForm(
    `${app.issuer}/oauth/token`,
    { grant_type: 'client_credentials', client_assertion_type: jwtBearer, client_assertion },
    from(address),
  )

const signingClient = async (app: TestServer, jwks: string): Promise<string> => {
  const tokenEndpointAuthMethod = 'private_key_jwt' as const
  return (await app.client({ tokenEndpointAuthMethod, jwks, defaultScopes: ['notes:read'] }))
    .clientId
}

const keysWithoutId = (count: number): Promise<readonly ClientKey[]> =>
  Promise.all(Array.from({ length: count }, () => newClientKey('ES256', { kid: null })))

describe('keys that clients choose', () => {
  test('after the limit signedByClient, the server verifies no further signature of the client [T4669]', async () => {
    await using app = await start({ limits: { signedByClient: { points: 2, seconds: 60 } } })
    const [key, other] = [await newClientKey('ES256'), await newClientKey('ES256')]
    const clientId = await signingClient(app, JSON.stringify({ keys: [key.jwk] }))
    const statusBy = async (signer: ClientKey) =>
      (await assertionRequest(app, await assertionOf(app, clientId, signer))).status
    expect([await statusBy(key), await statusBy(other), await statusBy(key)]).toEqual([
      200, 401, 200,
    ])
    expect([await statusBy(key), await statusBy(other)]).toEqual([429, 429])
  })

  test('RFC 8725 §3.5 keys that cost much or that the server does not support are refused wherever they come from [T3400]', async () => {
    await using site = await remoteSite()
    await using app = await start({
      dynamicRegistration: 'open',
      clientIdMetadataDocuments: true,
      dangerouslyAllowPrivateAddresses: true,
      outbound: site.outbound,
      dangerouslyIgnoreLimits: true,
    })
    const key = await newClientKey('RS256')
    const dpopKey = await newKey('RS256')
    const described = async ({ body }: { readonly body: unknown }) =>
      (body as Description).error_description
    for (const [index, [name, [jwk, word]]] of Object.entries(refusedKeys).entries()) {
      // The server remembers what it fetched, so each key has its own URL.
      const [hosted, jwksUri] = [site.url(`/client/${index}`), site.url(`/keys/${index}`)]
      const { clientId: fetching } = await app.client({
        tokenEndpointAuthMethod: 'private_key_jwt',
        jwksUri,
      })
      const jwks = { keys: [{ ...jwk, kid: 'k' }] }
      site.serve(`/keys/${index}`, jwks)
      const metadata = { token_endpoint_auth_method: 'private_key_jwt', jwks }
      site.serve(`/client/${index}`, {
        client_id: hosted,
        redirect_uris: [redirectUri],
        ...metadata,
      })
      const answers = {
        registration: await described(
          await register(app, { redirect_uris: [redirectUri], ...metadata }),
        ),
        code: await app.client({ jwks: JSON.stringify(jwks) }).then(() => 'accepted', String),
        jwks_uri: await described(
          await assertionRequest(app, await assertionOf(app, fetching, key, {}, { kid: 'k' })),
        ),
        document: await described(
          await assertionRequest(app, await assertionOf(app, hosted, key, {}, { kid: 'k' })),
        ),
      }
      const proof = await proofBy(dpopKey, { app }, { header: { jwk } })
      const { clientId, clientSecret } = await app.client({ defaultScopes: ['notes:read'] })
      const bound = await tokenRequest(
        app.issuer,
        { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
        { headers: { dpop: proof } },
      )
      for (const [door, answer] of Object.entries({ ...answers, dpop: await described(bound) }))
        expect([name, door, answer]).toEqual([
          name,
          door,
          expect.stringMatching(new RegExp(`must contain a signature key|${word}`)),
        ])
    }
  })

  test('an RSA key with the exponent 3 is accepted, and so are keys of 8,192 bits [T3401]', async () => {
    await using app = await start()
    for (const jwk of [rsa(modulus, 'Aw'), rsa(bytes(1_024), 'AQAB'), rsa(modulus, 'AAEAAQ')])
      await signingClient(app, JSON.stringify({ keys: [jwk] }))
  })

  test('a set of more than 20 keys is refused, whatever its keys contain [T3402]', async () => {
    await using app = await start({ dynamicRegistration: 'open' })
    const many = Array.from({ length: 21 }, () => ({ kty: 'x' }))
    const { status, body } = await register(app, {
      redirect_uris: [redirectUri],
      jwks: { keys: many },
    })
    expect([status, body.error_description]).toEqual([400, expect.stringContaining('at most 20')])
  })
})

describe('JWTs without kid', () => {
  test('are verified with at most three keys, and the error asks for a kid, also for an unknown client [T3403]', async () => {
    await using app = await start()
    const keys = await keysWithoutId(20)
    const clientId = await signingClient(app, jwksOf(...keys))
    const send = async (key: ClientKey | undefined, id = clientId) =>
      assertionRequest(app, await assertionOf(app, id, key as ClientKey))
    for (const key of keys.slice(0, 3)) expect((await send(key)).status).toBe(200)
    const [beyond, unknown] = [await send(keys[3]), await send(keys[3], 'unknown')]
    expect(beyond.status).toBe(401)
    expect(beyond.body.error_description).toContain('send the kid of the key')
    expect(unknown.body).toEqual(beyond.body)
  })

  test('are verified with the named key of many keys [T3404]', async () => {
    await using app = await start()
    const keys = await Promise.all(Array.from({ length: 20 }, () => newClientKey()))
    const clientId = await signingClient(app, jwksOf(...keys))
    const signed = await assertionOf(app, clientId, keys[19] as ClientKey)
    expect((await assertionRequest(app, signed)).status).toBe(200)
  })

  test('a request object without kid is verified with at most three keys, and the error asks for a kid [T3405]', async () => {
    await using app = await start({ requestObjects: true })
    const agent = new UserAgent()
    await agent.logIn(app)
    const keys = await keysWithoutId(20)
    const client = await TestClient.register(app, agent, { jwks: jwksOf(...keys) })
    const send = async (key: ClientKey | undefined) => {
      const request = await requestObjectOf(client, key as ClientKey)
      return agent.browse(objectUrl(client, { request, redirect_uri: client.redirectUri }))
    }
    expect((await send(keys[2])).status).toBe(200)
    const refused = await send(keys[3])
    expect(refused.headers.get('location') ?? (await refused.text())).toMatch(
      /send(\+| |%20)the(\+| |%20)kid/,
    )
  })
})

describe('signatures that are verified in vain', () => {
  const limits = {
    wrongSecretsOfClient: { points: 3, seconds: 60 },
    wrongSecrets: { points: 5, seconds: 60 },
  }

  test('a refused request object counts towards the limits of its client and IP address [T3406]', async () => {
    await using app = await start({ requestObjects: true, limits })
    const key = await newClientKey()
    const clients = await Promise.all([1, 2].map(() => app.client({ jwks: jwksOf(key) })))
    const forged = await newClientKey()
    const send = async (number: number, signer: ClientKey, address: string = here) => {
      const { clientId } = clients[number] as { clientId: string }
      const client = { ...clients[number], app, clientId, redirectUri } as unknown as TestClient
      const asked = { iss: clientId, aud: app.issuer, client_id: clientId, response_type: 'code' }
      const claims = { ...asked, redirect_uri: redirectUri, scope: 'notes:read' }
      const request = await assertionOf(
        app,
        clientId,
        signer,
        { ...claims, sub: undefined, jti: undefined, exp: undefined },
        { kid: key.jwk.kid },
      )
      const response = await fetch(objectUrl(client, { request, redirect_uri: redirectUri }), {
        redirect: 'manual',
        headers: from(address),
      })
      await response.body?.cancel()
      const { searchParams } = new URL(response.headers.get('location') ?? '', app.issuer)
      return searchParams.get('error_description') ?? 'login'
    }
    const [ordinary, tooMany] = ['login', 'Too many requests. Try again later.']
    expect(await send(0, key)).toBe(ordinary)
    for (let count = 0; count < 3; count += 1) await send(0, forged)
    expect(await send(0, key)).toBe(tooMany)
    expect(await send(0, key, elsewhere)).toBe(ordinary)
    expect(await send(1, key)).toBe(ordinary)
    for (let count = 0; count < 2; count += 1) await send(1, forged)
    expect(await send(1, key)).toBe(tooMany)
  })

  test('an assertion with a valid signature and wrong claims counts like a wrong secret [T3407]', async () => {
    await using app = await start({ limits })
    const key = await newClientKey()
    const clientId = await signingClient(app, jwksOf(key))
    const expired = await assertionOf(app, clientId, key, { exp: 1 })
    for (let count = 0; count < 3; count += 1)
      expect((await assertionRequest(app, expired)).status).toBe(401)
    expect((await assertionRequest(app, expired)).status).toBe(429)
    const right = () => assertionOf(app, clientId, key)
    expect((await assertionRequest(app, await right(), elsewhere)).status).toBe(200)
  })

  test('a refused DPoP proof counts like a wrong grant [T3408]', async () => {
    await using app = await start({ limits: { wrongGrants: { points: 3, seconds: 60 } } })
    const { clientId, clientSecret } = await app.client({ defaultScopes: ['notes:read'] })
    const send = () =>
      tokenRequest(
        app.issuer,
        { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
        { headers: { dpop: 'a.b.c', ...from(here) } },
      )
    for (let count = 0; count < 3; count += 1) expect((await send()).status).toBe(400)
    expect((await send()).status).toBe(429)
  })
})

describe('the code that verifies signatures', () => {
  /** Each file that verifies with a public key, and why nobody can make it expensive. */
  const verifying = {
    'crypto/dpop-proof.ts': 'The key of a proof passes keyProblem.',
    'crypto/passwords/argon2.ts':
      'Of the namespace, only argon2 is used. Older versions of Node lack it.',
    'model/client-keys.ts': 'The keys of clients pass foreignKeyProblem.',
    'model/p256-key.ts': 'The operator configures the key, and only P-256 is accepted.',
    'protocol/client-authentication/client-jwt.ts': 'Stored keys pass foreignKeyProblem.',
    'protocol/extensions/leak-reports.ts': 'The operator configures the key.',
    'protocol/openid/id-token-hint.ts': 'The keys are the keys of the server.',
    'protocol/session/jwt.ts': 'The keys are the symmetric keys of the server.',
    'records/keys/signing-keys.ts': 'The keys are the keys of the server.',
  }
  const primitives =
    /^(?:.*Verify|.*Decrypt|EmbeddedJWK|create(?:Local|Remote)JWKSet|import.*|createPublicKey|createVerify|verify|X509Certificate|subtle|webcrypto)$/

  test('is in files that use acceptable keys only [T3409]', () => {
    const root = resolve(import.meta.dirname, '../../src')
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.startsWith('cli/doctor'))
      .map((name) => resolve(root, name))
    const found = files.filter((file) => {
      const imports = readFileSync(file, 'utf8').matchAll(
        /^import (?!type\b)([^'"]*) from '(?:jose|node:crypto)'/gm,
      )
      // A namespace contains all primitives. A member may have another name in the file.
      const names = [...imports].flatMap(([, list = '']) =>
        list.startsWith('{')
          ? list.split(/[{},]/).map((one) => one.trim().replace(/ as .*/, ''))
          : 'verify',
      )
      return names.some((name) => primitives.test(name))
    })
    expect(found.map((file) => relative(root, file)).sort()).toEqual(Object.keys(verifying))
  })
})

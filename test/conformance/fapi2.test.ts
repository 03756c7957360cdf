import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Changed, type DpopKey, newKey, proofBy, withKey } from '../support/dpop.ts'
import { postForm } from '../support/form.ts'
import { person, RelyingParty } from '../support/relying-party.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  assertionOf,
  type Claims,
  type ClientKey,
  jwksOf,
  jwtBearer,
  newClientKey,
} from '../support/signing-client.ts'
import { TestClient, UserAgent } from '../support/user-agent.ts'

// The modules of the plan FAPI 2.0 Security Profile (final) of the OpenID Foundation's conformance suite, in our own words,
// with private_key_jwt and DPoP. Each title is the name of the module without "fapi2-security-profile-final-".

let app: TestServer
let keys: readonly ClientKey[]
beforeAll(async () => {
  app = await startServer({
    securityProfile: 'fapi2',
    openidConnect: true,
    dangerouslyIgnoreLimits: true,
    claims: () => person,
  })
  keys = await Promise.all([newClientKey('PS256'), newClientKey('PS256'), newClientKey('RS256')])
})
afterAll(() => app.close())

type Given = Record<string, string | undefined>

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

/** How a request authenticates. Undefined omits the assertion or the proof. */
interface Proofs {
  readonly assertion?: string | undefined
  readonly dpop?: string | undefined
}

/** A client of the profile with its own browser and DPoP key. */
class FapiClient extends RelyingParty {
  readonly key: ClientKey
  readonly dpopKey: DpopKey

  constructor(client: TestClient, key: ClientKey, dpopKey: DpopKey) {
    super(client)
    this.key = key
    this.dpopKey = dpopKey
  }

  static async of(key: ClientKey): Promise<FapiClient> {
    const redirectUris = ['https://client.example/cb']
    const grantTypes = ['authorization_code', 'refresh_token', 'client_credentials']
    const allowedScopes = [
      'notes:read',
      'openid',
      'profile',
      'email',
      'address',
      'phone',
      'offline_access',
    ]
    const keys = { tokenEndpointAuthMethod: 'private_key_jwt', jwks: jwksOf(key) } as const
    const made = await app.client({ redirectUris, grantTypes, allowedScopes, ...keys })
    const ids = { ...made, redirectUri: redirectUris[0] ?? '' }
    return new FapiClient(
      new TestClient(app, new UserAgent(), ids, 'none'),
      key,
      await newKey('PS256'),
    )
  }

  assertion(claims: Claims = {}, header: Readonly<Record<string, unknown>> = {}): Promise<string> {
    return assertionOf(app, this.client.clientId, this.key, claims, header)
  }

  proof(path: string, changed: Changed = {}, key = this.dpopKey): Promise<string> {
    return proofBy(key, { app, path }, changed)
  }

  async #post(path: string, given: Given, proofs: Proofs): Promise<Answer> {
    const { assertion = await this.assertion(), dpop } = proofs
    const isNamed = 'assertion' in proofs && proofs.assertion === undefined
    const credentials = isNamed
      ? {}
      : { client_assertion_type: jwtBearer, client_assertion: assertion }
    const fields = Object.entries({ ...credentials, ...given }).filter(
      ([, value]) => value !== undefined,
    )
    return postForm(`${app.issuer}${path}`, fields as [string, string][], dpop ? { dpop } : {})
  }

  /** Pushes an authorization request. */
  push(given: Given = {}, proofs: Proofs = {}): Promise<Answer> {
    const { challenge } = this.client.pkce
    const url = new URL(
      this.url({ code_challenge: challenge, code_challenge_method: 'S256', ...given }),
    )
    return this.#post('/oauth/par', Object.fromEntries(url.searchParams), proofs)
  }

  /** Returns the URL of the authorization request for a pushed request. */
  reference(request_uri: unknown, given: Given = {}): string {
    const client_id = this.client.clientId
    const pairs = Object.entries({ client_id, request_uri: String(request_uri), ...given })
    return `${app.issuer}/oauth/authorize?${new URLSearchParams(pairs as [string, string][])}`
  }

  /** Pushes a request, and opens it in the browser. @returns the parameters that the client received */
  async authorize(given: Given = {}, proofs: Proofs = {}): Promise<Record<string, string>> {
    const { status, body } = await this.push(given, proofs)
    expect(status, JSON.stringify(body)).toBe(201)
    const { params } = await this.open(this.reference(body.request_uri))
    expect(params?.iss).toBe(app.issuer)
    return { ...params }
  }

  async token(given: Given, proofs: Proofs = {}): Promise<Answer> {
    const dpop = 'dpop' in proofs ? proofs.dpop : await this.proof('/oauth/token')
    return this.#post('/oauth/token', given, { ...proofs, dpop })
  }

  /** Sends the token request for a code. */
  exchange(code: string | undefined, given: Given = {}, proofs: Proofs = {}): Promise<Answer> {
    const { redirectUri: redirect_uri, pkce } = this.client
    return this.token(
      {
        grant_type: 'authorization_code',
        code,
        redirect_uri,
        code_verifier: pkce.verifier,
        ...given,
      },
      proofs,
    )
  }

  /** Completes the flow. @returns the body of the token response */
  async tokens(given: Given = {}, proofs: Proofs = {}): Promise<Record<string, string>> {
    const { code } = await this.authorize(given, proofs)
    const { status, body } = await this.exchange(code)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.token_type).toBe('DPoP')
    return body as Record<string, string>
  }

  /** Calls a protected resource. @returns the status */
  async call(accessToken: unknown, changed: Changed = {}, key = this.dpopKey): Promise<number> {
    return (await withKey(key, String(accessToken), { app }, changed)).status
  }
}

const [first, second] = [0, 1].map((at) => () => FapiClient.of(keys[at] as ClientKey)) as [
  () => Promise<FapiClient>,
  () => Promise<FapiClient>,
]

const seconds = (ahead: number): number => Math.floor(app.now() / 1000) + ahead
const refusal = ({ status, body }: Answer): string => `${status} ${body.error}`
const iat = (ahead: number): Changed => ({ claims: { iat: seconds(ahead) } })
const invalidClient = '401 invalid_client'
const invalidGrant = '400 invalid_grant'
const invalidRequest = '400 invalid_request'
const machine = { grant_type: 'client_credentials', scope: 'notes:read' }

describe('both plans, with a user and with client_credentials', () => {
  const modules: Readonly<Record<string, (client: FapiClient) => Promise<void>>> = {
    async 'discovery-end-point-verification'() {
      const answer = await fetch(`${app.issuer}/.well-known/openid-configuration`)
      expect(await answer.json()).toMatchObject({
        issuer: app.issuer,
        pushed_authorization_request_endpoint: `${app.issuer}/oauth/par`,
        require_pushed_authorization_requests: true,
        token_endpoint_auth_methods_supported: ['private_key_jwt'],
        code_challenge_methods_supported: ['S256'],
        response_types_supported: ['code'],
        authorization_response_iss_parameter_supported: true,
        dpop_signing_alg_values_supported: expect.arrayContaining(['PS256', 'ES256']),
        id_token_signing_alg_values_supported: ['ES256', 'EdDSA'],
      })
    },

    async 'happy-flow'(client) {
      const tokens = await client.tokens({ nonce: 'n' })
      expect((await client.claims({ id_token: tokens.id_token ?? '' })).nonce).toBe('n')
      expect(await client.call(tokens.access_token)).toBe(200)
      // The server rejects the token without its key.
      const authorization = `Bearer ${tokens.access_token}`
      const stolen = await fetch(`${app.issuer}/oauth/ping`, { headers: { authorization } })
      expect(stolen.status).toBe(401)
      expect(await client.call(tokens.access_token, {}, await newKey())).toBe(401)
      const { status, body } = await client.token(machine)
      expect([status, await client.call(body.access_token)]).toEqual([200, 200])
      await (await second()).tokens()
    },

    async 'access-token-type-header-case-sensitivity'(client) {
      const { access_token = '' } = await client.tokens()
      for (const scheme of ['DPoP', 'dpop', 'DPOP']) {
        const dpop = await proofBy(client.dpopKey, {
          app,
          path: '/oauth/ping',
          method: 'GET',
          accessToken: access_token,
        })
        const headers = { authorization: `${scheme} ${access_token}`, dpop }
        expect((await fetch(`${app.issuer}/oauth/ping`, { headers })).status).toBe(200)
      }
    },

    async 'check-dpop-proof-nbf-exp'(client) {
      const claims = { nbf: seconds(-5), exp: seconds(60) }
      const dpop = await client.proof('/oauth/token', { claims })
      expect((await client.token(machine, { dpop })).status).toBe(200)
    },

    async 'ensure-dpopproof-with-iat-10seconds-before-succeeds'(client) {
      await withProofsOf(client, -10)
    },

    async 'ensure-dpopproof-with-iat-10seconds-after-succeeds'(client) {
      await withProofsOf(client, 10)
    },

    async 'ensure-client-id-in-token-endpoint'(client) {
      const { clientId: client_id } = (await second()).client
      expect(refusal(await client.token({ ...machine, client_id }))).toBe(invalidRequest)
    },

    async 'ensure-holder-of-key-required'(client) {
      const { code } = await client.authorize()
      expect(refusal(await client.exchange(code, {}, { dpop: undefined }))).toBe(
        '400 invalid_dpop_proof',
      )
      expect((await client.exchange(code)).status).toBe(200)
    },

    async 'ensure-signed-client-assertion-with-RS256-fails'() {
      const client = await FapiClient.of(keys[2] as ClientKey)
      expect(refusal(await client.token(machine))).toBe(invalidClient)
    },

    async 'ensure-client-assertion-in-token-endpoint'(client) {
      const { code } = await client.authorize()
      const client_id = client.client.clientId
      const answer = await client.exchange(code, { client_id }, { assertion: undefined })
      expect(refusal(answer)).toBe(invalidClient)
    },

    async 'ensure-client-assertion-with-exp-is-5-minutes-in-past-fails'(client) {
      const assertion = await client.assertion({ iat: seconds(-360), exp: seconds(-300) })
      expect(refusal(await client.token(machine, { assertion }))).toBe(invalidClient)
    },

    async 'ensure-client-assertion-with-wrong-aud-fails'(client) {
      const assertion = await client.assertion({ aud: 'https://other.example' })
      expect(refusal(await client.token(machine, { assertion }))).toBe(invalidClient)
    },

    async 'ensure-client-assertion-with-no-sub-fails'(client) {
      const assertion = await client.assertion({ sub: undefined })
      expect(refusal(await client.token(machine, { assertion }))).toBe(invalidClient)
    },

    async 'dpop-negative-tests'(client) {
      const { body } = await client.token(machine)
      const token = String(body.access_token)
      const wrong: readonly Changed[] = [
        { claims: { htm: 'PUT' } },
        { claims: { htu: 'https://other.example/' } },
        { claims: { iat: undefined } },
        { claims: { jti: undefined } },
        { claims: { ath: 'x' } },
        { claims: { ath: undefined } },
        iat(-3600),
        iat(3600),
        { header: { typ: 'JWT' } },
        { header: { jwk: undefined } },
        { header: { jwk: client.dpopKey.privateJwk } },
      ]
      for (const changed of wrong) {
        expect(await client.call(token, changed), JSON.stringify(changed)).toBe(401)
        if (changed.claims && 'ath' in changed.claims) continue
        const dpop = await client.proof('/oauth/token', changed)
        expect(refusal(await client.token(machine, { dpop }))).toBe('400 invalid_dpop_proof')
      }
      expect(await client.call(token)).toBe(200)
    },
  }

  test.each(Object.entries(modules))('%s [T2757]', async (_module, run) => run(await first()))
})

/** Uses proofs whose `iat` differs from the time of the server at every endpoint. */
const withProofsOf = async (client: FapiClient, ahead: number): Promise<void> => {
  const pushed = await client.push({}, { dpop: await client.proof('/oauth/par', iat(ahead)) })
  const { params } = await client.open(client.reference(pushed.body.request_uri))
  const dpop = await client.proof('/oauth/token', iat(ahead))
  const { status, body } = await client.exchange(params?.code, {}, { dpop })
  expect(status).toBe(200)
  expect(await client.call(body.access_token, iat(ahead))).toBe(200)
}

describe('the plans with a user, with and without OpenID Connect', () => {
  const modules: Readonly<Record<string, (client: FapiClient) => Promise<void>>> = {
    async 'user-rejects-authentication'(client) {
      const { body } = await client.push({ state: 'x'.repeat(128) })
      const answer = await client.agent.authorize(app, client.reference(body.request_uri), 'no')
      expect(answer.searchParams.get('error')).toBe('access_denied')
      expect(answer.searchParams.get('state')).toBe('x'.repeat(128))
    },

    async 'ensure-authorization-request-without-state-success'(client) {
      const params = await client.authorize({ state: undefined })
      expect(Object.keys(params).sort()).toEqual(['code', 'iss'])
    },

    async 'ensure-authorization-request-without-nonce-success'(client) {
      const { id_token } = await client.tokens({ nonce: undefined })
      expect(await client.claims({ id_token: id_token ?? '' })).not.toHaveProperty('nonce')
    },

    async 'ensure-authorization-request-with-64-char-nonce-success'(client) {
      await returnsNonce(client, 'n'.repeat(64))
    },

    async 'ensure-authorization-request-with-long-nonce'(client) {
      await returnsNonce(client, 'n'.repeat(384))
    },

    async 'ensure-authorization-request-with-long-state'(client) {
      const state = 's'.repeat(384)
      expect((await client.authorize({ state })).state).toBe(state)
    },

    async 'ensure-other-scope-order-succeeds'(client) {
      await client.tokens({ scope: 'notes:read profile openid' })
    },

    async 'test-claims-parameter-identity-claims'(client) {
      const asked = { name: { essential: true }, birthdate: null, phone_number: null }
      const { id_token = '', access_token = '' } = await client.tokens({
        claims: JSON.stringify({ id_token: asked, userinfo: asked }),
      })
      const { name, birthdate, phone_number } = person
      const expected = { name, birthdate, phone_number }
      expect(await client.claims({ id_token })).toMatchObject(expected)
      const at = { app, path: '/oauth/userinfo' }
      const answer = await withKey(client.dpopKey, access_token, at)
      expect(await answer.json()).toMatchObject(expected)
    },

    async 'ensure-mismatched-dpop-jkt-fails'(client) {
      const { thumbprint } = await newKey()
      const dpop = await client.proof('/oauth/par')
      const answer = await client.push({ dpop_jkt: thumbprint }, { dpop })
      expect(refusal(answer)).toBe('400 invalid_dpop_proof')
    },

    async 'ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt'(client) {
      const dpop = await client.proof('/oauth/par', {}, await newKey())
      const { code } = await client.authorize({}, { dpop })
      expect(refusal(await client.exchange(code))).toMatch(/^400 invalid_(?:grant|dpop_proof)$/)
    },

    async 'ensure-token-endpoint-fails-with-mismatched-dpop-jkt'(client) {
      const { code } = await client.authorize({ dpop_jkt: (await newKey()).thumbprint })
      expect(refusal(await client.exchange(code))).toMatch(/^400 invalid_(?:grant|dpop_proof)$/)
    },

    async 'ensure-dpopproof-at-par-endpoint-binding-success'(client) {
      await client.tokens({}, { dpop: await client.proof('/oauth/par') })
    },

    async 'ensure-dpop-auth-code-binding-success'(client) {
      const dpop = await client.proof('/oauth/par')
      await client.tokens({ dpop_jkt: client.dpopKey.thumbprint }, { dpop })
    },

    async 'ensure-different-nonce-inside-and-outside-request-object'(client) {
      const { body } = await client.push({ nonce: 'inside' })
      const { params } = await client.open(client.reference(body.request_uri, { nonce: 'outside' }))
      const { body: tokens } = await client.exchange(params?.code)
      expect((await client.claims({ id_token: String(tokens.id_token) })).nonce).toBe('inside')
    },

    async 'ensure-different-state-inside-and-outside-request-object'(client) {
      const { body } = await client.push({ state: 'inside' })
      const { params } = await client.open(client.reference(body.request_uri, { state: 'outside' }))
      expect(params?.state).toBe('inside')
    },

    async 'state-only-outside-request-object-not-used'(client) {
      const { body } = await client.push({ state: undefined })
      const { params } = await client.open(client.reference(body.request_uri, { state: 'outside' }))
      expect(params).not.toHaveProperty('state')
    },

    async 'ensure-request-object-without-redirect-uri-fails'(client) {
      expect(refusal(await client.push({ redirect_uri: undefined }))).toBe(invalidRequest)
    },

    async 'ensure-redirect-uri-in-authorization-request'(client) {
      expect(refusal(await client.push({ redirect_uri: '' }))).toBe(invalidRequest)
    },

    async 'plain-fapi-tolerate-unregistered-redirect-uri'(client) {
      const redirect_uri = `${client.client.redirectUri}/x`
      expect(refusal(await client.push({ redirect_uri }))).toBe(invalidRequest)
    },

    async 'ensure-unsigned-authorization-request-without-using-par-fails'(client) {
      const { challenge } = client.client.pkce
      const { params } = await client.visit({
        code_challenge: challenge,
        code_challenge_method: 'S256',
      })
      expect(params?.error).toBe('invalid_request')
    },

    async 'ensure-response-type-code-idtoken-fails'(client) {
      const answer = await client.push({ response_type: 'code id_token' })
      expect(refusal(answer)).toBe('400 unsupported_response_type')
    },

    async 'ensure-response-type-token-fails'(client) {
      const answer = await client.push({ response_type: 'token' })
      expect(refusal(answer)).toBe('400 unsupported_response_type')
    },

    async 'ensure-authorization-code-is-bound-to-client'(client) {
      const { code } = await client.authorize()
      const other = await second()
      const { verifier: code_verifier } = client.client.pkce
      expect(refusal(await other.exchange(code, { code_verifier }))).toBe(invalidGrant)
    },

    async 'attempt-reuse-authorization-code-after-one-second'(client) {
      const { code } = await client.authorize()
      const { body } = await client.exchange(code)
      app.advance(1)
      expect(refusal(await client.exchange(code))).toBe(invalidGrant)
      expect(await client.call(body.access_token)).toBe(401)
    },

    async 'ensure-token-endpoint-fails-with-expired-auth-code'(client) {
      const { code } = await client.authorize()
      app.advance(62)
      expect(refusal(await client.exchange(code))).toBe(invalidGrant)
    },

    async 'refresh-token'(client) {
      const { refresh_token } = await client.tokens({ scope: 'openid offline_access' })
      const refresh = { grant_type: 'refresh_token', refresh_token }
      const client_id = client.client.clientId
      const bare = await client.token({ ...refresh, client_id }, { assertion: undefined })
      expect(refusal(bare)).toBe(invalidClient)
      expect(refusal(await (await second()).token(refresh))).toBe(invalidGrant)
      const { status, body } = await client.token(refresh)
      expect([status, await client.call(body.access_token)]).toEqual([200, 200])
      // The profile does not rotate refresh tokens, and a confidential client may change its key.
      app.advance(30)
      const key = await newKey()
      const again = await client.token(refresh, {
        dpop: await client.proof('/oauth/token', {}, key),
      })
      expect([again.status, await client.call(again.body.access_token, {}, key)]).toEqual([
        200, 200,
      ])
    },

    async 'par-ensure-reused-request-uri-prior-to-auth-completion-succeeds'(client) {
      const { body } = await client.push()
      const url = client.reference(body.request_uri)
      expect((await client.agent.browse(url)).address).toContain('/login')
      expect((await client.open(url)).params).toHaveProperty('code')
    },

    async 'par-attempt-reuse-request_uri'(client) {
      const { body } = await client.push()
      const url = client.reference(body.request_uri)
      expect((await client.open(url)).params).toHaveProperty('code')
      expect(await client.open(url)).toMatchObject({ params: undefined, status: 400 })
    },

    async 'par-attempt-to-use-expired-request_uri'(client) {
      const { body } = await client.push()
      app.advance(Number(body.expires_in) + 1)
      const visit = await client.open(client.reference(body.request_uri))
      expect(visit).toMatchObject({ params: undefined, status: 400 })
    },

    async 'par-attempt-to-use-request_uri-for-different-client'(client) {
      const { body } = await client.push()
      const other = await second()
      const visit = await other.open(other.reference(body.request_uri))
      expect(visit).toMatchObject({ params: undefined, status: 400 })
    },

    async 'par-ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted'(client) {
      const assertion = await client.assertion({ iat: seconds(8), nbf: seconds(8) })
      expect((await client.push({}, { assertion })).status).toBe(201)
    },

    async 'par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails'(client) {
      const ahead = { iat: seconds(70), nbf: seconds(70), exp: seconds(130) }
      expect(refusal(await client.push({}, { assertion: await client.assertion(ahead) }))).toBe(
        invalidClient,
      )
    },

    async 'par-authorization-request-containing-request_uri-form-param'(client) {
      const request_uri = 'urn:ietf:params:oauth:request_uri:x'
      expect(refusal(await client.push({ request_uri }))).toBe(invalidRequest)
    },

    async 'par-attempt-invalid-http-method'() {
      for (const method of ['GET', 'PUT'])
        expect((await fetch(`${app.issuer}/oauth/par`, { method })).status).toBe(405)
    },

    async 'par-ensure-pkce-required'(client) {
      const without = { code_challenge: undefined, code_challenge_method: undefined }
      expect(refusal(await client.push(without))).toBe(invalidRequest)
    },

    async 'par-plain-pkce-rejected'(client) {
      expect(refusal(await client.push({ code_challenge_method: 'plain' }))).toBe(invalidRequest)
    },

    async 'ensure-pkce-code-verifier-required'(client) {
      const { code } = await client.authorize()
      expect(refusal(await client.exchange(code, { code_verifier: undefined }))).toBe(invalidGrant)
    },

    async 'incorrect-pkce-code-verifier-rejected'(client) {
      const { code } = await client.authorize()
      const code_verifier = 'x'.repeat(43)
      expect(refusal(await client.exchange(code, { code_verifier }))).toBe(invalidGrant)
    },

    async 'par-without-duplicate-parameters'(client) {
      const { body } = await client.push()
      const url = client.reference(body.request_uri)
      expect([...new URL(url).searchParams.keys()]).toEqual(['client_id', 'request_uri'])
      expect((await client.open(url)).params).toHaveProperty('code')
    },

    async 'par-test-array-as-audience-fails'(client) {
      await refusesAudience(client, [app.issuer])
    },

    async 'par-test-par-endpoint-url-as-audience-fails'(client) {
      await refusesAudience(client, `${app.issuer}/oauth/par`)
    },

    async 'par-test-token-endpoint-url-as-audience-fails'(client) {
      await refusesAudience(client, `${app.issuer}/oauth/token`)
    },
  }

  test.each(Object.entries(modules))('%s [T2758]', async (_module, run) => run(await first()))
})

const returnsNonce = async (client: FapiClient, nonce: string): Promise<void> => {
  const { id_token } = await client.tokens({ nonce })
  expect((await client.claims({ id_token: id_token ?? '' })).nonce).toBe(nonce)
}

const refusesAudience = async (client: FapiClient, aud: unknown): Promise<void> => {
  const assertion = await client.assertion({ aud })
  expect(refusal(await client.push({}, { assertion }))).toBe(invalidClient)
}

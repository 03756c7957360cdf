import { randomUUID } from 'node:crypto'
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Information, register, registered } from '../support/registration.ts'
import { RelyingParty, requestObject } from '../support/relying-party.ts'
import { type RemoteSite, remoteSite } from '../support/remote-site.ts'
import { signedClaims } from '../support/request-object.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  assertionOf,
  type ClientKey,
  jwksOf,
  jwtBearer,
  newClientKey,
} from '../support/signing-client.ts'
import { TestClient, type TokenResponse, tokenRequest, UserAgent } from '../support/user-agent.ts'

// The modules of the plan Dynamic of the OpenID Foundation's conformance suite, in our own words. Each title is the name of
// the module.

const callback = 'https://client.example/cb'

let site: RemoteSite
let app: TestServer
let key: ClientKey
beforeAll(async () => {
  site = await remoteSite()
  key = await newClientKey('RS256')
  app = await startServer({
    openidConnect: true,
    allowFrontChannelIdTokens: true,
    dynamicRegistration: 'open',
    requestObjects: true,
    outbound: site.outbound,
    dangerouslyAllowPrivateAddresses: true,
    dangerouslyIgnoreLimits: true,
    signingKeyExpiresIn: 86_400,
  })
})
afterAll(async () => {
  await app.close()
  await site.close()
})

/** Registers a client that authenticates with `private_key_jwt`. */
const dynamicClient = (metadata: Record<string, unknown> = {}): Promise<Information> =>
  registered(app, {
    redirect_uris: [callback],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'private_key_jwt',
    ...('jwks_uri' in metadata ? {} : { jwks: JSON.parse(jwksOf(key)) }),
    ...metadata,
  })

const partyOf = ({ client_id, redirect_uris }: Information): RelyingParty => {
  const [redirectUri = ''] = redirect_uris as readonly string[]
  const ids = { clientId: client_id, clientSecret: '', redirectUri }
  return new RelyingParty(new TestClient(app, new UserAgent(), ids, 'none'))
}

const party = async (metadata: Record<string, unknown> = {}): Promise<RelyingParty> =>
  partyOf(await dynamicClient(metadata))

const askWithKey = async (
  { client }: RelyingParty,
  given: Record<string, string | undefined>,
  own = key,
  claims = {},
): Promise<TokenResponse> =>
  (await tokenRequest(app.issuer, {
    client_assertion_type: jwtBearer,
    client_assertion: await assertionOf(app, client.clientId, own, claims),
    ...given,
  })) as unknown as TokenResponse

/** Completes the code flow with an assertion of the key. */
const logIn = async (
  rp: RelyingParty,
  given: Record<string, string | undefined> = {},
  own = key,
  claims = {},
) => {
  const { params } = await rp.visit(given)
  const code = { grant_type: 'authorization_code', code: params?.code }
  const sent = { ...code, redirect_uri: rp.client.redirectUri }
  const { status, body } = await askWithKey(rp, sent, own, claims)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

const isRefused = async (rp: RelyingParty, given: Record<string, string | undefined>) => {
  const { params, status } = await rp.visit(given)
  expect([params, status]).toEqual([undefined, 400])
}

const refusedMetadata = async (metadata: object): Promise<string | undefined> => {
  const { status, body } = await register(app, { redirect_uris: [callback], ...metadata })
  expect(status).toBe(400)
  return body.error as string
}

interface PublishedKey {
  readonly kid: string
}

const keysOfServer = async (): Promise<readonly PublishedKey[]> => {
  const answer = await fetch(`${app.issuer}/oauth/jwks`)
  const { keys } = (await answer.json()) as { readonly keys: readonly PublishedKey[] }
  return keys
}

const modules: Readonly<Record<string, () => Promise<void>>> = {
  async 'oidcc-idtoken-rs256'() {
    const rp = await party({ id_token_signed_response_alg: 'RS256' })
    const tokens = await logIn(rp)
    expect(decodeProtectedHeader(tokens.id_token ?? '').alg).toBe('RS256')
    await rp.claims(tokens)
  },

  async 'oidcc-idtoken-unsigned'() {
    const metadata = { id_token_signed_response_alg: 'none' }
    expect(await refusedMetadata(metadata)).toBe('invalid_client_metadata')
  },

  async 'oidcc-userinfo-rs256'() {
    const rp = await party({ userinfo_signed_response_alg: 'RS256' })
    const answer = await rp.userinfo(await logIn(rp))
    expect(answer.headers.get('content-type')).toBe('application/jwt')
    const keys = createRemoteJWKSet(new URL(`${app.issuer}/oauth/jwks`))
    const expected = { issuer: app.issuer, audience: rp.client.clientId, algorithms: ['RS256'] }
    const { payload } = await jwtVerify(await answer.text(), keys, expected)
    expect(payload.sub).toBe(String(app.user.id))
  },

  async 'oidcc-ensure-redirect-uri-in-authorization-request'() {
    const rp = await party({ redirect_uris: [callback, `${callback}2`] })
    await isRefused(rp, { redirect_uri: undefined })
  },

  async 'oidcc-redirect-uri-query-OK'() {
    const rp = await party({ redirect_uris: [`${callback}?foo=bar`] })
    expect((await rp.visit()).params).toMatchObject({ foo: 'bar', code: expect.any(String) })
  },

  async 'oidcc-redirect-uri-query-mismatch'() {
    const rp = await party({ redirect_uris: [`${callback}?foo=bar`] })
    await isRefused(rp, { redirect_uri: `${callback}?bar=foo` })
  },

  async 'oidcc-redirect-uri-query-added'() {
    await isRefused(await party(), { redirect_uri: `${callback}?foo=bar` })
  },

  async 'oidcc-redirect-uri-regfrag'() {
    const metadata = { redirect_uris: [`${callback}#foobar`] }
    expect(await refusedMetadata(metadata)).toBe('invalid_redirect_uri')
  },

  async 'oidcc-discovery-endpoint-verification'() {
    const answer = await fetch(`${app.issuer}/.well-known/openid-configuration`)
    const metadata = (await answer.json()) as Record<string, unknown>
    expect(metadata).toMatchObject({
      registration_endpoint: `${app.issuer}/oauth/register`,
      grant_types_supported: expect.arrayContaining(['authorization_code', 'implicit']),
    })
    // OpenID Connect Core §15.2
    expect(metadata.response_types_supported).toEqual(
      expect.arrayContaining(['code', 'id_token', 'id_token token']),
    )
  },

  async 'oidcc-server'() {
    const [one, two] = [await party(), await party()]
    const claims = await one.claims(await logIn(one))
    expect((await two.claims(await logIn(two))).sub).toBe(claims.sub)
  },

  async 'oidcc-registration-logo-uri'() {
    const logo_uri = 'https://client.example/logo.png'
    const information = await dynamicClient({ logo_uri })
    expect(information.logo_uri).toBe(logo_uri)
    await logIn(partyOf(information))
  },

  async 'oidcc-registration-policy-uri'() {
    await showsLink({ policy_uri: 'https://client.example/privacy' })
  },

  async 'oidcc-registration-tos-uri'() {
    await showsLink({ tos_uri: 'https://client.example/terms' })
  },

  async 'oidcc-registration-jwks-uri'() {
    site.serve('/keys.json', jwksOf(key))
    const rp = await party({ jwks_uri: site.url('/keys.json') })
    await rp.claims(await logIn(rp))
  },

  async 'oidcc-registration-sector-uri'() {
    site.serve('/sector.json', [callback, 'https://client.example/other'])
    await dynamicClient({ sector_identifier_uri: site.url('/sector.json') })
  },

  async 'oidcc-registration-sector-bad'() {
    site.serve('/other.json', ['https://client.example/other'])
    const metadata = { sector_identifier_uri: site.url('/other.json') }
    expect(await refusedMetadata(metadata)).toBe('invalid_client_metadata')
  },

  async 'oidcc-server-rotate-keys'() {
    const before = await keysOfServer()
    app.advance(86_401)
    const after = await keysOfServer()
    const ids = before.map(({ kid }) => kid)
    expect(after.filter(({ kid }) => !ids.includes(kid))).toHaveLength(3)
    expect(after).toEqual(expect.arrayContaining([...before]))
  },

  async 'oidcc-refresh-token-rp-key-rotation'() {
    site.serve('/rotated.json', jwksOf(key))
    const rp = await party({ jwks_uri: site.url('/rotated.json') })
    const tokens = await logIn(rp, { scope: 'openid offline_access', prompt: 'consent' })
    const next = await newClientKey('RS256')
    site.serve('/rotated.json', jwksOf(next))
    app.advance(60)
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
    expect((await askWithKey(rp, refresh, next)).status).toBe(200)
  },

  // The suite skips this module, because its client registers `none`, and the metadata does not list `none`.
  async 'oidcc-request-uri-unsigned'() {
    const answer = await fetch(`${app.issuer}/.well-known/openid-configuration`)
    const metadata = (await answer.json()) as Record<string, unknown>
    expect(metadata.request_uri_parameter_supported).toBe(true)
    expect(metadata.request_object_signing_alg_values_supported).not.toContain('none')
    const request_uri = newRequestUri()
    const metadataOfClient = { request_uris: [request_uri], request_object_signing_alg: 'none' }
    const rp = await party(metadataOfClient)
    serveObject(request_uri, requestObject(claimsOf(rp)))
    await rp.claims(await logIn(rp, { request_uri, ...onlyInside }))
    const unregistered = await party({ request_uris: [request_uri] })
    serveObject(request_uri, requestObject(claimsOf(unregistered)))
    const { params } = await unregistered.visit({ request_uri, ...onlyInside })
    expect(params?.error).toBe('invalid_request_object')
  },

  async 'oidcc-request-uri-signed-rs256'() {
    const request_uri = newRequestUri()
    const rp = await party({ request_uris: [request_uri], request_object_signing_alg: 'RS256' })
    const claims = { ...claimsOf(rp), aud: app.issuer, iss: rp.client.clientId }
    serveObject(request_uri, await signedClaims(claims, key))
    const { params } = await rp.visit({ request_uri, ...onlyInside })
    expect(params).toMatchObject({ state: 'xyz', code: expect.any(String) })
    const id = await rp.claims(await logIn(rp, { request_uri, ...onlyInside }))
    expect(id.nonce).toBe('n-0S6')
  },

  // The suite also skips this module, because the metadata does not list `none`.
  async 'oidcc-ensure-request-object-with-redirect-uri'() {
    const rp = await party({ request_object_signing_alg: 'none' })
    const request = requestObject(claimsOf(rp))
    const { params } = await rp.visit({ redirect_uri: `${callback}_invalid`, request })
    expect(params).toHaveProperty('code')
    await isRefused(await party(), { redirect_uri: `${callback}_invalid`, request })
  },

  async 'oidcc-refresh-token'() {
    const [one, two] = [await party(), await party()]
    const tokens = await logIn(one, { scope: 'openid offline_access', prompt: 'consent' })
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
    expect((await askWithKey(two, refresh)).body.error).toBe('invalid_grant')
    const { body } = await askWithKey(one, refresh)
    expect((await one.claims(body)).sub).toBe((await one.claims(tokens)).sub)
  },

  async 'oidcc-ensure-client-assertion-with-iss-aud-succeeds'() {
    await logIn(await party(), {}, key, { aud: app.issuer })
  },
}

/** Returns an address for a request object. As in the suite, its fragment is not the hash of the content. */
const newRequestUri = (): string => `${site.url(`/request/${randomUUID()}`)}#${randomUUID()}`

const serveObject = (requestUri: string, object: string): void =>
  site.serve(new URL(requestUri).pathname, object, { 'content-type': 'application/jwt' })

/** The parameters that are only in the request object. The suite repeats all other parameters outside. */
const onlyInside = { state: undefined, nonce: undefined }

const claimsOf = (rp: RelyingParty) => Object.fromEntries(new URL(rp.url()).searchParams)

/** Expects that the consent page links to a document of the client. */
const showsLink = async (metadata: Record<string, string>): Promise<void> => {
  const rp = await party(metadata)
  await rp.agent.logIn(app)
  const page = await (await rp.agent.browse(rp.url())).text()
  expect(page).toContain(`href="${Object.values(metadata)[0]}"`)
}

test.each(Object.entries(modules))('%s [T2756]', async (_module, run) => run())

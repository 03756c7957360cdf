import { createRemoteJWKSet, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { receiveLogoutTokens } from '../support/logout-tokens.ts'
import { RelyingParty } from '../support/relying-party.ts'
import { type RemoteSite, remoteSite } from '../support/remote-site.ts'
import { startServer, type TestServer } from '../support/server.ts'

// The modules of the plans Config, RP-Initiated Logout and Back-Channel Logout of the OpenID Foundation's conformance suite,
// in our own words. Each title is the name of the module.

const returnUri = 'https://client.example/logged-out'

let site: RemoteSite
let app: TestServer
beforeAll(async () => {
  site = await remoteSite()
  app = await startServer({
    openidConnect: true,
    outbound: site.outbound,
    dangerouslyAllowPrivateAddresses: true,
  })
})
afterAll(async () => {
  await app.close()
  await site.close()
})

const discovered = async (): Promise<Record<string, unknown>> =>
  (await (await fetch(`${app.issuer}/.well-known/openid-configuration`)).json()) as Record<
    string,
    unknown
  >

describe('Config', () => {
  test('oidcc-discovery-endpoint-verification [T2742]', async () => {
    const { issuer } = app
    const metadata = await discovered()
    expect(metadata).toMatchObject({
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      userinfo_endpoint: `${issuer}/oauth/userinfo`,
      jwks_uri: `${issuer}/oauth/jwks`,
      scopes_supported: expect.arrayContaining(['openid']),
      response_types_supported: expect.arrayContaining(['code']),
      subject_types_supported: expect.arrayContaining(['public']),
      id_token_signing_alg_values_supported: expect.arrayContaining(['RS256']),
      claims_supported: expect.arrayContaining(['sub']),
      claims_parameter_supported: true,
    })
    const { keys } = (await (await fetch(`${issuer}/oauth/jwks`)).json()) as {
      readonly keys: readonly { readonly kid: string; readonly use: string }[]
    }
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length)
    expect(keys.every(({ use }) => use === 'sig')).toBe(true)
  })
})

const logOut = (rp: RelyingParty, given: Record<string, string> = {}) =>
  rp.agent.browse(`${app.issuer}/oauth/logout?${new URLSearchParams(given)}`)

const isLoggedIn = async (rp: RelyingParty): Promise<boolean> =>
  (await rp.visit({ prompt: 'none' })).params?.error === undefined

describe('RP-Initiated Logout', () => {
  let rp: RelyingParty
  let id_token_hint: string
  beforeEach(async () => {
    rp = await RelyingParty.register(app, { openid: { post_logout_redirect_uris: [returnUri] } })
    id_token_hint = (await rp.logIn()).id_token ?? ''
  })

  /** Expects that the browser remains at the server, with an error or a question, and that the user is still logged in. */
  const staysWith = async (given: Record<string, string>, status: number): Promise<void> => {
    const page = await logOut(rp, given)
    expect([page.status, page.headers.get('location')]).toEqual([status, null])
    expect(await isLoggedIn(rp)).toBe(true)
  }

  /** Expects that the user is logged out, after a confirmation, and that the browser remains at the server. */
  const endsWithPage = async (given: Record<string, string>, asks: boolean): Promise<void> => {
    const page = await logOut(rp, given)
    const end = asks ? await rp.agent.submit(page, { confirm: 'yes' }) : page
    expect(end.status).toBe(200)
    expect(await end.text()).toContain('You are logged out')
    expect(await isLoggedIn(rp)).toBe(false)
  }

  test('oidcc-rp-initiated-logout-discovery-endpoint-verification [T2743]', async () => {
    expect((await discovered()).end_session_endpoint).toBe(`${app.issuer}/oauth/logout`)
  })

  test('oidcc-rp-initiated-logout [T2744]', async () => {
    const state = 'x'.repeat(128)
    const given = { id_token_hint, post_logout_redirect_uri: returnUri, state }
    const answer = await logOut(rp, given)
    expect(answer.headers.get('location')).toBe(`${returnUri}?state=${state}`)
    expect(await isLoggedIn(rp)).toBe(false)
  })

  test('oidcc-rp-initiated-logout-no-state [T2745]', async () => {
    const answer = await logOut(rp, { id_token_hint, post_logout_redirect_uri: returnUri })
    expect(answer.headers.get('location')).toBe(returnUri)
    expect(await isLoggedIn(rp)).toBe(false)
  })

  test('oidcc-rp-initiated-logout-bad-post-logout-redirect-uri [T2746]', async () => {
    await staysWith({ id_token_hint, post_logout_redirect_uri: `${returnUri}/other` }, 400)
  })

  test('oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri [T2747]', async () => {
    await staysWith({ id_token_hint, post_logout_redirect_uri: `${returnUri}?foo=bar` }, 400)
  })

  test('oidcc-rp-initiated-logout-modified-id-token-hint [T2748]', async () => {
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    const hint = `${none}.${id_token_hint.split('.')[1]}.`
    const { clientId: client_id } = rp.client
    const post_logout_redirect_uri = returnUri
    await staysWith({ id_token_hint: hint, post_logout_redirect_uri }, 400)
    await staysWith({ id_token_hint: hint, post_logout_redirect_uri, client_id }, 200)
  })

  test('oidcc-rp-initiated-logout-bad-id-token-hint [T2749]', async () => {
    const { privateKey } = await generateKeyPair('RS256')
    const hint = await new SignJWT(await rp.claims({ id_token: id_token_hint }))
      .setProtectedHeader({ alg: 'RS256' })
      .sign(privateKey)
    const { clientId: client_id } = rp.client
    const post_logout_redirect_uri = returnUri
    await staysWith({ id_token_hint: hint, post_logout_redirect_uri }, 400)
    await staysWith({ id_token_hint: hint, post_logout_redirect_uri, client_id }, 200)
  })

  test('oidcc-rp-initiated-logout-no-id-token-hint [T2750]', async () => {
    await staysWith({ post_logout_redirect_uri: returnUri }, 400)
    const page = await logOut(rp, { post_logout_redirect_uri: returnUri })
    expect(await page.text()).toContain('needs client_id or a valid id_token_hint')
  })

  test('oidcc-rp-initiated-logout-no-params [T2751]', async () => {
    await endsWithPage({}, true)
  })

  test('oidcc-rp-initiated-logout-only-state [T2752]', async () => {
    await endsWithPage({ state: 'x'.repeat(128) }, true)
  })

  test('oidcc-rp-initiated-logout-no-post-logout-redirect-uri [T2753]', async () => {
    await endsWithPage({ id_token_hint, state: 'x' }, false)
  })
})

describe('Back-Channel Logout', () => {
  let received: string[]
  beforeEach(() => {
    received = receiveLogoutTokens(site)
  })

  test('oidcc-backchannel-logout-discovery-endpoint-verification [T2754]', async () => {
    expect(await discovered()).toMatchObject({
      end_session_endpoint: `${app.issuer}/oauth/logout`,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
    })
  })

  test('oidcc-backchannel-rp-initiated-logout [T2755]', async () => {
    const rp = await RelyingParty.register(app, {
      openid: {
        post_logout_redirect_uris: [returnUri],
        backchannel_logout_uri: site.url('/logout'),
        backchannel_logout_session_required: true,
      },
    })
    const { id_token = '' } = await rp.logIn()
    const { sub, sid } = await rp.claims({ id_token })
    const given = { id_token_hint: id_token, post_logout_redirect_uri: returnUri, state: 'x' }
    const answer = await logOut(rp, given)
    expect(answer.headers.get('location')).toBe(`${returnUri}?state=x`)
    await expect.poll(() => received.length).toBe(1)
    const keys = createRemoteJWKSet(new URL(`${app.issuer}/oauth/jwks`))
    const { payload } = await jwtVerify(received[0] ?? '', keys, {
      issuer: app.issuer,
      audience: rp.client.clientId,
      typ: 'logout+jwt',
      currentDate: new Date(app.now()),
    })
    expect(payload).toMatchObject({
      sub,
      sid,
      iat: expect.any(Number),
      jti: expect.any(String),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    })
    expect(payload).not.toHaveProperty('nonce')
    expect(await isLoggedIn(rp)).toBe(false)
  })
})

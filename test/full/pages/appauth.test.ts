import type { Browser } from 'playwright-core'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from '../../support/chromium.ts'
import { lacks } from '../../support/needs.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { statusOf } from '../../support/tokens.ts'
import { startOrigin } from './origin.ts'

/** The page of the application, like the sample application of the library. It exposes its state to the test. */
const application = `import {
  AuthorizationNotifier, AuthorizationRequest, AuthorizationServiceConfiguration, BaseTokenRequestHandler,
  FetchRequestor, RedirectRequestHandler, RevokeTokenRequest, TokenRequest,
} from '@openid/appauth'

const { issuer, clientId } = globalThis.settings
const redirectUri = location.origin + '/redirect.html'
const requestor = new FetchRequestor()
const configuration = await AuthorizationServiceConfiguration.fetchFromIssuer(issuer, requestor)
const handler = new RedirectRequestHandler()
const tokens = new BaseTokenRequestHandler(requestor)
const notifier = new AuthorizationNotifier()
handler.setAuthorizationNotifier(notifier)
notifier.setAuthorizationListener(async (request, response, error) => {
  globalThis.failure = error
  globalThis.tokens = await tokens.performTokenRequest(configuration, new TokenRequest({
    client_id: clientId,
    redirect_uri: redirectUri,
    grant_type: 'authorization_code',
    code: response.code,
    extras: { code_verifier: request.internal.code_verifier },
  }))
})
globalThis.logIn = () => handler.performAuthorizationRequest(configuration, new AuthorizationRequest({
  client_id: clientId,
  redirect_uri: redirectUri,
  scope: 'openid profile email',
  response_type: AuthorizationRequest.RESPONSE_TYPE_CODE,
  extras: { prompt: 'consent', access_type: 'offline' },
}))
globalThis.refresh = () => tokens.performTokenRequest(configuration, new TokenRequest({
  client_id: clientId,
  redirect_uri: redirectUri,
  grant_type: 'refresh_token',
  refresh_token: globalThis.tokens.refreshToken,
}))
globalThis.revoke = (token) => tokens.performRevokeTokenRequest(
  configuration, new RevokeTokenRequest({ client_id: clientId, token }))
globalThis.endSession = configuration.endSessionEndpoint
await handler.completeAuthorizationRequestIfPossible()
globalThis.isReady = true
`

/** The redirect page of the library's sample application: moves the response to the fragment. */
const redirectPage = `<script>location.assign('/#' + location.search.substring(1))</script>`

/** Bundles the application with the unchanged library for a browser. */
const bundled = async (): Promise<string> => {
  const bundle = await rolldown({
    input: 'application',
    platform: 'browser',
    plugins: [
      {
        name: 'application',
        resolveId: (id) => (id === 'application' ? id : null),
        load: (id) => (id === 'application' ? application : null),
      },
    ],
    logLevel: 'silent',
  })
  const { output } = await bundle.generate({ format: 'esm' })
  await bundle.close()
  return output[0].code
}

interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
  readonly idToken: string
}

type AppAuthWindow = typeof globalThis & {
  readonly isReady?: true
  readonly tokens?: Tokens
  readonly endSession: string
  logIn(): void
  refresh(): Promise<Tokens>
  revoke(token: string): Promise<boolean>
}

describe.skipIf(await lacks('chromium'))('AppAuth-JS in Chromium', () => {
  let app: TestServer
  let browser: Browser
  beforeAll(async () => {
    app = await startServer({ openidConnect: true, clock: () => Date.now() })
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
  })

  test('finds the server by its issuer, logs in, refreshes, revokes and logs out [T2405]', async () => {
    const script = await bundled()
    let settings = {}
    await using site = await startOrigin({
      '/': () =>
        `<script>settings = ${JSON.stringify(settings)}</script><script type="module" src="/app.js"></script>`,
      '/app.js': () => script,
      '/redirect.html': () => redirectPage,
    })
    const { clientId } = await app.client({
      isConfidential: false,
      redirectUris: [`${site.origin}/redirect.html`],
      openid: { post_logout_redirect_uris: [`${site.origin}/`] },
    })
    settings = { issuer: app.issuer, clientId }
    const page = await browser.newPage()
    await page.goto(site.origin)
    await page.waitForFunction(() => (globalThis as AppAuthWindow).isReady)
    await page.evaluate(() => (globalThis as AppAuthWindow).logIn())
    await page.fill('[name=email]', app.user.email)
    await page.fill('[name=password]', app.password)
    await page.click('button[type=submit]')
    await page.click('button[value=yes]')
    const found = await page.waitForFunction(() => (globalThis as AppAuthWindow).tokens)
    const tokens = (await found.jsonValue()) as Tokens
    expect(await statusOf(app, tokens.accessToken)).toBe(200)
    const refreshed = await page.evaluate(() => (globalThis as AppAuthWindow).refresh())
    expect(refreshed.accessToken).not.toBe(tokens.accessToken)
    expect(await statusOf(app, refreshed.accessToken)).toBe(200)
    await page.evaluate(
      (token) => (globalThis as AppAuthWindow).revoke(token),
      refreshed.refreshToken,
    )
    expect(await statusOf(app, refreshed.accessToken)).toBe(401)
    const end = new URL(await page.evaluate(() => (globalThis as AppAuthWindow).endSession))
    end.search = `${new URLSearchParams({
      id_token_hint: refreshed.idToken,
      post_logout_redirect_uri: `${site.origin}/`,
    })}`
    await page.goto(end.href)
    expect(page.url()).toBe(`${site.origin}/`)
  })
})

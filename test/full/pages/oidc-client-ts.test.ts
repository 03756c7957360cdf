import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from '../../support/chromium.ts'
import { lacks } from '../../support/needs.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { statusOf } from '../../support/tokens.ts'
import { startOrigin } from './origin.ts'

// Login, refresh and logout without DPoP: log-in-with.test.ts

const library = fileURLToPath(
  new URL('../browser/oidc-client-ts.min.js', import.meta.resolve('oidc-client-ts')),
)

/** The application. It exposes its user to the test. */
const application = `
const { UserManager, IndexedDbDPoPStore } = globalThis.oidc
const manager = new UserManager({
  ...globalThis.settings,
  redirect_uri: location.origin + '/',
  scope: 'openid email notes:read',
  dpop: { bind_authorization_code: true, store: new IndexedDbDPoPStore() },
})
globalThis.logIn = () => {
  manager.signinRedirect()
}
globalThis.refresh = async () => (await manager.signinSilent()).access_token
globalThis.call = async (url) => {
  const user = await manager.getUser()
  const authorization = user.token_type + ' ' + user.access_token
  const response = await fetch(url, { headers: { authorization, DPoP: await manager.dpopProof(url, user) } })
  return { status: response.status, claims: await response.json() }
}
if (new URLSearchParams(location.search).has('code')) await manager.signinCallback()
globalThis.user = await manager.getUser()
globalThis.isReady = true
`

type ApplicationWindow = typeof globalThis & {
  readonly isReady?: true
  readonly user: { readonly access_token: string; readonly token_type: string } | null
  logIn(): void
  refresh(): Promise<string>
  call(url: string): Promise<{ readonly status: number; readonly claims: object }>
}

describe.skipIf(await lacks('chromium'))('oidc-client-ts in Chromium', () => {
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

  test('binds the code, the tokens and the refreshed tokens to its DPoP key [T3141]', async () => {
    let settings = {}
    await using site = await startOrigin({
      '/': () =>
        `<script>settings = ${JSON.stringify(settings)}</script><script src="/library.js"></script><script type="module" src="/app.js"></script>`,
      '/app.js': () => application,
      '/library.js': () => readFileSync(library),
    })
    const { clientId } = await app.client({
      isConfidential: false,
      redirectUris: [`${site.origin}/`],
    })
    settings = { authority: app.issuer, client_id: clientId }
    const page = await browser.newPage()
    const isReady = () => page.waitForFunction(() => (globalThis as ApplicationWindow).isReady)
    await page.goto(site.origin)
    await isReady()
    await page.evaluate(() => (globalThis as ApplicationWindow).logIn())
    await page.fill('[name=email]', app.user.email)
    await page.fill('[name=password]', app.password)
    await page.click('button[type=submit]')
    await page.click('button[value=yes]')
    await page.waitForURL(`${site.origin}/?*`)
    await isReady()
    const user = await page.evaluate(() => (globalThis as ApplicationWindow).user)
    expect(user?.token_type).toBe('DPoP')
    const refreshed = await page.evaluate(() => (globalThis as ApplicationWindow).refresh())
    expect(refreshed).not.toBe(user?.access_token)
    const call = (url: string) => (globalThis as ApplicationWindow).call(url)
    const called = await page.evaluate(call, `${app.issuer}/oauth/userinfo`)
    expect(called).toMatchObject({ status: 200, claims: { email: app.user.email } })
    // A stolen token is useless without the key.
    expect(await statusOf(app, refreshed)).toBe(401)
  })
})

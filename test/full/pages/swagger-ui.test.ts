import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { getAbsoluteFSPath } from 'swagger-ui-dist'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from '../../support/chromium.ts'
import { lacks } from '../../support/needs.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { statusOf } from '../../support/tokens.ts'
import { startOrigin } from './origin.ts'

const folder = getAbsoluteFSPath()
const file = (name: string) => () => readFileSync(join(folder, name))

/** The description of an API whose only operation is the userinfo endpoint. */
const descriptionOf = (issuer: string, scheme: object) => ({
  openapi: '3.0.3',
  info: { title: 'Userinfo', version: '1' },
  servers: [{ url: issuer }],
  components: { securitySchemes: { notes: scheme } },
  paths: {
    '/oauth/userinfo': {
      get: {
        operationId: 'userinfo',
        security: [{ notes: ['openid', 'email'] }],
        responses: { 200: { description: 'The claims' } },
      },
    },
  },
})

/** The page of the documentation of Swagger UI, with the description of the API in the page. */
const pageOf = (
  description: object,
  clientId: string,
  scopes = 'openid email',
) => `<!doctype html><title>API</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/swagger-ui.css"><div id="swagger-ui"></div>
<script src="/swagger-ui-bundle.js"></script>
<script>
  const ui = SwaggerUIBundle({
    spec: ${JSON.stringify(description)},
    dom_id: '#swagger-ui',
    oauth2RedirectUrl: location.origin + '/oauth2-redirect.html',
    presets: [SwaggerUIBundle.presets.apis],
  })
  ui.initOAuth({ clientId: '${clientId}', usePkceWithAuthorizationCodeGrant: true, scopes: '${scopes}' })
</script>`

/** Starts a site with the page and the unchanged files of Swagger UI. */
const startSite = (page: () => string) =>
  startOrigin({
    '/': page,
    ...Object.fromEntries(
      ['swagger-ui.css', 'swagger-ui-bundle.js', 'oauth2-redirect.html', 'oauth2-redirect.js'].map(
        (name) => [`/${name}`, file(name)],
      ),
    ),
  })

describe.skipIf(await lacks('chromium'))('Swagger UI on another origin', () => {
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

  test.each([
    [
      'a flow with its URLs',
      (issuer: string) => ({
        type: 'oauth2',
        flows: {
          authorizationCode: {
            authorizationUrl: `${issuer}/oauth/authorize`,
            tokenUrl: `${issuer}/oauth/token`,
            scopes: { openid: 'Log in', email: 'E-mail address' },
          },
        },
      }),
    ],
    [
      'the discovery document',
      (issuer: string) => ({
        type: 'openIdConnect',
        openIdConnectUrl: `${issuer}/.well-known/openid-configuration`,
      }),
    ],
  ])('authorizes with PKCE, calls the API and logs out, given %s [T2406]', async (_, schemeOf) => {
    let content = ''
    await using site = await startSite(() => content)
    const { clientId } = await app.client({
      isConfidential: false,
      redirectUris: [`${site.origin}/oauth2-redirect.html`],
    })
    content = pageOf(descriptionOf(app.issuer, schemeOf(app.issuer)), clientId)
    const context = await browser.newContext()
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    const sent: (string | null)[] = []
    page.on('request', async (request) => {
      if (request.url().endsWith('/oauth/token') && request.method() === 'POST')
        sent.push(await request.headerValue('x-requested-with'))
    })
    await page.goto(site.origin)
    await page.click('.auth-wrapper .authorize')
    const flow = page
      .locator('.auth-container')
      .filter({ hasText: /authorization_?Code with PKCE/i })
    const opened = context.waitForEvent('page')
    await flow.locator('button.authorize').last().click()
    const popup = await opened
    await popup.fill('[name=email]', app.user.email)
    await popup.fill('[name=password]', app.password)
    await popup.click('button[type=submit]')
    const closed = popup.waitForEvent('close')
    await popup.click('button[value=yes]')
    await closed
    const logout = page.locator('button', { hasText: 'Logout' }).first()
    await logout.waitFor()
    expect(sent).toEqual(['XMLHttpRequest'])
    await page.locator('.btn-done').first().click()
    await page.click('.opblock-summary-control')
    await page.click('text=Try it out')
    const called = page.waitForResponse(`${app.issuer}/oauth/userinfo`)
    await page.click('button.execute')
    const answer = await called
    expect(await answer.json()).toMatchObject({ email: app.user.email })
    await page.getByText(app.user.email).first().waitFor()
    await page.click('.auth-wrapper .authorize')
    await logout.click()
    await logout.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    await context.close()
  })

  test('requests a token with client credentials [T3142]', async () => {
    const flow = {
      tokenUrl: `${app.issuer}/oauth/token`,
      scopes: { 'notes:read': 'Read notes' },
    }
    const scheme = { type: 'oauth2', flows: { clientCredentials: flow } }
    const { clientId, clientSecret } = await app.client({
      grantTypes: ['client_credentials'],
      allowedScopes: ['notes:read'],
    })
    const content = pageOf(descriptionOf(app.issuer, scheme), clientId, 'notes:read')
    await using site = await startSite(() => content)
    const page = await browser.newPage()
    await page.goto(site.origin)
    await page.click('.auth-wrapper .authorize')
    await page.fill('[id^=client_secret_]', clientSecret)
    const answered = page.waitForResponse((response) => response.request().method() === 'POST')
    await page.locator('.auth-container button.authorize').last().click()
    const { access_token, scope } = await (await answered).json()
    expect(scope).toBe('notes:read')
    await page.locator('button', { hasText: 'Logout' }).first().waitFor()
    expect(await statusOf(app, access_token)).toBe(200)
  })
})

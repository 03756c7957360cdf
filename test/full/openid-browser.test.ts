import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeJwt } from 'jose'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from '../support/chromium.ts'
import { lacks } from '../support/needs.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { authorizeUrl, newPkce, tokenRequest } from '../support/user-agent.ts'

describe.skipIf(await lacks('chromium'))('OpenID Connect in Chromium', () => {
  let app: TestServer
  let site: Server
  let origin: string
  let browser: Browser
  /** The forms that the client received. */
  let received: URLSearchParams[] = []

  beforeAll(async () => {
    app = await startServer({ openidConnect: true })
    site = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk) => {
        text += chunk
      })
      request.on('end', () => {
        if (request.method === 'POST') received.push(new URLSearchParams(text))
        response.setHeader('content-type', 'text/html')
        response.end('<!doctype html><title>Client</title><h1>Back at the client</h1>')
      })
    })
    await new Promise<void>((listens) => site.listen(0, '127.0.0.1', listens))
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    site?.close()
    await app?.close()
  })

  test.each([true, false])(
    'delivers a form_post response to the client, and logs the user out; scripts: %s [T1610]',
    async (javaScriptEnabled) => {
      received = []
      const { clientId, clientSecret } = await app.client({
        redirectUris: [`${origin}/cb`],
        openid: { post_logout_redirect_uris: [`${origin}/bye`] },
      })
      const pkce = newPkce()
      const context = await browser.newContext({ javaScriptEnabled })
      const page = await context.newPage()
      const complaints: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text())
      })
      await page.goto(
        authorizeUrl(app.issuer, {
          client_id: clientId,
          redirect_uri: `${origin}/cb`,
          scope: 'openid email',
          response_mode: 'form_post',
          state: 'a&b',
          nonce: 'n',
          login_hint: app.user.email,
          code_challenge: pkce.challenge,
          code_challenge_method: 'S256',
        }),
      )
      expect(await page.inputValue('[name=email]')).toBe(app.user.email)
      await page.fill('[name=password]', app.password)
      await page.click('button[type=submit]')
      await page.click('button[value=yes]')
      if (!javaScriptEnabled) await page.click('form[data-submit] button')
      await page.waitForURL(`${origin}/cb`)
      expect(received.map((form) => form.get('state'))).toEqual(['a&b'])
      const { body } = await tokenRequest(
        app.issuer,
        {
          grant_type: 'authorization_code',
          code: received[0]?.get('code') ?? '',
          redirect_uri: `${origin}/cb`,
          code_verifier: pkce.verifier,
        },
        { basic: { clientId, clientSecret } },
      )
      const idToken = String(body.id_token)
      expect(decodeJwt(idToken)).toMatchObject({ nonce: 'n', sub: String(app.user.id) })

      const end = new URL(`${app.issuer}/oauth/logout`)
      end.search = `${new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: `${origin}/bye` })}`
      await page.goto(end.href)
      if (process.env.SCREENSHOTS)
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/logout.png` })
      await page.click('button[value=yes]')
      await page.waitForURL(`${origin}/bye`)
      await page.goto(end.href)
      if (process.env.SCREENSHOTS)
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/done.png` })
      expect(await page.textContent('h1')).toBe('You are logged out')
      expect(complaints).toEqual([])
      await context.close()
    },
  )
})

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { type AuthorizationServer, createAuthorizationServer } from 'svc-oauth2server'
import { chain, mount } from 'svc-oauth2server/node'
import { sqlite } from 'svc-oauth2server/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from '../../support/chromium.ts'
import { lacks } from '../../support/needs.ts'

const email = 'ada@example.org'
const password = 'correct horse battery 7'

describe.skipIf(await lacks('chromium'))('two servers on one host, in Chromium', () => {
  let browser: Browser
  const opened: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    for (const close of opened) await close()
  })

  const listening = async (): Promise<[Server, string]> => {
    const http = createServer()
    await new Promise<void>((listens) => http.listen(0, '127.0.0.1', listens))
    opened.push(async () => http.close())
    return [http, `http://localhost:${(http.address() as AddressInfo).port}`]
  }

  const created = async (issuer: string): Promise<AuthorizationServer> => {
    const server = await createAuthorizationServer({
      issuer,
      secretKeys: [`the secret key of the server at ${issuer}`],
      store: sqlite(':memory:'),
      sweepInterval: 0,
      log: () => undefined,
    })
    opened.push(() => server.close())
    await server.users.create({ email, password })
    return server
  }

  const logIn = async (page: Page, { issuer }: { readonly issuer: string }): Promise<void> => {
    await page.goto(
      `${issuer}/login?next=${new URL(issuer).pathname.replace(/\/$/, '')}/account/settings/applications/`,
    )
    await page.locator('input[name=email]').fill(email)
    await page.locator('input[name=password]').fill(password)
    await page.locator('form:has(input[name=password]) button').first().click()
    await page.waitForURL(`${issuer}/account/settings/applications/**`)
  }

  const isLoggedIn = async (page: Page, { issuer }: { readonly issuer: string }) => {
    await page.goto(`${issuer}/account/settings/applications/`)
    return new URL(page.url()).pathname.endsWith('/applications/')
  }

  test.each(['ports', 'paths'])(
    'on different %s, a browser stays logged in to both [T3923]',
    async (by) => {
      const [http, origin] = await listening()
      const [otherHttp, otherOrigin] = by === 'ports' ? await listening() : [http, origin]
      const one = await created(by === 'ports' ? origin : `${origin}/one`)
      const two = await created(by === 'ports' ? otherOrigin : `${origin}/two`)
      if (by === 'ports') {
        http.on('request', chain(mount(one)))
        otherHttp.on('request', chain(mount(two)))
      } else http.on('request', chain(mount(one), mount(two)))
      const context = await browser.newContext()
      const page = await context.newPage()
      await logIn(page, one)
      await logIn(page, two)
      expect([await isLoggedIn(page, one), await isLoggedIn(page, two)]).toEqual([true, true])
      await context.close()
    },
  )
})

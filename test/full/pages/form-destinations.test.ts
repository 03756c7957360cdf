import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page, Request } from 'playwright-core'
import type { ClientInput } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endpointsOf } from '../../support/endpoints.ts'
import { lacks } from '../../support/needs.ts'
import { authorizeUrl, newPkce } from '../../support/user-agent.ts'
import { logIn, type Person, useSite } from './site.ts'
import { usual } from './ways.ts'

const app = 'myapp://signed-in'

/** The site of a client, whose callback redirects with the status `by` to the URL `to`, with the parameters it got. */
const useCallback = () => {
  const sent: { readonly method: string; readonly referrer: string | undefined }[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://any')
    if (url.pathname === '/cb')
      sent.push({ method: request.method ?? '', referrer: request.headers.referer })
    const to = url.searchParams.get('to')
    const status = Number(url.searchParams.get('by') ?? 303)
    request.resume()
    if (to !== null) response.writeHead(status, { location: to }).end()
    else response.setHeader('content-type', 'text/html').end('<title>Client</title>Arrived')
  })
  let origin = ''
  beforeAll(async () => {
    await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    sent,
    /** Another origin of the client. */
    elsewhere: () => origin.replace('127.0.0.1', 'elsewhere.example'),
    callback: (to?: string, by = 303) =>
      to === undefined
        ? `${origin}/cb`
        : `${origin}/cb?${new URLSearchParams({ to, by: `${by}` })}`,
  }
}

/** Resolves when a page, or a window that the page opened, requests a URL that starts with the given text. */
const requested = async (page: Page, start: string): Promise<void> => {
  await page
    .context()
    .waitForEvent('request', { predicate: (one: Request) => one.url().startsWith(start) })
}

describe.skipIf(await lacks('chromium'))('where a form of our pages may end', () => {
  describe('every page', () => {
    const { callback, elsewhere } = useCallback()
    const settings = { deviceAuthorization: true, openidConnect: true } as const
    const site = useSite(settings)

    // The policy and the script of a page hold for all its forms, so submit one form of each page.
    test('a form may be answered with redirects to other origins [T3600]', async () => {
      const { page } = await site.person(usual, { isAdmin: true })
      const context = page.context()
      const answered = /\/answered(?:\?|$)/
      await context.route(answered, (route) =>
        route.fulfill({ status: 303, headers: { location: callback(elsewhere()) } }),
      )
      const submitted: string[] = []
      const paths = endpointsOf(settings).flatMap(({ endpoint, path }) =>
        endpoint.errors === 'page' && endpoint.methods.includes('GET') && !path.includes(':')
          ? [path]
          : [],
      )
      // The start page of the application and a missing page.
      for (const path of new Set([...paths, '/login?prompt=login', '/', '/oauth/absent'])) {
        await page.goto(`${site.app.issuer}${path}`).catch(() => undefined)
        const form = page.locator('form').first()
        if ((await form.count()) === 0) continue
        submitted.push(path)
        const arrives = page.waitForRequest((one) => one.url().startsWith(elsewhere()))
        await form.evaluate((element) => {
          element.setAttribute('action', '/answered')
          element.noValidate = true
          element.requestSubmit()
        })
        await arrives
        await page.waitForURL(`${elsewhere()}/**`)
      }
      expect(submitted).toEqual(
        expect.arrayContaining(['/', '/login?prompt=login', '/oauth/device', '/oauth/logout']),
      )
      expect(submitted.length).toBeGreaterThan(15)
    })
  })

  describe('a flow', () => {
    const { callback, elsewhere, sent } = useCallback()
    const site = useSite({ openidConnect: true, allowPrivateUseRedirectUris: true })
    const pkce = newPkce()

    const register = (redirectUri: string, input: Partial<ClientInput> = {}) =>
      site.app.client({ redirectUris: [redirectUri], ...input })
    const request = (clientId: string, redirectUri: string, more: Record<string, string> = {}) =>
      authorizeUrl(site.app.issuer, {
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: 'openid',
        code_challenge: pkce.challenge,
        code_challenge_method: 'S256',
        ...more,
      })
    const decide = ({ page, press }: Person, decision: 'yes' | 'no') =>
      press(page.locator(`button[value=${decision}]`))

    type Destination = readonly [name: string, redirectUri: () => string, end: () => string]
    const destinations: readonly Destination[] = [
      ['another origin', () => callback(elsewhere()), elsewhere],
      ['another origin by 307', () => callback(elsewhere(), 307), elsewhere],
      ['another origin by 308', () => callback(elsewhere(), 308), elsewhere],
      ['an app, by its callback', () => callback(app), () => app],
      ['an app', () => 'com.example.app:/cb', () => 'com.example.app:/cb?'],
    ]

    test.each(destinations)(
      '%s: a decision, and a login after an earlier consent, arrive [T3601]',
      async (_, redirectUri, end) => {
        const ada = await site.person(usual)
        const { page } = ada
        const isConfidential = redirectUri().startsWith('http')
        const { clientId } = await register(redirectUri(), { isConfidential })
        for (const decision of ['no', 'yes'] as const) {
          await page.goto(request(clientId, redirectUri(), { state: decision }))
          const arrives = requested(page, end())
          await decide(ada, decision)
          await arrives
        }
        const later = await ada.elsewhere()
        await later.page.goto(request(clientId, redirectUri()))
        const arrives = requested(later.page, end())
        await logIn(later)
        // The server does not remember the consent to a public client.
        if (!isConfidential) await decide(later, 'yes')
        await arrives
        expect(sent.splice(0).filter(({ referrer }) => referrer !== undefined)).toEqual([])
      },
    )

    test.each([true, false])(
      'a form_post response may be redirected too; scripts: %s [T3602]',
      async (javaScriptEnabled) => {
        const ada = await site.person({
          ...usual,
          options: { ...usual.options, javaScriptEnabled },
        })
        const { page } = ada
        const { clientId } = await register(callback(app))
        await page.goto(request(clientId, callback(app), { response_mode: 'form_post' }))
        const arrives = requested(page, app)
        await decide(ada, 'yes')
        if (!javaScriptEnabled) await page.click('form[data-submit] button')
        await arrives
        expect(sent.splice(0)).toEqual([{ method: 'POST', referrer: undefined }])
      },
    )

    test.each(destinations.filter(([name]) => name !== 'an app'))(
      '%s: a confirmed logout of a client arrives [T3603]',
      async (_, redirectUri, end) => {
        const ada = await site.person(usual)
        const { clientId } = await register(callback(), {
          openid: { post_logout_redirect_uris: [redirectUri()] },
        })
        const asked = { client_id: clientId, post_logout_redirect_uri: redirectUri() }
        await ada.open(`/oauth/logout?${new URLSearchParams(asked)}`)
        const arrives = requested(ada.page, end())
        await ada.press(ada.page.locator('button[value=yes]'))
        await arrives
        sent.length = 0
      },
    )

    test('going back after a decision neither decides again nor leaves the page [T3604]', async () => {
      const ada = await site.person(usual)
      const { page } = ada
      const { clientId } = await register(callback(elsewhere()))
      await page.goto(request(clientId, callback(elsewhere()), { prompt: 'consent' }))
      await decide(ada, 'yes')
      await page.waitForURL(`${elsewhere()}/**`)
      sent.length = 0
      await page.goBack()
      await page.locator('button[value=yes]').waitFor()
      expect(sent).toEqual([])
    })
  })

  describe('injected markup', () => {
    const { callback, sent } = useCallback()
    const site = useSite()

    // The markup an attacker could use if a page failed to escape a value.
    test.each([
      [
        'a form',
        (to: string) =>
          `<form method="post" action="${to}"><input name="password"><button>Log in</button></form>`,
      ],
      [
        'a form that claims to submit itself',
        (to: string) =>
          `<form method="post" action="${to}" data-submit><button>Log in</button></form>`,
      ],
      [
        'a form behind fields that hide the methods of the document',
        (to: string) =>
          `<img name="head" alt=""><form name="querySelector"></form><form name="querySelectorAll"></form><form method="post" action="${to}"><button>Log in</button></form>`,
      ],
      [
        'a form that hides its methods',
        (to: string) =>
          `<form method="post" action="${to}"><input name="getAttribute"><input name="action"><button>Log in</button></form>`,
      ],
      [
        'a button with another target',
        (to: string) =>
          `<form method="post" action="/login"><button formaction="${to}">Log in</button></form>`,
      ],
      [
        'a button for the form of the page',
        (to: string) => `<button form="login" formnovalidate formaction="${to}">Log in</button>`,
      ],
      [
        'a form that searches',
        (to: string) =>
          `<form action="${to}"><input name="password"><button>Log in</button></form>`,
      ],
    ])('cannot send %s to another site [T3605]', async (_, markup) => {
      // Some of the markup breaks other parts of the page script, so do not collect the errors of this page.
      const context = await (await site.newPage()).context().browser()?.newContext()
      const page = await context?.newPage()
      if (!page) throw new Error('The browser has exited.')
      const press = async (isLimited: boolean) => {
        await page.route('**/login', async (route) => {
          const response = await route.fetch()
          const html = (await response.text())
            .replace('<form', '<form id="login"')
            .replace('<h1', `${markup(callback())}<h1`)
          const body = isLimited ? html : html.replace('data-forms="own"', '')
          await route.fulfill({ response, body })
        })
        sent.length = 0
        await page.goto(`${site.app.issuer}/login`)
        // Markup can hide the methods of the document and of a form, and can submit itself before the click.
        await page
          .evaluate(
            `HTMLElement.prototype.click.call(Document.prototype.querySelector.call(document, 'button'))`,
          )
          .catch(() => undefined)
        await page.unroute('**/login')
      }
      await press(true)
      // Fixed time: the page could navigate too late.
      await page.waitForTimeout(200)
      expect(new URL(page.url()).pathname).toBe('/login')
      expect(sent).toEqual([])
      // Without the limit, the same markup reaches the other site.
      await press(false)
      await page.waitForURL(`${callback()}**`)
      expect(sent.length).toBeGreaterThan(0)
      await page.context().close()
    })
  })
})

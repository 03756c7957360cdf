import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core'
import type { ClientInput } from 'svc-oauth2server'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from '../support/chromium.ts'
import { lacks } from '../support/needs.ts'
import { openRecords, secretKey } from '../support/nodes.ts'
import {
  complaints as complaintsOf,
  type RunningServer,
  startNotes,
  type TemporaryFolder,
  temporaryFolder,
} from '../support/processes.ts'
import { authorizeUrl, newPkce, tokenRequest } from '../support/user-agent.ts'

/** Starts the server of the client application. The flow ends at its page `/cb`. */
const startClient = async (host: string): Promise<{ http: Server; port: number } | undefined> => {
  const http = createServer((request, response) => {
    const frame = new URL(request.url ?? '/', 'http://client').searchParams.get('frame')
    response.setHeader('content-type', 'text/html')
    response.end(
      frame === null
        ? '<!doctype html><title>Client</title><h1>Back at the client</h1>'
        : `<!doctype html><title>Frame</title><iframe src="${frame}"></iframe>`,
    )
  })
  const listens = await new Promise<boolean>((answer) => {
    http.once('error', () => answer(false)).listen(0, host, () => answer(true))
  })
  return listens ? { http, port: (http.address() as AddressInfo).port } : undefined
}

describe.skipIf(await lacks('chromium'))('in Chromium', () => {
  let folder: TemporaryFolder
  let app: RunningServer
  let browser: Browser
  let client: { http: Server; port: number }
  const user = { email: 'demo@example.org', password: '' }
  const contexts: BrowserContext[] = []
  /** Errors and policy violations that the pages reported since the test began. */
  let complaints: string[] = []

  beforeAll(async () => {
    folder = await temporaryFolder()
    const env = { SECRET_KEY: secretKey }
    app = await startNotes({ data: folder.path, env, limit: 300_000 })
    user.password = /^ *password +(\S+)$/m.exec(app.program.stdout)?.[1] ?? ''
    client = (await startClient('127.0.0.1')) as typeof client
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    client?.http.close()
    await app?.[Symbol.asyncDispose]()
    await folder?.[Symbol.asyncDispose]()
  })
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
    // Ignore errors on pages of other sites, which the tests cause deliberately.
    const heard = complaints.filter((complaint) => complaint.startsWith(app.url))
    complaints = []
    expect(heard).toEqual([])
    expect(complaintsOf(app.program)).toEqual([])
  })

  /** Opens a page in a new browser without cookies. */
  const newPage = async (options: BrowserContextOptions = {}): Promise<Page> => {
    const context = await browser.newContext(options)
    context.setDefaultTimeout(120_000)
    contexts.push(context)
    const page = await context.newPage()
    page.on('console', (message) => {
      const { url } = message.location()
      // Ignore the message about a 4xx status, because some tests expect a page with a 4xx status.
      const isStatus = message.text().startsWith('Failed to load resource: the server responded')
      const isExpected = url === page.url() || url.endsWith('/favicon.ico')
      if (message.type() === 'error' && !(isStatus && isExpected))
        complaints.push(`${page.url()}: ${message.text()}`)
    })
    page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error}`))
    return page
  }

  const fillLogin = async (page: Page, password = user.password) => {
    await page.getByLabel('E-mail address').fill(user.email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Log in' }).click()
  }

  const logIn = async (page: Page) => {
    await page.goto(`${app.url}/login`)
    await fillLogin(page)
    await page.waitForURL(`${app.url}/`)
  }

  const register = async (input: Partial<ClientInput>) => {
    const records = await openRecords({ data: folder.path, issuer: app.url })
    const owner = await records.users.findByEmail(user.email)
    const made = await records.clients.create({
      name: 'Photo Print',
      description: 'Prints your notes on paper.\nFrom anywhere.',
      website: 'https://photo-print.example/',
      userId: owner?.id ?? null,
      ...input,
    })
    await records.close()
    return made
  }

  /** Registers a client. Returns its authorization URL, and functions that await the redirect and redeem the code. */
  const flow = async (input: Partial<ClientInput>, redirectUri: string) => {
    const { client: registered, clientSecret } = await register(input)
    const { verifier, challenge } = newPkce()
    const url = authorizeUrl(app.url, {
      client_id: registered.clientId,
      redirect_uri: redirectUri,
      scope: 'notes:read user:email',
      state: 'x y/z',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })
    const redeem = async (page: Page) => {
      const answer = new URL(page.url())
      expect(answer.searchParams.get('state')).toBe('x y/z')
      expect(answer.searchParams.get('iss')).toBe(app.url)
      const { status, body } = await tokenRequest(
        app.url,
        {
          grant_type: 'authorization_code',
          code: answer.searchParams.get('code') ?? '',
          redirect_uri: redirectUri,
          code_verifier: verifier,
          ...(registered.isConfidential ? {} : { client_id: registered.clientId }),
        },
        registered.isConfidential
          ? { basic: { clientId: registered.clientId, clientSecret } }
          : undefined,
      )
      expect(status).toBe(200)
      const me = await fetch(`${app.url}/api/me`, {
        headers: { authorization: `Bearer ${body.access_token}` },
      })
      expect(await me.json()).toEqual({
        id: expect.any(Number),
        email: user.email,
        kind: 'access_token',
      })
    }
    const arrives = (page: Page) => page.waitForURL(`${redirectUri}?*`)
    return { url, redeem, arrives }
  }

  const allow = (page: Page) => page.getByRole('button', { name: 'Allow' }).click()
  /**
   * Waits until a request has succeeded or failed. The browser may block the response after it has read the headers.
   */
  const requestIsOver = (page: Page, url: string): Promise<void> =>
    new Promise((over) => {
      const look = (request: Request) => {
        if (request.url() === url) over()
      }
      page.on('requestfinished', look).on('requestfailed', look)
    })

  const callback = () => `http://127.0.0.1:${client.port}/cb`

  test('logs in without a mouse after a wrong password, and logs out', async () => {
    const page = await newPage()
    await page.goto(`${app.url}/`)
    await page.getByRole('link', { name: 'Log in' }).click()
    await page.locator('#email:focus').waitFor()
    await page.keyboard.type(user.email)
    await page.keyboard.press('Tab')
    await page.keyboard.type('not the password')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toMatch(/wrong/)
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(user.email)
    expect(await page.getByLabel('Password').inputValue()).toBe('')

    await fillLogin(page)
    await page.waitForURL(`${app.url}/`)
    expect(await page.getByRole('main').textContent()).toContain(user.email)
    const [cookie] = await page.context().cookies(app.url)
    expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax' })
    // Scripts of the page cannot read the cookie.
    expect(await page.evaluate('document.cookie')).toBe('')

    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByText('Nobody is logged in').waitFor()
    expect(page.url()).toBe(`${app.url}/`)
  })

  test('embeds a JWT in the home page, with which scripts of the page can use the REST API [T665]', async () => {
    const page = await newPage()
    await logIn(page)
    const field = page.locator('input[type=hidden][name=authorized_token]')
    const jwt = await field.inputValue()
    expect(jwt.split('.')).toHaveLength(3)
    const ask = (headers: Record<string, string>) =>
      page.evaluate(async (given) => {
        const answer = await fetch('/api/me', { headers: given })
        return { status: answer.status, body: await answer.json() }
      }, headers)
    expect(await ask({ authorization: `Bearer ${jwt}` })).toEqual({
      status: 200,
      body: { id: expect.any(Number), email: user.email, kind: 'session' },
    })
    complaints = []
    // The script of the page adds the JWT.
    expect(await ask({})).toMatchObject({ status: 200, body: { kind: 'session' } })
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByText('Nobody is logged in').waitFor()
    expect((await ask({ authorization: `Bearer ${jwt}` })).status).toBe(401)
    // Ignore status codes of 400 and more, which the browser reports to the console.
    complaints = complaints.filter((text) => !text.includes('the server responded with a status'))
  })

  test('does not request a stored consent for a confidential client again, even right after a login [T648]', async () => {
    const { url, redeem, arrives } = await flow(
      { redirectUris: [callback()], name: 'Confidential' },
      callback(),
    )
    const page = await newPage()
    await page.goto(url)
    expect(page.url()).toContain('/login?next=')
    await fillLogin(page)
    await page.getByRole('heading', { name: 'Allow Confidential?' }).waitFor()
    expect(await page.getByRole('main').textContent()).toContain(`127.0.0.1:${client.port}`)
    await allow(page)
    await arrives(page)
    await redeem(page)

    await page.goto(url)
    await arrives(page)
    await redeem(page)

    const another = await newPage()
    await another.goto(url)
    await fillLogin(another)
    await arrives(another)
    await redeem(another)
  })

  test('requests consent for each authorization of a public client with a loopback redirect URI [T649]', async () => {
    const { url, redeem, arrives } = await flow(
      { redirectUris: ['http://127.0.0.1/cb'], isConfidential: false },
      callback(),
    )
    const page = await newPage()
    await page.goto(url)
    await fillLogin(page)
    await allow(page)
    await arrives(page)
    await redeem(page)
    await page.goto(url)
    await page.getByRole('heading', { name: 'Allow Photo Print?' }).waitFor()
    await allow(page)
    await arrives(page)
    await redeem(page)
  })

  test('§4.1.2.1 returns access_denied to the client after the user denied the request, and stores no decision', async () => {
    const { url, arrives } = await flow({ redirectUris: [callback()] }, callback())
    const page = await newPage()
    await logIn(page)
    for (const _time of ['first', 'second']) {
      await page.goto(url)
      await page.getByRole('button', { name: 'Refuse' }).click()
      await arrives(page)
      const { searchParams } = new URL(page.url())
      expect([...searchParams.keys()].sort()).toEqual([
        'error',
        'error_description',
        'iss',
        'state',
      ])
      expect(searchParams.get('error')).toBe('access_denied')
    }
  })

  test('requests a new page after the back button instead of displaying the decided request', async () => {
    const { url, arrives } = await flow({ redirectUris: [callback()] }, callback())
    const page = await newPage()
    await logIn(page)
    await page.goto(url)
    const first = await page.getByRole('main').innerHTML()
    await page.getByRole('button', { name: 'Refuse' }).click()
    await arrives(page)
    await page.goBack()
    // The browser did not cache the page, so it sent the request again.
    expect(await page.getByRole('main').innerHTML()).not.toBe(first)
  })

  test('RFC 8252 §7.3 redirects to a client at the IPv6 address [::1]', async ({ skip }) => {
    const ipv6 = await startClient('::1')
    if (!ipv6) {
      console.warn('SKIPPED: this machine has no address ::1')
      return skip()
    }
    try {
      const uri = `http://[::1]:${ipv6.port}/cb`
      const { url, redeem, arrives } = await flow(
        { redirectUris: ['http://[::1]/cb'], isConfidential: false },
        uri,
      )
      const page = await newPage()
      await page.goto(url)
      await fillLogin(page)
      await allow(page)
      await arrives(page)
      await redeem(page)

      const confidential = await flow({ redirectUris: [uri] }, uri)
      await page.goto(confidential.url)
      await allow(page)
      await confidential.arrives(page)
      const another = await newPage()
      await another.goto(confidential.url)
      await fillLogin(another)
      await confidential.arrives(another)
      await confidential.redeem(another)
    } finally {
      ipv6.http.close()
    }
  })

  test('SS prevents other sites from framing a page', async () => {
    const { url } = await flow({ redirectUris: [callback()] }, callback())
    const page = await newPage()
    await logIn(page)
    for (const address of [
      `${app.url}/`,
      `${app.url}/login?prompt=login`,
      url,
      `${app.url}/oauth/errors?error=invalid_request`,
    ]) {
      await page.goto(`http://127.0.0.1:${client.port}/?frame=${encodeURIComponent(address)}`)
      await expect.poll(() => page.frames()[1]?.url()).toBe('chrome-error://chromewebdata/')
      expect(complaints.join('\n')).toMatch(/frame-ancestors|X-Frame-Options/)
      complaints = []
    }
  })

  test('prevents pages of other sites from logging the user out and from consenting', async () => {
    const { url } = await flow({ redirectUris: [callback()] }, callback())
    const page = await newPage()
    await logIn(page)
    await page.goto(url)
    const id = await page.locator('input[name=authorization_request]').inputValue()
    for (const [action, fields, status] of [
      [`${app.url}/logout`, {}, 403],
      [`${app.url}/oauth/authorize`, { confirm: 'yes', authorization_request: id }, 403],
      [`${app.url}/login`, { email: user.email, password: user.password }, 403],
    ] as const) {
      await page.goto(callback())
      const inputs = Object.entries(fields).map(
        ([name, value]) => `<input name="${name}" value="${value}">`,
      )
      await page.setContent(`<form method="post" action="${action}">${inputs.join('')}</form>`)
      const answered = page.waitForResponse(action)
      await page.evaluate('document.forms[0].submit()')
      expect([action, (await answered).status()]).toEqual([action, status])
      await page.waitForURL(action)
      await page.goto(`${app.url}/`)
      expect(await page.getByRole('main').textContent(), action).toContain(user.email)
    }
    // An image and a form in a frame do not log the user out either.
    for (const content of [
      `<img src="${app.url}/login">`,
      `<iframe name="inside"></iframe><form method="post" action="${app.url}/login" target="inside"></form>`,
    ]) {
      await page.goto(callback())
      const over = requestIsOver(page, `${app.url}/login`)
      await page.setContent(content)
      await page.evaluate('document.forms[0]?.submit()')
      await over
      await page.goto(`${app.url}/`)
      expect(await page.getByRole('main').textContent(), content).toContain(user.email)
    }
  })
})

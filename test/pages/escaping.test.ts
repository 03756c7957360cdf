import { Scope } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hostileTexts, shownText, skeleton, unescaped } from '../support/html.ts'
import { rawHttp } from '../support/raw-http.ts'
import { redirectUri, startServer, type TestServer, testScopes } from '../support/server.ts'
import { type LoggedIn, logIn } from '../support/session.ts'
import { authorizeUrl, formIn, UserAgent } from '../support/user-agent.ts'

/** A scope ID that contains markup. RFC 6749 §3.3 allows these characters. */
const hostileScope = "<script>alert('x')</script>&{{7*7}}"

let app: TestServer
let session: LoggedIn
let clientId: string
beforeAll(async () => {
  const scopes = hostileTexts.map(
    (text, index) => new Scope(`hostile:${index}`, { helpText: text, group: text }),
  )
  app = await startServer({
    scopes: [
      ...testScopes,
      ...scopes,
      new Scope('benign:0', { helpText: 'Help', group: 'Group' }),
      new Scope('benign', { helpText: 'x', group: 'y' }),
      new Scope(hostileScope, { helpText: 'x', group: 'y' }),
    ],
  })
  session = await logIn(app)
  clientId = (await app.client()).clientId
})
afterAll(() => app.close())

/** Expects that the page shows the hostile text, and has the same markup as a page with a harmless text. */
const expectShown = (html: string, text: string, harmless: string): void => {
  expect(skeleton(html)).toEqual(skeleton(harmless))
  expect(unescaped(html)).toContain(text)
  expect(html).not.toMatch(/\b49\b/)
}

/** Returns the text of the heading of a page, without markup. */
const heading = (html: string): string =>
  unescaped((/<h1>([\s\S]*?)<\/h1>/.exec(html)?.[1] ?? '').replaceAll(/<\/?bdi>/g, ''))

/** The script that every page loads. */
const ourScript = '<script src="/oauth/page.js" type="module"></script>'

const consent = async (
  input: { name?: string; description?: string; userId?: number | string },
  scope: string,
  as: Pick<LoggedIn, 'agent'> = session,
): Promise<string> => {
  const { clientId } = await app.client(input)
  const url = authorizeUrl(app.issuer, { client_id: clientId, redirect_uri: redirectUri, scope })
  const page = await as.agent.fetch(url)
  expect(page.status).toBe(200)
  return page.text()
}

describe('XS-01, XS-04 the consent page shows stored values as text', () => {
  test.each(hostileTexts.map((text, index) => [text, index]))('%s', async (text, index) => {
    const name = [...text].slice(0, 40).join('')
    const html = await consent({ name, description: text }, `hostile:${index}`)
    expectShown(html, text, await consent({ name: 'Client', description: 'About it' }, 'benign:0'))
    const shown = shownText(html)
    expect(heading(html)).toBe(`Allow ${name}?`)
    // The text occurs in the name, the group, the help text and the description.
    expect(shown.filter((line) => line === text).length).toBeGreaterThanOrEqual(
      name === text ? 4 : 3,
    )
    const title = unescaped(/<title>([\s\S]*?)<\/title>/.exec(html)?.[1] ?? '')
    expect(title).toBe(`Allow ${name}? · ${new URL(app.issuer).host}`)
  })

  test('escapes the ID of a scope', async () => {
    expectShown(await consent({}, hostileScope), hostileScope, await consent({}, 'benign'))
  })

  test('escapes the e-mail addresses of the user and of the owner', async () => {
    const email = "o'hara&{{7*7}}'-alert-'@example.org"
    const user = await app.newUser({ email })
    const hostile = await logIn({ issuer: app.issuer, user, password: app.password })
    const html = await consent({ userId: user.id }, 'benign', hostile)
    expectShown(html, email, await consent({}, 'benign'))
    expect(shownText(html).filter((line) => line === email)).toHaveLength(2)
  })

  test('escapes a redirect URI', async () => {
    const uri = "https://client.example/cb'?a=b&c='d'"
    const { clientId } = await app.client({ redirectUris: [uri] })
    const url = authorizeUrl(app.issuer, {
      client_id: clientId,
      redirect_uri: uri,
      scope: 'benign',
    })
    const html = await (await session.agent.fetch(url)).text()
    expect(skeleton(html)).toEqual(skeleton(await consent({}, 'benign')))
  })

  test('isolates the writing direction of the name and the description with <bdi>', async () => {
    const name = 'שלום'
    const html = await consent({ name, description: 'one\n\ntwo <b>three</b>' }, 'benign')
    expect(html).toContain(`<bdi>${name}</bdi>`)
    expect(html).toContain('<bdi>one\n\ntwo &lt;b&gt;three&lt;/b&gt;</bdi>')
  })
})

describe('XS-02 no response contains a value of the request as markup', () => {
  const errors = (query: string) => app.issuer.concat('/oauth/errors?', query)

  test.each(hostileTexts)('the error view shows %s as text', async (text) => {
    const harmless = await (await fetch(errors('error=x&error_description=y'))).text()
    const query = new URLSearchParams({
      error: text,
      error_description: text,
      error_uri: `javascript:${text}`,
      state: text,
      redirect_uri: text,
    })
    const html = await (await fetch(errors(String(query)))).text()
    expectShown(html, text, harmless)
    expect(shownText(html).filter((line) => line === text)).toHaveLength(2)
    expect(html).not.toContain('error_uri')
  })

  test.each(hostileTexts)('the login form repeats %s as text', async (text) => {
    const agent = new UserAgent()
    const query = new URLSearchParams({ next: text, email: text, prompt: text, error: text })
    const page = await agent.fetch(`${app.issuer}/login?${query}`)
    const html = await page.text()
    expect(unescaped(html)).not.toContain(text)
    const { hidden } = formIn(html)
    const failed = await agent.fetch(`${app.issuer}/login`, {
      method: 'POST',
      body: new URLSearchParams({ ...hidden, next: `/${text}`, email: text, password: text }),
    })
    expect(failed.status).toBe(403)
    const again = await failed.text()
    const harmless = await agent.fetch(`${app.issuer}/login`, {
      method: 'POST',
      body: new URLSearchParams({ ...hidden, email: 'x', password: 'y' }),
    })
    expectShown(again, text, await harmless.text())
    expect(unescaped(/<input id="email"[^>]*value="([^"]*)"/.exec(again)?.[1] ?? '')).toBe(text)
  })

  test.each(hostileTexts)(
    'an authorization request with %s in each parameter adds no markup',
    async (text) => {
      const names = [
        'client_id',
        'redirect_uri',
        'response_type',
        'response_mode',
        'scope',
        'state',
        'prompt',
        'code_challenge',
        'code_challenge_method',
        'request',
        'foo',
      ]
      for (const name of names) {
        const url = authorizeUrl(app.issuer, {
          client_id: clientId,
          redirect_uri: redirectUri,
          scope: '',
          [name]: text,
        })
        const page = await session.agent.browse(url)
        // The response is an error redirect, the consent page or the error view.
        const html = (await page.text()).replace(ourScript, '')
        expect(skeleton(html).join('')).not.toMatch(
          /script|img|svg|base|onerror|onload|onfocus|onmouseover/,
        )
        expect(page.headers.get('location') ?? '').not.toMatch(/[<>"\\\s]/)
      }
    },
  )

  test.each([
    '/oauth/<script>alert(1)</script>',
    '/oauth/"><img src=x>',
    "/oauth/'x'",
    '/oauth/%3Cscript%3E',
    '/oauth/absent?<script>',
  ])('the 404 page, %s', async (target) => {
    const { status, text } = await rawHttp(app, { target: target.replaceAll(' ', '%20') })
    expect(status).toBe(404)
    expect(unescaped(text.replace(ourScript, ''))).not.toMatch(/<script|alert|src=x|'x'/)
  })

  test.each(['Referer', 'User-Agent', 'Accept-Language', 'X-Forwarded-For', 'Origin'])(
    'a script in the header %s adds no markup',
    async (name) => {
      for (const target of ['/login', '/oauth/errors', '/oauth/absent']) {
        const { text } = await rawHttp(app, {
          target,
          headers: [`${name}: <script>alert(1)</script>`],
        })
        expect(text).not.toContain('alert')
      }
    },
  )
})

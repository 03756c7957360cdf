import {
  type AuthorizationServerOptions,
  html,
  type PageTemplate,
  raw,
  type ViewOf,
} from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { hostileTexts, unescaped } from '../support/html.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import { authorizeUrl, newPkce, UserAgent } from '../support/user-agent.ts'

const login = async ({ issuer }: TestServer): Promise<{ page: Response; text: string }> => {
  const page = await new UserAgent().fetch(`${issuer}/login`)
  return { page, text: await page.text() }
}

const brandIn = (text: string): string | undefined =>
  /<a class="brand"[^>]*>([\s\S]*?)<\/a>/.exec(text)?.[1]

describe('the name of the application', () => {
  test('is the host of the issuer by default', async () => {
    await using app = await startServer()
    expect(brandIn((await login(app)).text)).toBe(`<bdi>${new URL(app.issuer).host}</bdi>`)
  })

  test('is displayed without surrounding spaces in the header and in the title', async () => {
    await using app = await startServer({ applicationName: '  Notes & Co ' })
    const { text } = await login(app)
    expect(brandIn(text)).toBe('<bdi>Notes &amp; Co</bdi>')
    expect(text).toMatch(/<title>[^<]*Notes &amp; Co<\/title>/)
  })

  test('is escaped', async () => {
    for (const name of hostileTexts.slice(0, 4)) {
      await using app = await startServer({ applicationName: name })
      expect(unescaped(brandIn((await login(app)).text) ?? '')).toBe(`<bdi>${name}</bdi>`)
    }
  })

  test.each(['', ' ', '\u200B', 'x'.repeat(41), 'a\u202Eb', 'a\nb'])(
    'rejects the name %j at start-up',
    async (applicationName) => {
      await expect(startServer({ applicationName })).rejects.toThrow('applicationName')
    },
  )
})

describe('the logo', () => {
  test.each<[logo: string, source: string]>([
    ['/logo.svg', "img-src 'self' data:;"],
    ['https://cdn.example/logo.svg?a=;b', "img-src 'self' data: https://cdn.example;"],
    ['https://cdn.example:8443/a.png', "img-src 'self' data: https://cdn.example:8443;"],
  ])(
    'is displayed for the URL %s, whose origin the content security policy allows',
    async (logo, source) => {
      await using app = await startServer({ logo })
      const { page, text } = await login(app)
      expect(unescaped(brandIn(text) ?? '')).toContain(`<img src="${logo}" alt=""`)
      expect(page.headers.get('content-security-policy')).toContain(source)
    },
  )

  test.each([
    'logo.svg',
    '//cdn.example/x',
    '/\\x',
    'http://cdn.example/x',
    'data:image/png,x',
    'javascript:x',
    'https://',
    'https://a b/',
    'https://x:99999/',
    '',
  ])('rejects the logo %j at start-up', async (logo) => {
    await expect(startServer({ logo })).rejects.toThrow('logo')
  })
})

describe('the colours', () => {
  const sheet = async (options: Partial<AuthorizationServerOptions>): Promise<string> => {
    await using app = await startServer(options)
    return (await fetch(`${app.issuer}/oauth/style.css`)).text()
  }

  test('override the built-in colours of the stylesheet in light and in dark mode', async () => {
    const ours = await sheet({})
    const light = await sheet({ accentColor: '#a1B2c3' })
    const both = await sheet({ accentColor: '#a1B2c3', accentColorDark: '#fed' })
    expect(light.startsWith(ours)).toBe(true)
    const added = both.slice(ours.length)
    expect(light.slice(ours.length)).toMatch(/light\)[\s\S]*--accent: #a1B2c3;/)
    expect(light.slice(ours.length)).not.toContain('dark')
    expect(added).toMatch(/light\)[\s\S]*--accent: #a1B2c3;[\s\S]*dark\)[\s\S]*--accent: #fed;/)
  })

  test.each(['red', '#12', '#1234', '#12345', '#1234567', '#ggg', '', '#fff;}*{', 'rgb(0,0,0)'])(
    'rejects the colour %j at start-up',
    async (accentColor) => {
      await expect(startServer({ accentColor })).rejects.toThrow('accentColor')
      await expect(startServer({ accentColorDark: accentColor })).rejects.toThrow('accentColorDark')
    },
  )
})

describe('the endpoints of the stylesheet and the script', () => {
  test.each([
    ['style.css', 'text/css; charset=utf-8'],
    ['page.js', 'text/javascript; charset=utf-8'],
  ])(
    'return 304 for %s if the ETag of the browser is current, and otherwise the file',
    async (name, contentType) => {
      await using app = await startServer()
      const url = `${app.issuer}/oauth/${name}`
      const first = await fetch(url)
      expect(first.status).toBe(200)
      expect(first.headers.get('content-type')).toBe(contentType)
      expect(first.headers.get('cache-control')).toBe('public, no-cache')
      expect(first.headers.get('set-cookie')).toBeNull()
      const etag = first.headers.get('etag') ?? ''
      expect(etag).toMatch(/^"[\w-]{43}"$/)
      for (const tag of [etag, `W/${etag}`, `"x", ${etag}`]) {
        const again = await fetch(url, { headers: { 'if-none-match': tag } })
        expect(again.status).toBe(304)
        expect(again.headers.get('etag')).toBe(etag)
        expect(await again.text()).toBe('')
      }
      expect((await fetch(url, { headers: { 'if-none-match': '"x"' } })).status).toBe(200)
    },
  )

  test('have another ETag for the stylesheet if a colour changes', async () => {
    await using one = await startServer()
    await using two = await startServer({ accentColor: '#123456' })
    const tags = await Promise.all(
      [one, two].map(async ({ issuer }) =>
        (await fetch(`${issuer}/oauth/style.css`)).headers.get('etag'),
      ),
    )
    expect(tags[0]).not.toBe(tags[1])
  })
})

describe('page templates of the host', () => {
  test('replace the built-in pages, and receive the same view and frame as the built-in pages', async () => {
    const consent: PageTemplate<ViewOf<'consent'>> = (view, frame) =>
      html`<!doctype html><title>${frame.texts.consent.title(view.client.name)}</title>
<form method="post" action="${view.action}">
<input type="hidden" name="csrf_token" value="${frame.csrfToken}">
<input type="hidden" name="authorization_request" value="${view.authorizationRequest}">
${view.scopes.map(({ id }) => html`<li>${id}</li>`)}
<p>${frame.user?.email} at ${frame.brand.name}</p>
<button name="confirm" value="yes">ok</button></form>`
    await using app = await startServer({ pages: { consent }, applicationName: 'Notes' })
    const { agent } = await logIn(app)
    const { clientId } = await app.client({ name: '<b>Bold</b>' })
    const { challenge } = newPkce()
    const page = await agent.fetch(
      authorizeUrl(app.issuer, {
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: 'notes:read notes:write',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      }),
    )
    const text = await page.clone().text()
    expect(text).toContain('<title>Allow &lt;b&gt;Bold&lt;/b&gt;?</title>')
    expect(text).toContain('<li>notes:read</li><li>notes:write</li>')
    expect(text).toContain(`<p>${app.user.email} at Notes</p>`)
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    const response = await agent.submit(page, { confirm: 'yes' })
    expect(response.headers.get('location')).toMatch(/^https:\/\/client\.example\/cb\?code=/)
  })

  test('may return markup of a template engine that raw() marks as safe', async () => {
    const page: PageTemplate<ViewOf<'login'>> = () => raw('<h1 class="mine">Come in</h1>')
    await using app = await startServer({ pages: { login: page } })
    const { text, page: response } = await login(app)
    expect(text).toBe('<h1 class="mine">Come in</h1>')
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  })

  test('may return a promise', async () => {
    const page: PageTemplate<ViewOf<'login'>> = async () => html`<p>${'<'}</p>`
    await using app = await startServer({ pages: { login: page } })
    expect((await login(app)).text).toBe('<p>&lt;</p>')
  })

  test('cause a 500 response with the built-in text if they throw an error', async () => {
    const page: PageTemplate<ViewOf<'login'>> = () => {
      throw new Error('a secret of the host')
    }
    await using app = await startServer({ pages: { login: page } })
    const { page: response, text } = await login(app)
    expect(response.status).toBe(500)
    expect(text).toContain('Something went wrong on our side.')
    expect(text).not.toContain('secret')
  })

  test('cause a JSON response if the template of the problem page throws an error', async () => {
    const problem: PageTemplate<ViewOf<'problem'>> = () => {
      throw new Error('a secret of the host')
    }
    await using app = await startServer({ pages: { problem } })
    const response = await fetch(`${app.issuer}/oauth/absent`)
    expect(response.status).toBe(500)
    expect(await response.json()).toMatchObject({ error: 'server_error' })
  })

  test('are rejected at start-up if the name of a page is unknown or the value is not a function', async () => {
    for (const [pages, message] of [
      [{ logIn: () => html`` }, 'pages accepts functions named'],
      [{ __proto__x: null }, 'pages accepts functions named'],
      [{ login: 'page.html' }, 'pages.login must be a function.'],
    ] as const)
      await expect(startServer({ pages: pages as never })).rejects.toThrow(message)
  })
})

describe('the prefixes of the pages', () => {
  test('settingsPrefix and adminPrefix change the paths of the pages', async () => {
    await using app = await startServer({ settingsPrefix: '/me', adminPrefix: '/staff' })
    const { agent } = await logIn(app)
    const page = await agent.fetch(`${app.issuer}/login?prompt=login`)
    expect(page.status).toBe(200)
    for (const path of ['/me/applications/', '/staff/applications/'])
      expect(app.server.handles(path), path).toBe(true)
    expect(app.server.handles('/account/settings/applications/')).toBe(false)
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unescaped } from '../../support/html.ts'
import { rawHttp } from '../../support/raw-http.ts'
import { redirectUri, startServer } from '../../support/server.ts'
import { browser } from '../../support/session.ts'
import { UserAgent } from '../../support/user-agent.ts'
import { written } from '../api/script.ts'
import { afterForms, newWorld, type World } from './every-page.ts'
import { at, Page, Person } from './support.ts'

const pageAt = async (url: string) => {
  const response = await fetch(url, { redirect: 'manual' })
  return [response, await response.text()] as const
}

let world: World
let pages: readonly (readonly [string, Page])[]
beforeAll(async () => {
  world = await newWorld()
  const linked = await Promise.all(
    world.pages.map(async ({ name, path, who }) => [name, await who.get(path)] as const),
  )
  pages = [...linked, ...(await afterForms(world))]
})
afterAll(() => world.close())

describe('decision §6.3 every page, including the error pages', () => {
  test('has a strict content security policy, and is not cacheable', () => {
    expect(pages.length).toBeGreaterThan(50)
    for (const [name, { headers }] of pages) {
      expect(headers.get('content-security-policy'), name).toBe(
        "default-src 'none'; script-src 'self'; connect-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
      )
      expect(headers.get('cache-control'), name).toBe('no-store')
      expect(headers.get('content-type'), name).toBe('text/html; charset=utf-8')
      expect(headers.get('x-content-type-options'), name).toBe('nosniff')
      expect(headers.get('x-frame-options'), name).toBe('DENY')
      expect(headers.get('referrer-policy'), name).toBe('no-referrer')
      expect(headers.get('vary'), name).toBe('accept-language, cookie')
      for (const header of ['etag', 'last-modified', 'access-control-allow-origin', 'x-powered-by'])
        expect(headers.get(header), name).toBeNull()
    }
  })

  test('has no inline script or style, and loads nothing from other origins', () => {
    for (const [name, { html }] of pages) {
      const tags = [...html.matchAll(/<[a-z](?:"[^"]*"|[^">])*>/gi)].map(([tag]) => tag)
      const bare = tags.map((tag) => tag.replaceAll(/"[^"]*"/g, '""')).join('\n')
      expect(bare, name).not.toMatch(/\s(?:style|on[a-z]+|srcdoc|formaction|ping|background)=/i)
      expect(bare, name).not.toMatch(/<(?:style|iframe|object|embed|base|svg|meta http-equiv)\b/i)
      expect(html.match(/<script\b[^>]*>[\s\S]*?<\/script>/g), name).toEqual([
        '<script src="/oauth/page.js" type="module"></script>',
      ])
      expect(html, name).not.toMatch(/javascript:|@import|url\(/i)
      for (const [, address = ''] of html.matchAll(/\s(?:src|action)="([^"]*)"/g))
        expect(address, name).toMatch(/^\/(?!\/)/)
      for (const [tag] of html.matchAll(/<link\b[^>]*>/g))
        expect(tag, name).toMatch(/ href="(?:data:,|\/oauth\/style\.css)"/)
    }
  })

  test('RFC 9700 §4.11 shows the host of each link to another site, and sends no form there [T4310]', async () => {
    const { app } = world
    // A client that registered itself, whose metadata names other sites.
    const sites = ['website', 'terms', 'privacy', 'logo'].map((name) => `https://${name}.example/a`)
    const [website, tos_uri, policy_uri, logo_uri] = sites as [string, string, string, string]
    const back = 'https://after.example/logout'
    const { client } = await app.server.clients.create(
      { name: 'Stranger', userId: null, redirectUris: [redirectUri], website },
      {
        origin: 'registration',
        registrationToken: null,
        metadata: JSON.stringify({
          tos_uri,
          policy_uri,
          logo_uri,
          post_logout_redirect_uris: [back],
        }),
      },
    )
    const stranger = await Person.stranger(app)
    const query = new URLSearchParams({
      client_id: client.clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
    })
    const away = `client_id=${client.clientId}&post_logout_redirect_uri=${back}`
    const more = [
      await stranger.get(`/oauth/authorize?${query}`),
      await world.admin.get(at.adminApplication(client.clientId)),
      new Page(...(await pageAt(`${app.issuer}/oauth/logout?${away}`))),
    ]
    const led = new Set<string>()
    for (const { html } of [...pages.map(([, page]) => page), ...more]) {
      for (const [, action = ''] of html.matchAll(/\s(?:form)?action="([^"]*)"/g))
        expect(new URL(unescaped(action), app.issuer).origin).toBe(app.issuer)
      const links = html.matchAll(
        /<a\b[^>]*\shref="([^"]*)"[^>]*>(.*?)<\/a>( <small>.*?<\/small>)?/gs,
      )
      for (const [link, href = ''] of links) {
        const { origin, host, protocol } = new URL(unescaped(href), app.issuer)
        if (origin === app.issuer) continue
        expect([link, protocol]).toEqual([link, 'https:'])
        expect(unescaped(link.replaceAll(/<[^>]*>/g, ''))).toContain(host)
        expect(link).toMatch(/ rel="[^"]*noreferrer/)
        led.add(host)
      }
    }
    for (const host of ['website', 'terms', 'privacy', 'after', 'printer'])
      expect(led).toContain(`${host}.example`)
  })

  test('marks external links, and prevents browsers from sending a referrer', () => {
    for (const [name, { html }] of pages)
      for (const [tag] of html.matchAll(/<a\b[^>]*href="https?:[^>]*>/g)) {
        if (tag.includes(world.app.issuer)) continue
        expect(tag, name).toContain('rel="noopener noreferrer nofollow"')
      }
  })

  test('has the CSRF token of the session and a unique form ID in every POST form', () => {
    for (const [name, page] of pages) {
      for (const { action, fields } of page.forms) {
        expect([name, action, fields.csrf_token?.length]).toEqual([name, action, 1])
        const isOurs = /^\/(?:account|admin|login\/(?:forgot|sign))/.test(action)
        expect([name, action, 'form_id' in fields]).toEqual([name, action, isOurs])
      }
    }
    const ids = pages.map(([, page]) => page.forms.map(({ fields }) => fields.form_id?.[0]))
    const perPage = ids.map((all) => new Set(all.filter((id) => id !== undefined)))
    expect(perPage.every(({ size }) => size <= 1)).toBe(true)
    const all = perPage.flatMap((set) => [...set])
    expect(new Set(all).size).toBe(all.length)
  })

  test('has unique IDs, labels for its fields, and one first-level heading', () => {
    for (const [name, { html }] of pages) {
      const ids = [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id)
      expect([name, ids.length]).toEqual([name, new Set(ids).size])
      const targets = [
        ...html.matchAll(/\s(?:for|form|aria-labelledby|aria-describedby)="([^"]*)"/g),
      ].flatMap(([, list = '']) => list.split(' '))
      for (const target of targets) expect(ids, `${name}: ${target}`).toContain(target)
      const jumps = [...html.matchAll(/href="#([^"]*)"/g)].map(([, target]) => target)
      for (const target of jumps) expect(ids, `${name}: #${target}`).toContain(target)
      expect(html.match(/<h1>/g), name).toHaveLength(1)
    }
  })

  test('shows no session identifier, and shows a secret or a token only after its creation', () => {
    const { session } = world.person
    for (const [name, { html }] of pages) {
      expect(html, name).not.toContain(session.identifier)
      if (!/registered|reset|token created|rotated/.test(name))
        expect(html, name).not.toMatch(/id="(?:client-secret|access-token)"/)
    }
  })
})

describe('invalid requests', () => {
  test('unknown query parameters do not change the page', async () => {
    for (const query of [
      'a=b',
      'delete=yes&others=yes&act=delete&confirm=yes',
      'name=x&scopes=test:scope',
      '&&&===',
      '%00',
      '%',
      '%zz=%',
      'access_token=x',
      '__proto__=x&constructor=x',
      `a=${'x'.repeat(10_000)}`,
    ])
      for (const path of [at.list, at.newClient, at.newToken, at.sessions]) {
        const [plain, page] = [
          await world.person.get(path),
          await world.person.get(`${path}?${query}`),
        ]
        expect([query.slice(0, 40), page.status]).toEqual([query.slice(0, 40), 200])
        expect(page.names).toEqual(plain.names)
      }
  })

  test('an invalid cursor causes a 200 response', async () => {
    const lists = [
      ...['clients_after', 'tokens_after', 'authorized_after'].map((name) => [at.list, name]),
      [at.sessions, 'after'],
    ] as const
    for (const [path, name] of lists)
      for (const value of [
        '',
        'x',
        '1',
        '.',
        '1.',
        '.x',
        '-1.x',
        '1e3.x',
        '0.0',
        '999999999999999.zzz',
        '99999999999999999999.x',
        '1.x\u0000',
        "1.' or 1=1 --",
        '١.x',
        '<script>',
        'x'.repeat(5_000),
      ]) {
        const page = await world.person.get(`${path}?${new URLSearchParams([[name ?? '', value]])}`)
        expect([name, value, page.status]).toEqual([name, value, 200])
        expect(page.html).not.toContain('<script>')
      }
    const twice = await world.person.get(`${at.list}?clients_after=x&clients_after=y`)
    expect(twice.status).toBe(200)
  })

  test('a query that is too long causes a 414 or 431 response, and the server handles the next request', async () => {
    const { cookie } = world.person.session
    for (const path of [at.list, at.sessions, at.newClient]) {
      const { status } = await rawHttp(world.app, {
        target: `${path}?${'x'.repeat(17_000)}`,
        headers: [`Cookie: ${cookie}`],
      })
      expect([414, 431]).toContain(status)
    }
    // Bypass the limit of Node, because the limit of an application may be higher.
    const long = new Request(`${world.app.issuer}${at.list}?${'x'.repeat(17_000)}`, {
      headers: { cookie, 'user-agent': browser },
    })
    const response = await world.app.server.fetch(long, { remoteAddress: '127.0.0.1' })
    expect(response.status).toBe(414)
    expect((await world.person.get(at.list)).status).toBe(200)
  })

  test('a missing CSRF token or an invalid name causes a 4xx response', async () => {
    const { person } = world
    const send = (body: string) =>
      person.request(at.newClient, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
    for (const body of ['', '&', '=', 'name=x', '%', 'csrf_token=%ff%fe&name=%ff'])
      expect([body, (await send(body)).status]).toEqual([body, 403])
    const token = `csrf_token=${person.session.csrfToken}`
    for (const name of ['', '%00', '%ed%a0%80'.repeat(41), '%0a'])
      expect([name, (await send(`${token}&name=${name}`)).status]).toEqual([name, 400])
    expect((await send(`${token}&name[]=x`)).status).toBe(400)
  })

  test.each([
    '/account/settings//applications/',
    '//account/settings/applications/',
    '/account/settings/applications//',
    '/account/settings/applications/clients//',
    '/account/settings/applications/authorized//revoke/',
    '/account/settings/applications/clients/%00/',
    '/account/settings/applications/clients/%/',
    '/account/settings/applications/clients/%zz/',
    '/account/settings/applications/clients/%ff/',
    '/account/settings/applications/clients/%2F/',
    '/account/settings/applications/clients/..%2f..%2f/',
    '/account/settings/applications/clients/a/b/',
    '/account/settings/applications/clients/new/new/',
    '/account/settings/applications/CLIENTS/NEW/',
    '/account/settings/applications/clients/new/index.html',
    '/account/settings/applications/tokens/1/view/view/',
    '/account/settings/applications\\clients\\new/',
    '/ACCOUNT/SETTINGS/applications/',
    '/account/settings/activity/x/',
    '/admin/activity/x/',
    '/admin/applications/x/',
    '/admin/applications/x/y/',
    '/admin/tokens/x/',
  ])('with the unknown path %s return 404 without a redirect', async (target) => {
    const { cookie } = world.admin.session
    const before = written(world.app)
    for (const method of ['GET', 'POST']) {
      const { status, headers } = await rawHttp(world.app, {
        method,
        target,
        headers: [
          `Cookie: ${cookie}`,
          `User-Agent: ${browser}`,
          'Accept: text/html',
          'Content-Type: application/x-www-form-urlencoded',
        ],
      })
      expect([method, status]).toEqual([method, 404])
      expect(headers.get('location')).toBeNull()
    }
    expect(written(world.app)).toEqual(before)
  })

  // A path with a dot segment must not bypass a guard that the application adds to a path (docs/security.md).
  test.each([
    '/account/settings/applications/./clients/new/',
    '/account/settings/applications/clients/../',
    '/account/settings/applications/clients/%2e%2e/',
    '/account/settings/applications/x/../clients/new/',
  ])('with the dot segment in %s return 404', async (target) => {
    const headers = [`Cookie: ${world.person.session.cookie}`, `User-Agent: ${browser}`]
    expect((await rawHttp(world.app, { target, headers })).status).toBe(404)
  })

  test('another Host or X-Forwarded-Host does not change links and redirects', async () => {
    const path = at.list
    for (const headers of [
      ['Host: evil.example'],
      ['Host: evil.example', 'X-Forwarded-Host: evil.example', 'Forwarded: host=evil.example'],
    ]) {
      const {
        status,
        headers: response,
        text,
      } = await rawHttp(world.app, { target: path, headers })
      expect([status, response.get('location')]).toEqual([
        303,
        `/login?next=${encodeURIComponent(path)}`,
      ])
      expect(text).not.toContain('evil')
    }
    const signedIn = await rawHttp(world.app, {
      target: at.client(world.clientId),
      headers: [
        'Host: evil.example',
        'X-Forwarded-Host: evil.example',
        `Cookie: ${world.person.session.cookie}`,
        `User-Agent: ${browser}`,
      ],
    })
    expect(signedIn.status).toBe(200)
    expect(signedIn.text).not.toContain('evil')
  })

  test('no invalid request causes a log entry of the level error', () => {
    expect(world.app.log.filter(({ level }) => level === 'error')).toEqual([])
  })
})

describe('a server under a path, with configured prefixes', () => {
  test('has the path in every link and form of its pages', async () => {
    await using app = await startServer({
      basePath: '/auth/v2',
      settingsPrefix: '/me',
      adminPrefix: '/staff',
      loginPath: '/enter',
      logoutPath: '/leave',
      oauthPrefix: '/o',
    })
    const agent = new UserAgent({ 'user-agent': browser, accept: 'text/html' })
    const login = await agent.browse(`${app.issuer}/me/applications/`)
    expect(login.address).toContain('/auth/v2/enter?next=')
    await agent.submit(login, { email: app.user.email, password: app.password })
    const session = { ...world.person.session, agent }
    const person = new Person(app, session, app.user)
    const list = '/auth/v2/me/applications/'
    const client = await person.fill(`${list}clients/new/`, {
      name: 'Printer',
      redirect_uris: redirectUri,
    })
    const token = await person.fill(`${list}tokens/new/`, { name: 'Laptop' })
    const found = [
      await person.get(list),
      await person.follow(client),
      await person.follow(token),
      await person.get('/auth/v2/me/sessions/'),
      await person.get('/auth/v2/staff/applications/'),
    ]
    expect(found.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404])
    expect(found[1]?.copied('client-secret')).toMatch(/^\w{60}$/)
    for (const { html } of found)
      for (const [, address = ''] of html.matchAll(/\s(?:src|action|href)="(\/[^"]*)"/g))
        expect(address).toMatch(/^\/auth\/v2\//)
    expect((await person.get('/me/applications/')).status).toBe(404)
    expect((await person.get(at.list)).status).toBe(404)
  })
})

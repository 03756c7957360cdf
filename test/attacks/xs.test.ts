import { Scope } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at, Person, textOf } from '../pages/settings/support.ts'
import { Device, openDevicePage, postToDevicePage } from '../support/device.ts'
import { hostileTexts, shownText, skeleton, unescaped } from '../support/html.ts'
import { rawHttp } from '../support/raw-http.ts'
import { register, registered } from '../support/registration.ts'
import { testScopes } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import { en } from '../support/texts.ts'
import { formIn } from '../support/user-agent.ts'
import {
  type AttackClient,
  type AttackServer,
  expectJson,
  expectLocal400,
  expectRedirect,
  type HttpResponse,
  isConsentPage,
  isLoginPage,
  startAttackServer,
} from './support/attack-server.ts'

const harmless = 'Harmless'
/** Characters that are allowed in a scope and special in markup. */
const hostileScope = "<script>alert('x')</script>&{{7*7}}"

let attack: AttackServer
beforeAll(async () => {
  const texts = [harmless, ...hostileTexts].map(
    (text, index) => new Scope(`said:${index}`, { helpText: text, group: text }),
  )
  attack = await startAttackServer({
    scopes: [
      ...testScopes,
      new Scope('r', { helpText: 'Read' }),
      new Scope('w', { helpText: 'Write' }),
      new Scope('rw:all', { helpText: 'Read and write everything' }),
      new Scope('sys:internal', { internal: true }),
      new Scope(hostileScope, { helpText: 'x' }),
      ...texts,
    ],
  })
})
afterAll(() => attack.close())

/** Expects that a page contains the payload as text, and has the same markup as the page with a harmless text. */
const expectShown = (html: string, text: string, likeThis: string): void => {
  expect(skeleton(html)).toEqual(skeleton(likeThis))
  expect(unescaped(html)).toContain(text)
  expect(html).not.toMatch(/\b49\b/)
}

/** Returns the text of a page as one line. */
const shown = (html: string): string => textOf(/<body>[\s\S]*<\/body>/.exec(html)?.[0] ?? '')

const consentPage = async (
  over: Parameters<AttackServer['authorize']>[0],
  asking: Parameters<AttackServer['authorize']>[1] = {},
): Promise<string> => {
  const page = await attack.authorize(over, { ...asking, submit: null })
  expect(isConsentPage(page), page.location ?? page.text).toBe(true)
  return page.text
}

describe('XS-01 Stored cross-site scripting', () => {
  let users = 0

  /** Returns every page that shows texts of other users, with this text in all fields. */
  const pagesWith = async (text: string): Promise<Readonly<Record<string, string>>> => {
    users += 1
    const { password } = attack.users.a
    const { server } = attack.server
    const email = `xs-${users}@example.org`
    const user = await server.users.create({ email, password, isAdmin: true })
    const account = { issuer: attack.issuer, user, password }
    // The user agent is stored with the session and the authorization.
    const userAgent = { 'user-agent': text, accept: 'text/html' }
    const person = new Person(attack.server, await logIn(account, userAgent), user)
    const name = [...text].slice(0, 40).join('')
    const client = await attack.client({
      name,
      description: text,
      website: 'https://client.example/',
      userId: user.id,
    })
    const token = await server.tokens.createPersonal(name, user.id, { scopes: ['r'] })
    const scope = `said:${[harmless, ...hostileTexts].indexOf(text)}`
    const { agent } = person.session
    const consent = await consentPage({ scope }, { client, agent })
    await attack.grant({ scope }, { client, agent })
    const [{ id: device = 0 } = {}] = await attack.server.query(
      `select id from oauth2server_token join oauth2server_client using (client_key) where client_id = '${client.clientId}'`,
    )
    const asking = new Device(attack.server, client, true)
    const codes = await asking.codes({ scope })
    attack.saw(codes.device_code)
    const { user_code } = codes
    const csrf_token = person.session.csrfToken
    const deviceConsent = await postToDevicePage(attack.server, person.session, {
      csrf_token,
      user_code,
    })
    const page = async (path: string): Promise<string> => (await person.get(path)).html
    const refused = async (path: string, fields: Record<string, string>): Promise<string> => {
      const response = await person.post(path, fields)
      expect(response.status).toBe(400)
      return response.html
    }
    const [own, mine] = [at.client(client.clientId), at.token(token.id)]
    return {
      consent,
      'device consent': deviceConsent.html,
      list: await page(at.list),
      application: await page(own),
      'an application that is edited': await refused(own, {
        name,
        description: text,
        website: 'x',
      }),
      'a deletion that is not confirmed': await refused(own, {
        delete: 'yes',
        confirm_name: `not ${text}`,
      }),
      'a new application': await refused(at.newClient, { name: text.repeat(41) }),
      'personal token': await page(mine),
      'a personal token that is edited': await refused(mine, { name: text.repeat(41) }),
      'a new personal token': await refused(at.newToken, { name, expires: text }),
      authorization: await page(at.view(Number(device))),
      sessions: await page(at.sessions),
      'a user': await page(at.adminUser(user.id)),
      'an application in the administration': await page(at.adminApplication(client.clientId)),
      'all applications': await page(`${at.admin}?client=${client.clientId}`),
      'all tokens': await page(`${at.adminTokens}?${new URLSearchParams({ token: email })}`),
      'a search': await page(`${at.admin}?${new URLSearchParams({ client: text })}`),
    }
  }

  let likeThis: Readonly<Record<string, string>>
  beforeAll(async () => {
    likeThis = await pagesWith(harmless)
  })

  test.each(hostileTexts)('escapes %s on every page', async (text) => {
    const name = [...text].slice(0, 40).join('')
    for (const [page, html] of Object.entries(await pagesWith(text))) {
      const like = likeThis[page] ?? ''
      expect(skeleton(html), page).toEqual(skeleton(like))
      // The page of sessions shows only known names of browsers.
      if (page === 'sessions') expect(unescaped(html)).not.toContain(text)
      else expect(unescaped(html), page).toContain(name)
      expect(html).not.toMatch(/\b49\b/)
    }
  })

  test('escapes a scope ID and an e-mail address', async () => {
    expectShown(
      await consentPage({ scope: hostileScope }, { client: 'imp' }),
      hostileScope,
      await consentPage({ scope: 'said:0' }, { client: 'imp' }),
    )
    const { password } = attack.users.a
    const email = "o'hara&{{7*7}}'-alert-'@example.org"
    const user = await attack.server.server.users.create({ email, password })
    const { agent } = await logIn({ issuer: attack.issuer, user, password })
    const client = await attack.client({ userId: user.id })
    const html = await consentPage({ scope: 'r' }, { client, agent })
    expectShown(html, email, await consentPage({ scope: 'r' }, { client: 'imp' }))
    expect(shownText(html).filter((line) => line === email)).toHaveLength(2)
  })

  test.each(hostileTexts)('sends JSON as application/json with nosniff: %s', async (text) => {
    const name = [...text].slice(0, 40).join('')
    const { agent, jwt } = await attack.browser('b')
    const { clientId } = await attack.client({ name, userId: attack.users.b.user.id })
    const headers = { accept: 'application/json', authorization: `Bearer ${jwt}` }
    const response = await attack.request(at.client(clientId), { agent, headers })
    expect(response.body.name).toBe(name)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('escapes the metadata of a registered client', async () => {
    const likeThis = await registered(attack.server, { client_name: harmless, contacts: ['x'] })
    attack.saw(likeThis.client_secret, likeThis.registration_access_token)
    const asking = ({
      client_id: clientId,
      client_secret: clientSecret = '',
    }: typeof likeThis) => ({
      client: {
        clientId,
        clientSecret,
        redirectUri: 'https://client.example/cb',
        isConfidential: true,
      },
    })
    const like = await consentPage({}, asking(likeThis))
    for (const text of hostileTexts) {
      const made = await registered(attack.server, {
        client_name: text,
        contacts: [text],
        software_id: text,
        software_version: text,
      })
      attack.saw(made.client_secret, made.registration_access_token)
      const html = await consentPage({}, asking(made))
      expectShown(html, String(made.client_name), like)
    }
  })
})

describe('XS-02 Reflected cross-site scripting', () => {
  const ourScript = '<script src="/oauth/page.js" type="module"></script>'
  const expectInert = ({
    text,
    headers,
    location,
  }: Pick<HttpResponse, 'text' | 'headers' | 'location'>) => {
    const tags = skeleton(text.replace(ourScript, '')).join('')
    expect(tags).not.toMatch(/script|img|svg|<base|onerror|onload|onfocus|onmouseover/)
    expect(location ?? '').not.toMatch(/[<>"\\\s]/)
    if (text.includes('<html')) expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  }

  test.each(hostileTexts)('escapes %s in the error view', async (text) => {
    const of = (error: string, error_description: string) => {
      const error_uri = `javascript:${error}`
      const query = { error, error_description, error_uri, state: error, redirect_uri: error }
      return attack.request(`/oauth/errors?${new URLSearchParams(query)}`)
    }
    const page = await of(text, text)
    expectLocal400(page)
    expectShown(page.text, text, (await of('x', 'y')).text)
    expect(page.text).not.toMatch(/javascript:(?!alert\(1\)<)|error_uri/)
  })

  test.each(hostileTexts)(
    'escapes each parameter of an authorization request: %s [T095]',
    async (text) => {
      const names = [
        ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state'],
        ...['prompt', 'code_challenge', 'code_challenge_method', 'request', 'resource', 'foo'],
      ]
      for (const name of names) {
        for (const as of ['a', null] as const) {
          const page = await attack.authorize({ [name]: text }, { as, submit: null })
          expect(page.status).toBeLessThan(500)
          expectInert(page)
          // The redirect contains the encoded value.
          if (page.location !== undefined && name === 'state') expect(page.query.state).toBe(text)
        }
      }
    },
  )

  test.each(hostileTexts)(
    'escapes %s on the login page, the device page and a 404',
    async (text) => {
      const query = new URLSearchParams({ next: text, email: text, prompt: text, error: text })
      const login = await attack.request(`/login?${query}`)
      expectInert(login)
      expect(unescaped(login.text)).not.toContain(text)
      const fields = { ...formIn(login.text).hidden, next: `/${text}`, email: text, password: text }
      const failed = await attack.request('/login', {
        method: 'POST',
        body: new URLSearchParams(fields),
      })
      expect(failed.status).toBe(403)
      expectInert(failed)

      const me = await attack.browser('a')
      const asked = `?${new URLSearchParams({ user_code: text, ui_locales: text })}`
      const pages = [
        await openDevicePage(attack.server, me, asked),
        await postToDevicePage(attack.server, me, { csrf_token: '', user_code: text }),
      ]
      for (const { html, headers } of pages)
        expectInert({ text: html, headers, location: undefined })
      const path = `/oauth/${encodeURIComponent(text)}`
      expectInert(await attack.request(path, { headers: { accept: 'text/html' } }))
    },
  )

  test.each(['/oauth/<script>alert(1)</script>', '/oauth/"><img/src=x>', "/oauth/'x'"])(
    'escapes the unencoded URL %s',
    async (target) => {
      const { status, text } = await rawHttp(attack.server, { target })
      expect(status).toBe(404)
      expect(unescaped(text.replace(ourScript, ''))).not.toMatch(/<script|alert|src=x|'x'/)
    },
  )

  test('ignores JSONP callbacks at every endpoint', async () => {
    const { clientId, clientSecret } = attack.clients.conf
    const authorization = `Basic ${btoa(`${clientId}:${clientSecret}`)}`
    for (const path of ['/oauth/revoke', '/oauth/introspect', '/oauth/token', '/oauth/ping']) {
      const callback = '<script>alert(1)</script>'
      for (const query of ['', `?${new URLSearchParams({ callback, jsonp: callback })}`]) {
        const response = await attack.request(`${path}${query}`, {
          method: 'POST',
          body: new URLSearchParams({ token: 'x', callback, jsonp: callback }),
          headers: { authorization },
        })
        expect(response.text).not.toContain('alert')
        expect(response.headers.get('content-type')).toMatch(/^application\/json\b/)
      }
    }
  })
})

describe('XS-03 URIs that pages show as links', () => {
  const dangerous = [
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    ' java\tscript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'http://169.254.169.254/',
    'http://client.example/',
    'https://evil.example/"onmouseover=alert(1)',
    'https://evil.example/<script>',
    'https://user:pw@evil.example/',
    'https://',
    'https:\\\\evil.example',
    '//evil.example',
    'ftp://evil.example/',
    'https://evil.example/\u0000',
  ]

  test.each(dangerous)('does not accept %j at any registration or in any form', async (uri) => {
    for (const name of ['client_uri', 'logo_uri', 'tos_uri', 'policy_uri']) {
      const metadata = { redirect_uris: ['https://client.example/cb'], [name]: uri }
      const { status, body } = await register(attack.server, metadata)
      // The server omits a link over http (RFC 7591 §2), and refuses any other text.
      if (uri.startsWith('http://')) expect([status, body[name]], name).toEqual([201, undefined])
      else expect([status, body.error], name).toEqual([400, 'invalid_client_metadata'])
    }
    const before = await attack.state()
    const person = new Person(attack.server, await attack.browser('a'), attack.users.a.user)
    const redirect_uris = 'https://client.example/cb'
    for (const path of [at.newClient, at.client(attack.clients.conf.clientId)]) {
      const page = await person.post(path, { name: 'Linked', redirect_uris, website: uri })
      expect(page.status).toBe(400)
      expect(page.html).not.toMatch(/<a [^>]*href="(?:javascript|data|vbscript|ftp)/i)
    }
    expect(await attack.state()).toEqual(before)
  })

  test('adds noreferrer to links of a client, and does not load the client’s images', async () => {
    const made = await registered(attack.server, {
      client_uri: 'https://linked.example/?a=b&c=d',
      tos_uri: 'https://linked.example/terms',
      policy_uri: 'https://linked.example/privacy',
      logo_uri: 'https://linked.example/logo.png',
    })
    attack.saw(made.client_secret, made.registration_access_token)
    const client: AttackClient = {
      clientId: made.client_id,
      clientSecret: made.client_secret,
      redirectUri: 'https://client.example/cb',
      isConfidential: true,
    }
    const page = await attack.authorize({}, { client, submit: null })
    const links = page.text.match(/<a [^>]*linked\.example[^>]*>/g) ?? []
    expect(links).toHaveLength(3)
    for (const link of links) expect(link).toContain('rel="noopener noreferrer nofollow"')
    expect(page.text).not.toContain('logo.png')
    expect(page.headers.get('content-security-policy')).not.toContain('linked.example')
  })
})

describe('XS-04 Template injection', () => {
  const expressions = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression that must not be evaluated
    '${T(java.lang.Runtime).getRuntime()}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression that must not be evaluated
    '${7*7}',
    '{{7*7}}',
    "{{constructor.constructor('return 7*7')()}}",
    '#{7*7}',
    '<%= 7*7 %>',
    '[[7*7]]',
    '@(7*7)',
  ]

  test.each(expressions)('rejects or shows %s without evaluating it', async (text) => {
    expectRedirect(await attack.authorize({ scope: text }), 'invalid_scope')
    expectRedirect(await attack.authorize({ response_type: text }), 'unsupported_response_type')
    expectLocal400(await attack.authorize({ client_id: text }))
    const { query } = await attack.authorize({ state: text })
    expect(query.state).toBe(text)
    const view = await attack.request(
      `/oauth/errors?${new URLSearchParams({ error: text, error_description: text })}`,
    )
    expect(shownText(view.text).filter((line) => line === text)).toHaveLength(2)
    expect(view.text).not.toMatch(/\b49\b/)
    const client = await attack.client({ name: [...text].slice(0, 40).join('') })
    const html = await consentPage({}, { client })
    expect(unescaped(html)).toContain([...text].slice(0, 40).join(''))
    expect(html).not.toMatch(/\b49\b/)
  })

  test('ignores form fields named like Object.prototype members', async () => {
    const person = new Person(attack.server, await attack.browser('a'), attack.users.a.user)
    const page = await person.post(at.newToken, {
      name: 'Ordinary',
      ['__proto__']: 'x',
      '__proto__[scopes]': 'w',
      'constructor.prototype.scopes': 'w',
      toString: 'x',
      hasOwnProperty: 'x',
    } as never)
    expect(page.status).toBe(303)
    const [{ scopes } = {}] = await attack.server.query(
      'select scopes from oauth2server_token where is_personal = 1 order by id desc limit 1',
    )
    expect(scopes).toBe('')
    expect(({} as Record<string, unknown>).scopes).toBeUndefined()
    const json = '{"redirect_uris":["https://client.example/cb"],"__proto__":{"scope":"w"}}'
    const { status, body } = await register(attack.server, json)
    attack.saw(body.client_secret, body.registration_access_token)
    expect([201, 400]).toContain(status)
    expect(({} as Record<string, unknown>).scope).toBeUndefined()
    for (const scope of ['__proto__', 'constructor', 'toString'])
      expectRedirect(await attack.authorize({ scope }), 'invalid_scope')
    const machine = { grant_type: 'client_credentials', scope: '__proto__' }
    expectJson(await attack.token(machine, { client: 'm2m' }), 400, 'invalid_scope')
  })
})

describe('XS-06 Content of the consent page', () => {
  test('warns that a client registered itself even if it has the name of a known client', async () => {
    const made = await registered(attack.server, { client_name: 'Conf' })
    attack.saw(made.client_secret, made.registration_access_token)
    const client = {
      clientId: made.client_id,
      clientSecret: made.client_secret,
      redirectUri: 'https://client.example/cb',
      isConfidential: true,
    }
    const brand = new URL(attack.issuer).host
    const html = await consentPage({}, { client })
    expect(shown(html)).toContain(en.consent.selfRegistered(brand))
    expect(html).not.toContain(en.facts.verified)
    expect(shown(html)).not.toContain(en.consent.owner)
    const known = shown(await consentPage({ prompt: 'consent' }))
    expect(known).toContain(en.consent.unverified(brand))
    expect(known).toContain(`${en.consent.owner} ${attack.users.a.user.email}`)
    expect(known).not.toContain(en.consent.selfRegistered(brand))
  })

  test('removes the verification of a client that changes its name', async () => {
    const { clients } = attack.server.server
    const client = await attack.client({ name: 'Real Bank' })
    await clients.mark(client.clientId, { isVerified: true })
    expect(await consentPage({}, { client })).toContain(en.facts.verified)
    await clients.update(client.clientId, { name: 'Other Bank' })
    expect(await consentPage({}, { client })).not.toContain(en.facts.verified)
  })

  test.each([
    ['https://xn--80ak6aa92e.example/cb', 'xn--80ak6aa92e.example'],
    ['https://client.example:8443/cb?x=https://bank.example', 'client.example:8443'],
    ['https://bank.example.evil.example/cb', 'bank.example.evil.example'],
  ])('shows the actual host of the redirect URI %s', async (redirectUri, host) => {
    const website = 'https://bank.example/'
    const client = await attack.client({ redirectUris: [redirectUri], website })
    const text = shown(await consentPage({}, { client }))
    expect(text).toContain(`${en.consent.destination} ${host}`)
    expect(text).not.toContain(`${en.consent.destination} bank.example `)
  })

  test('warns about a name and a website with mixed alphabets', async () => {
    const client = await attack.client({ name: 'Р\u0430yPal', website: 'https://раураl.example/' })
    const html = await consentPage({}, { client })
    expect(shown(html)).toContain(en.consent.mixesAlphabets)
    expect(html).toContain(new URL('https://раураl.example/').host)
    expect(unescaped(html)).not.toContain('раураl.example')
    const plain = await attack.client({ name: 'PayPal' })
    expect(shown(await consentPage({}, { client: plain }))).not.toContain(en.consent.mixesAlphabets)
  })

  test('shows all requested or default scopes, the user, and that the authorization is permanent [T080]', async () => {
    const many = ['r', 'w', 'rw:all', 'user:email', 'notes:read', 'notes:write']
    const client = await attack.client({ defaultScopes: ['r', 'w'] })
    const ids = (html: string) =>
      [...html.matchAll(/<li>(?:<strong>)?[^<]*(?:<\/strong> )?<code>([^<]+)<\/code>/g)].map(
        ([, id]) => id,
      )
    const html = await consentPage({ scope: many.join(' ') }, { client })
    expect([...ids(html)].sort()).toEqual([...many].sort())
    const omitted = await consentPage({ scope: undefined }, { client })
    expect(ids(omitted)).toEqual(['r', 'w'])
    for (const page of [html, omitted]) {
      expect(shown(page)).toContain(`${en.consent.user} ${attack.users.a.user.email}`)
      expect(shown(page)).toContain(en.consent.lasting)
    }
    const theirs = await consentPage({ scope: 'r' }, { client, as: 'b' })
    expect(shown(theirs)).toContain(`${en.consent.user} ${attack.users.b.user.email}`)
    // If a client requests more scopes later, the page shows the new scopes and then the granted scopes.
    await attack.grant({ scope: 'r' }, { client })
    expect(ids(await consentPage({ scope: 'r w' }, { client }))).toEqual(['w', 'r'])
    // The page shows no scope if no scope is requested.
    const nothing = await consentPage({ scope: undefined }, { client: await attack.client() })
    expect(ids(nothing)).toEqual([])
    expect(shown(nothing)).toContain('It requests no other permission.')
  })

  test('warns about a client with a loopback redirect URI [T497]', async () => {
    const redirectUris = ['http://localhost/cb', 'http://127.0.0.1/cb']
    const [redirect_uri = ''] = redirectUris
    const made = await registered(attack.server, {
      redirect_uris: redirectUris,
      token_endpoint_auth_method: 'none',
    })
    attack.saw(made.registration_access_token)
    const client = {
      clientId: made.client_id,
      clientSecret: '',
      redirectUri: redirect_uri,
      isConfidential: false,
    }
    const text = shown(await consentPage({}, { client }))
    expect(text).toContain(en.consent.localCaution)
    expect(text).toContain(`localhost (${en.consent.local})`)
  })
})

describe('XS-07 Requests without a consent page', () => {
  const isAsked = async (
    over: Parameters<AttackServer['authorize']>[0],
    asking: Parameters<AttackServer['authorize']>[1] = {},
  ): Promise<boolean> => {
    const page = await attack.authorize(over, { ...asking, submit: null })
    if (!isConsentPage(page)) expect(page.query.code ?? page.query.error).toBeDefined()
    return isConsentPage(page)
  }
  const agreed = async (input: Parameters<AttackServer['client']>[0], scope = 'r') => {
    const client = await attack.client(input)
    await attack.grant({ scope }, { client })
    return client
  }

  test('shows no consent page for granted scopes, but shows it for additional scopes', async () => {
    const client = await agreed({ name: 'Agreed' }, 'r w')
    for (const scope of ['r w', 'w r', 'r', 'w', 'r r'])
      expect(await isAsked({ scope }, { client }), scope).toBe(false)
    for (const scope of ['r w rw:all', 'rw:all', 'r user:email'])
      expect(await isAsked({ scope }, { client }), scope).toBe(true)
  })

  test('remembers a consent only for the user and the client [T499]', async () => {
    const client = await agreed({ name: 'One' })
    const other = await attack.client({ name: 'One' })
    expect(await isAsked({}, { client })).toBe(false)
    expect(await isAsked({}, { client, as: 'b' })).toBe(true)
    expect(await isAsked({}, { client: other })).toBe(true)
  })

  test.each([
    ['a public client', 'https://client.example/cb'],
    ['a client with a loopback redirect URI', 'http://127.0.0.1/cb'],
    ['a client with a private-use scheme', 'com.example.app:/cb'],
  ])('always shows the consent page for %s', async (_, uri) => {
    const client = await agreed({ isConfidential: false, redirectUris: [uri] })
    expect(await isAsked({}, { client })).toBe(true)
    const response = await attack.authorize({ prompt: 'none' }, { client })
    expect(response.query).toMatchObject({ error: 'consent_required' })
  })

  test('always shows the consent page for a client that registered itself [T081]', async () => {
    const { evil } = attack.clients
    await attack.grant({}, { client: evil })
    expect(await isAsked({}, { client: evil })).toBe(true)
    const response = await attack.authorize({ prompt: 'none' }, { client: evil })
    expectRedirect(response, 'consent_required', { redirectUri: evil.redirectUri })
  })

  test('withdraws the consent when a client becomes public', async () => {
    const client = await agreed({})
    const { clients } = attack.server.server
    await clients.update(client.clientId, { isConfidential: false })
    await clients.update(client.clientId, { isConfidential: true })
    expect(await isAsked({}, { client })).toBe(true)
  })

  test('shows the consent page again after a revocation', async () => {
    const client = await agreed({})
    const person = new Person(attack.server, await attack.browser('a'), attack.users.a.user)
    expect(await isAsked({}, { client })).toBe(false)
    expect((await person.post(at.revokeApplication(client.clientId))).status).toBe(303)
    expect(await isAsked({}, { client })).toBe(true)
  })

  test('grants only scopes with consent for prompt=none, without a page [T092]', async () => {
    const client = await attack.client()
    const before = await attack.state()
    for (const scope of ['r', 'r w']) {
      const response = await attack.authorize({ prompt: 'none', scope }, { client })
      expectRedirect(response, 'consent_required')
    }
    const stranger = await attack.authorize({ prompt: 'none' }, { client, as: null })
    expectRedirect(stranger, 'login_required')
    expect(await attack.state()).toEqual(before)
    await attack.grant({ scope: 'r' }, { client })
    const more = await attack.authorize({ prompt: 'none', scope: 'r w' }, { client })
    expectRedirect(more, 'consent_required')
    const same = await attack.authorize({ prompt: 'none', scope: 'r' }, { client })
    expect(same.query.code).toBeDefined()
    expect(await isAsked({ prompt: 'consent' }, { client })).toBe(true)
  })

  test.each([
    '&approval_prompt=auto',
    '&approval_prompt=force&auto=1',
    '&confirmed=yes&approve=1&skip_consent=true&trusted=1',
    '&access_type=offline&include_granted_scopes=true',
    '&csrf_token=x&authorization_request=x',
  ])('ignores the parameters %s', async (append) => {
    const client = await attack.client()
    expect(await isAsked({}, { client, append })).toBe(true)
    const stranger = await attack.authorize({}, { client, append, as: null })
    expect(isLoginPage(stranger)).toBe(true)
  })
})

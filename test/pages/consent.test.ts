import { type ClientInput, Scope } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shownText } from '../support/html.ts'
import { pushed, referenceUrl } from '../support/pushed-request.ts'
import { redirectUri, startServer, type TestServer, testScopes } from '../support/server.ts'
import { type LoggedIn, logIn } from '../support/session.ts'
import { authorizeUrl, formIn, newPkce, TestClient, UserAgent } from '../support/user-agent.ts'

const many = Array.from({ length: 60 }, (_, index) => `many:${index}`)

let app: TestServer
let session: LoggedIn
beforeAll(async () => {
  app = await startServer({
    allowPrivateUseRedirectUris: true,
    scopes: [
      ...testScopes,
      new Scope('account:delete', { helpText: 'Delete your account', group: 'User', risk: 'high' }),
      new Scope('keys', {
        helpText: 'Read your keys',
        group: 'User',
        access: 'read',
        risk: 'high',
      }),
      new Scope('plain'),
      new Scope('helped', { helpText: 'Do something' }),
      ...many.map((id) => new Scope(id, { helpText: `Help of ${id}`, group: 'Many' })),
    ],
  })
  session = await logIn(app)
})
afterAll(() => app.close())

const open = async (
  input: Partial<ClientInput> = {},
  parameters: Record<string, string | undefined> = {},
) => {
  const client = await app.client(input)
  const [uri = redirectUri] = [input.redirectUris ?? []].flat()
  const page = await session.agent.fetch(
    authorizeUrl(app.issuer, {
      client_id: client.clientId,
      redirect_uri: uri,
      code_challenge: newPkce().challenge,
      code_challenge_method: 'S256',
      ...parameters,
    }),
  )
  expect(page.status).toBe(200)
  return { client, html: await page.text() }
}

/** Returns the scopes of each displayed group by the name of the group. */
const groups = (html: string): Record<string, readonly string[]> =>
  Object.fromEntries(
    [...html.matchAll(/<section class="group">([\s\S]*?)<\/section>/g)].map(([, section = '']) => [
      /<h2>([^<]*)<\/h2>/.exec(section)?.[1] ?? '',
      [...section.matchAll(/<li>([\s\S]*?)<\/li>/g)].map(([, item = '']) =>
        item
          .replaceAll(/<\/?code>/g, '`')
          .replaceAll(/<strong>([^<]*)<\/strong>/g, '*$1*')
          .replaceAll(/ <span class="(?:mark|badge bad)">([^<]*)<\/span>/g, ' [$1]'),
      ),
    ]),
  )

/** Returns the value of a term in the list below the scopes. */
const valueOfTerm = (html: string, term: string): string | undefined =>
  new RegExp(`<dt>${term}</dt><dd>([\\s\\S]*?)</dd>`).exec(html)?.[1]

describe('XS-06 the consent page lists the requested scopes', () => {
  test('shows each scope with its help text in its group [T654]', async () => {
    const { html } = await open({}, { scope: 'notes:write user:email plain notes:read helped' })
    expect(groups(html)).toEqual({
      Notes: [
        '*Write and delete your notes* `notes:write` [Can change]',
        'Read your notes `notes:read` [Read only]',
      ],
      User: ['Read your e-mail address `user:email` [Read only]'],
      Other: ['`plain`', 'Do something `helped`'],
    })
    expect(shownText(html).join(' ')).toContain(
      'Client wants to access your account. It requests permission to:',
    )
  })

  test('marks dangerous scopes in words, and lists them first [T1102]', async () => {
    const { html } = await open({}, { scope: 'notes:read user:email keys account:delete' })
    expect(groups(html)).toEqual({
      User: [
        '*Delete your account* `account:delete` [Can change] [High risk]',
        'Read your keys `keys` [Read only] [High risk]',
        'Read your e-mail address `user:email` [Read only]',
      ],
      Notes: ['Read your notes `notes:read` [Read only]'],
    })
    expect(Object.keys(groups(html))).toEqual(['User', 'Notes'])
    expect(html).toContain('<span class="badge bad">High risk</span>')
  })

  test('shows no scope that was not requested', async () => {
    const { html } = await open({}, { scope: 'notes:read notes:read' })
    expect(groups(html)).toEqual({ Notes: ['Read your notes `notes:read` [Read only]'] })
    expect(html).not.toMatch(/notes:write|user:email|test:scope/)
  })

  test('shows all scopes of a long list', async () => {
    const { html } = await open({}, { scope: many.join(' ') })
    expect(groups(html).Many).toEqual(many.map((id) => `Help of ${id} \`${id}\``))
  })

  test('decision §4.5 shows the default scopes of the client if the client requests no scope', async () => {
    const { html } = await open({ defaultScopes: ['notes:read', 'user:email'] })
    expect(Object.keys(groups(html)).sort()).toEqual(['Notes', 'User'])
    expect(html).toContain('<code>notes:read</code>')
    expect(html).toContain('<code>user:email</code>')
  })

  test('says that a client without default scopes that requests no scope only identifies the user', async () => {
    const { html } = await open()
    expect(groups(html)).toEqual({})
    expect(shownText(html)).toContain('wants to know who you are. It requests no other permission.')
  })
})

describe('XS-06 the consent page names the client, the user and the redirect target', () => {
  test('shows the name, description, website and owner of the client, and the user [T668]', async () => {
    const owner = await app.server.users.create({ email: 'owner@example.org', password: null })
    const { html } = await open({
      name: 'Note Reader',
      description: 'Reads your notes to you.',
      website: 'https://reader.example/about?a=b&c=d',
      userId: owner.id,
    })
    expect(html).toContain('<h1>Allow <bdi>Note Reader</bdi>?</h1>')
    expect(html).toContain('<title>Allow Note Reader? · ')
    expect(shownText(html)).toContain('Reads your notes to you.')
    expect(valueOfTerm(html, 'Website')).toBe(
      '<a href="https://reader.example/about?a=b&amp;c=d" rel="noopener noreferrer nofollow"><bdi>https://reader.example/about?a=b&amp;c=d</bdi></a>',
    )
    expect(valueOfTerm(html, 'Registered by')).toBe('<bdi>owner@example.org</bdi>')
    expect(valueOfTerm(html, 'You are logged in as')).toContain(`<bdi>${app.user.email}</bdi>`)
  })

  test('omits empty fields of the client', async () => {
    const { html } = await open({ userId: null })
    expect(html.indexOf('logged in as')).toBeLessThan(html.indexOf('<h1>'))
    for (const term of ['Website', 'Registered by']) expect(valueOfTerm(html, term)).toBeUndefined()
    expect(html).not.toContain('class="description"')
  })

  test.each<[string, string, boolean?]>([
    ['https://client.example/cb?a=b', '<code>client.example</code>'],
    ['https://client.example:8443/cb', '<code>client.example:8443</code>'],
    ['HTTPS://Client.Example/cb', '<code>client.example</code>'],
    ['https://xn--pple-43d.com/cb', '<code>xn--pple-43d.com</code>'],
    ['http://localhost:9/cb', '<code>localhost:9</code> (a program on this computer)'],
    ['http://127.0.0.1:9/cb', '<code>127.0.0.1:9</code> (a program on this computer)', false],
    ['http://[::1]:9/cb', '<code>[::1]:9</code> (a program on this computer)', false],
    ['com.example.app:/cb', '<code>com.example.app:</code>', false],
  ])(
    'for the redirect URI %s, shows the target %s [T031]',
    async (uri, shown, isConfidential = true) => {
      const { html } = await open({ redirectUris: [uri], isConfidential })
      expect(valueOfTerm(html, 'You will be sent to')?.replace(' dir="ltr"', '')).toBe(shown)
    },
  )

  test.each([
    'https://аpple.com/cb',
    'https://müller.example/cb',
    'https://client.example\u200B/cb',
  ])('registering the redirect URI %s is rejected because of its characters', async (uri) => {
    await expect(app.client({ redirectUris: [uri] })).rejects.toThrow('character')
  })
})

describe('a later request of a client', () => {
  const consented = async (scope: string, again: string) => {
    const { client, html } = await open({ optionalScopes: ['notes:write'] }, { scope })
    const { hidden } = formIn(html)
    const body = new URLSearchParams({ ...hidden, confirm: 'yes' })
    const decided = { method: 'POST', body }
    expect((await session.agent.fetch(`${app.issuer}/oauth/authorize`, decided)).status).toBe(303)
    const next = await session.agent.fetch(
      authorizeUrl(app.issuer, {
        client_id: client.clientId,
        redirect_uri: redirectUri,
        ...request(again),
      }),
    )
    return shownText(await next.text()).join(' ')
  }
  const request = (scope: string) => ({
    scope,
    prompt: 'consent',
    code_challenge: newPkce().challenge,
    code_challenge_method: 'S256',
  })

  test('shows new permissions before permissions that are already allowed [T1103]', async () => {
    const text = await consented('notes:read', 'notes:read user:email plain')
    expect(text).toMatch(
      /Client already has access to your account\. It now also requests permission to: User Read your e-mail address user:email Read only Other plain You have already allowed: Notes Read your notes notes:read/,
    )
  })

  test('states that the request contains no new permissions [T1104]', async () => {
    const text = await consented('notes:read user:email', 'notes:read')
    expect(text).toContain('Client asks again for what you have already allowed: Notes')
    expect(text).not.toContain('also requests')
  })

  test('shows an optional scope that the user refused before as new [T1105]', async () => {
    const text = await consented('notes:read notes:write', 'notes:read notes:write')
    expect(text).toMatch(/also requests permission to: Notes Write and delete your notes/)
  })
})

describe('the login before the consent', () => {
  const loginPage = async (url: string) => {
    const agent = new UserAgent()
    const redirect = await agent.fetch(url)
    const login = new URL(redirect.headers.get('location') ?? '', app.issuer)
    expect(login.pathname).toBe('/login')
    return shownText(await (await agent.fetch(login)).text()).join(' ')
  }

  test('names the client of a request and of a pushed request [T1108]', async () => {
    const client = await TestClient.register(app, new UserAgent(), { name: 'Photo Print' })
    const sentence = 'Photo Print asks for access to your account. You decide after'
    expect(await loginPage(client.url())).toContain(sentence)
    expect(await loginPage(referenceUrl(client, await pushed(client)))).toContain(sentence)
  })

  test('names no client if no valid request is pending [T1109]', async () => {
    const client = await TestClient.register(app, new UserAgent(), { name: 'Photo Print' })
    const other = `/oauth/authorize?${new URLSearchParams({ client_id: client.clientId, redirect_uri: 'https://evil.example/' })}`
    for (const next of ['/', other, `/elsewhere?client_id=${client.clientId}`]) {
      const page = await new UserAgent().fetch(
        `${app.issuer}/login?${new URLSearchParams({ next })}`,
      )
      expect(await page.text()).not.toContain('Photo Print')
    }
  })
})

describe('decision §4.4 the form of the consent page', () => {
  test('contains the one-time ID of the authorization request, but no parameter of the request', async () => {
    const given = { scope: 'notes:read', state: 'the-state-of-the-client', nonce: 'the-nonce' }
    const { client, html } = await open(
      {},
      { ...given, client_secret: 'the-secret-in-the-request' },
    )
    const { action, hidden } = formIn(html)
    expect(action).toBe('/oauth/authorize')
    expect(hidden).toEqual({
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
      authorization_request: expect.stringMatching(/^[A-Za-z0-9]{43}$/),
    })
    const names = [...html.matchAll(/<(?:input|button|select|textarea)[^>]* name="([^"]*)"/g)].map(
      ([, name]) => name,
    )
    expect(names).toEqual(['csrf_token', 'authorization_request', 'confirm', 'confirm'])
    for (const text of [
      given.state,
      given.nonce,
      'the-secret',
      client.clientSecret,
      session.identifier,
      session.jwt,
      redirectUri,
    ])
      expect(html).not.toContain(text)
  })

  test('has two buttons, and another request ID each time the page opens', async () => {
    const [one, two] = [await open(), await open()]
    expect(one.html).toMatch(/<button type="submit" name="confirm" value="yes">Allow<\/button>/)
    expect(one.html).toMatch(
      /<button type="submit" name="confirm" value="no" class="refuse">Refuse<\/button>/,
    )
    expect(formIn(one.html).hidden.authorization_request).not.toBe(
      formIn(two.html).hidden.authorization_request,
    )
  })

  test('returns again after a wrong CSRF token, and the second form can be submitted', async () => {
    const { html } = await open({}, { scope: 'notes:read' })
    const { hidden } = formIn(html)
    const post = (fields: Record<string, string>) =>
      session.agent.fetch(`${app.issuer}/oauth/authorize`, {
        method: 'POST',
        body: new URLSearchParams(fields),
      })
    const stale = await post({ ...hidden, csrf_token: 'x', confirm: 'yes' })
    expect(stale.status).toBe(403)
    const again = await stale.text()
    expect(again).toContain('This page is out of date. Please decide again.')
    expect(groups(again)).toEqual(groups(html))
    const response = await post({ ...formIn(again).hidden, confirm: 'yes' })
    expect(response.status).toBe(303)
    expect(new URL(response.headers.get('location') ?? '').searchParams.has('code')).toBe(true)
  })
})

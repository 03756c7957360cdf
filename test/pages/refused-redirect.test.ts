import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redirectUriDifference } from '../../src/model/redirect-difference.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { en } from '../support/texts.ts'
import { UserAgent } from '../support/user-agent.ts'
import { at, type Page, Person, textOf } from './settings/support.ts'

const registered = 'https://app.example/callback'

let app: TestServer
let owner: Person
let clientId: string
beforeAll(async () => {
  app = await startServer()
  owner = await Person.logIn(app)
  const client = { name: 'Photo print', redirectUris: ['https://other.example/x', registered] }
  clientId = (await app.client(client)).clientId
})
afterAll(() => app.close())

const authorize = async (person: Person, redirectUri: string | undefined): Promise<Page> =>
  person.get(
    `/oauth/authorize?${new URLSearchParams({
      client_id: clientId,
      response_type: 'code',
      ...(redirectUri !== undefined && { redirect_uri: redirectUri }),
    })}`,
  )

const refused = async (person: Person, redirectUri?: string): Promise<Page> =>
  person.follow(await authorize(person, redirectUri))

const nobody = (): Person =>
  new Person(
    app,
    {
      agent: new UserAgent({ accept: 'text/html' }),
      cookie: '',
      identifier: '',
      jwt: '',
      csrfToken: '',
    },
    app.user,
  )

const differences = ({ html }: Page): readonly string[] => {
  const [, list = ''] =
    new RegExp(`<dt>${en.error.differs}</dt><dd><ul>([\\s\\S]*?)</ul>`).exec(html) ?? []
  return [...list.matchAll(/<li>([\s\S]*?)<\/li>/g)].map(([, item = '']) => textOf(item))
}

const marks = ({ html }: Page): readonly string[] =>
  [...html.matchAll(/<mark>([\s\S]*?)<\/mark>/g)].map(([, text = '']) => text)

const { parts } = en.error

describe('a refused redirect URI', () => {
  test.each([
    ['https://app.example/callback/', [parts.trailingSlash], ['/']],
    ['http://app.example/callback', [parts.scheme], ['s']],
    ['https://www.app.example/callback', [parts.host], ['www.']],
    ['https://app.example:8443/callback', [parts.port], [':8443']],
    ['https://app.example/Callback', [parts.letterCase], ['C', 'c']],
    ['https://app.example/callback?a=b', [parts.query], ['?a=b']],
    ['https://app.example/callback#x', [parts.fragment], ['#x']],
    ['https://app.example/callback2', [parts.path], ['2']],
    ['https://app.example/callback<b>"&', [parts.path], ['&lt;b&gt;&quot;&amp;']],
    ['https://app.example/call\u200Bback', [parts.path, parts.character], ['<b>U+200B</b>']],
    ['https://\u202Eapp.example/callback', [parts.host, parts.character], ['<b>U+202E</b>']],
    ['https://app.example/callback\n', [parts.path, parts.character], ['<b>U+000A</b>']],
    ['https://\u0430pp.example/callback', [parts.host, parts.character], ['<b>U+0430</b>', 'a']],
  ])(
    'shows the owner how %j differs from the registered URI [T2112]',
    async (uri, words, marked) => {
      const page = await refused(owner, uri)
      expect(page.status).toBe(400)
      expect(differences(page)).toEqual(words)
      expect(marks(page)).toEqual(marked)
      expect(page.html).not.toMatch(/[\u200B\u202E\u0430]/)
      expect(page.html).toContain(`href="${at.client(clientId)}"`)
      // No URI of the request becomes a link or a target of a form.
      const hrefs = [...page.html.matchAll(/\s(?:href|action|src)="([^"]*)"/g)].map(
        ([, href]) => href,
      )
      expect(hrefs.filter((href) => href?.includes('app.example'))).toEqual([])
    },
  )

  test('shows all other visitors a page without this difference [T2113]', async () => {
    const stranger = await Person.stranger(app)
    const before = await app.query('SELECT count(*) AS n FROM oauth2server_transient')
    for (const person of [nobody(), stranger]) {
      const response = await authorize(person, `${registered}/`)
      expect(response.location).toMatch(
        /^\/oauth\/errors\?error=invalid_request&error_description=[^&]*$/,
      )
      expect((await person.follow(response)).text).not.toContain('app.example')
    }
    expect(await app.query('SELECT count(*) AS n FROM oauth2server_transient')).toEqual(before)
    const { location } = await authorize(owner, `${registered}/`)
    expect(location).toContain('&details=')
    for (const person of [nobody(), stranger]) {
      const page = await person.get(location ?? '')
      expect(page.status).toBe(400)
      expect(page.html).not.toMatch(/app\.example|Photo print/)
    }
    for (const name of ['x', '', 'a&details=b'])
      expect((await owner.get(`/oauth/errors?error=invalid_request&details=${name}`)).status).toBe(
        400,
      )
  })

  test('is shown to administrators, with a link to the administration [T2114]', async () => {
    const admin = await Person.stranger(app, { isAdmin: true })
    const page = await refused(admin, `${registered}/`)
    expect(page.text).toContain(en.error.onlyYou)
    expect(page.html).toContain(`href="${at.adminApplication(clientId)}"`)
    await app.server.users.setAdmin(admin.user.id, false)
    const { location } = await authorize(owner, `${registered}/`)
    expect((await admin.get(location ?? '')).text).not.toContain(en.error.onlyYou)
  })

  test('is explained to the owner if the URI is missing or the application is disabled [T2115]', async () => {
    const page = await refused(owner)
    expect(page.fact(en.error.refusedUri)).toBe(en.error.noUri)
    expect(page.text).toContain(registered)
    await app.server.clients.mark(clientId, { isDisabled: true })
    expect((await refused(owner, registered)).text).toContain(en.error.disabled)
    expect((await refused(nobody(), registered)).text).not.toContain(en.error.disabled)
    await app.server.clients.mark(clientId, { isDisabled: false })
  })

  test('is compared with the most similar registered URI, even if the refused URI is very long or malformed [T2116]', () => {
    const long = `https://app.example/${'a'.repeat(5_000)}`
    for (const uri of [
      '',
      '/',
      ':',
      '//',
      '?',
      '#',
      'x'.repeat(5_000),
      long,
      '\ud800',
      'javascript:alert(1)',
    ])
      for (const uris of [[registered], [uri, registered], ['com.example.app:/cb']]) {
        const found = redirectUriDifference(uris, uri)
        expect(uris).toContain(found?.registered)
        if (uris.includes(uri)) expect(found?.registered).toBe(uri)
      }
    expect(redirectUriDifference([], registered)).toBeUndefined()
    expect(redirectUriDifference(['https://b.example/', registered], `${registered}/`)).toEqual({
      registered,
      parts: ['trailingSlash'],
      equalStart: registered.length,
      equalEnd: 0,
    })
  })
})

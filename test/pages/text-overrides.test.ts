import { createAuthorizationServer, type TextOverrides } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { overrideProblems } from '../../src/pages/messages/text-problems.ts'
import { messagesOf, textsWith } from '../../src/pages/messages/texts.ts'
import { textsIn } from '../support/languages.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { UserAgent } from '../support/user-agent.ts'

const texts: TextOverrides = {
  en: { login: { title: 'Enter <b>', submit: "Let's go" } },
  de: { login: { title: 'Hinein' }, scopes: { helpTexts: { 'user:email': 'Adresse sehen' } } },
  eo: {
    login: { title: 'Ensaluti' },
    list: { entries: '{count, plural, one {# item} other {# items}}' },
  },
  he: { login: { title: 'כניסה' } },
}

describe('a server with the option texts', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer({ texts })
  })
  afterAll(() => app.close())

  const login = async (language: string, query = ''): Promise<[string, string]> => {
    const agent = new UserAgent({ 'accept-language': language })
    const page = await agent.fetch(`${app.issuer}/login${query}`)
    return [page.headers.get('content-language') ?? '', await page.text()]
  }

  test('shows the text instead of the text of the package, and escapes it [T4824]', async () => {
    const [language, html] = await login('en')
    expect(language).toBe('en')
    expect(html).toContain('<h1>Enter &lt;b&gt;</h1>')
    expect(html).toContain('Let&#39;s go')
    expect(html).toContain(textsIn('en').login.email)
    expect(html).not.toContain('Enter <b>')
    const [, german] = await login('de')
    expect(german).toContain('<h1>Hinein</h1>')
    expect(german).toContain(textsIn('de').login.email)
  })

  test('offers a new language, which is English where a text is missing [T4825]', async () => {
    for (const [accepted, query] of [
      ['eo-BE, en;q=0.5', ''],
      ['en', '?ui_locales=tlh%20eo'],
    ] as const) {
      const [language, html] = await login(accepted, query)
      expect(language).toBe('eo')
      expect(html).toMatch(/<html lang="eo" dir="ltr" data-locale="eo(?:-[A-Z]{2})?">/)
      expect(html).toContain('<h1>Ensaluti</h1>')
      expect(html).toContain(textsIn('en').login.email)
    }
    const metadata = await fetch(`${app.issuer}/.well-known/oauth-authorization-server`)
    const { ui_locales_supported: locales } = (await metadata.json()) as Record<string, string[]>
    expect(locales).toEqual(expect.arrayContaining(['en', 'de', 'eo', 'he']))
    expect(locales?.[0]).toBe('en')
  })

  test('derives the direction of a new language from its script [T4826]', async () => {
    const [, html] = await login('he')
    expect(html).toContain('<html lang="he" dir="rtl" data-locale="he">')
  })

  test('does not change the texts of another server', async () => {
    await using other = await startServer()
    const page = await new UserAgent().fetch(`${other.issuer}/login`)
    expect(await page.text()).toContain(`<h1>${textsIn('en').login.title}</h1>`)
  })
})

describe('textsWith()', () => {
  test('returns the texts of the application first, then those of the package', async () => {
    const { login, scopes } = await textsWith(texts).messagesIn('de')
    expect(login.title).toBe('Hinein')
    expect(login.submit).toBe(textsIn('de').login.submit)
    expect(scopes.helpTexts['user:email']).toBe('Adresse sehen')
    expect(scopes.helpTexts.openid).toBe(textsIn('de').scopes.helpTexts.openid)
  })

  test('uses the plural forms of the language, and English forms for an English text', async () => {
    const { list, applications } = await textsWith(texts).messagesIn('eo')
    expect([1, 12_345].map((count) => list.entries(count))).toEqual([
      '1 item',
      `${(12_345).toLocaleString('eo')} items`,
    ])
    expect(applications.authorized.devices(12_345)).toBe('12,345 devices')
  })

  test('loads a language once', async () => {
    const own = textsWith()
    expect(own.messagesIn('fr')).toBe(own.messagesIn('fr'))
    expect(await own.messagesIn('fr')).toEqual(
      expect.objectContaining({ login: expect.anything() }),
    )
  })

  test('does not see later changes of the object', async () => {
    const mutable = { de: { login: { title: 'Hinein' } } }
    const own = textsWith(mutable)
    mutable.de.login.title = '{'
    expect((await own.messagesIn('de')).login.title).toBe('Hinein')
  })

  test('ignores names that English does not have', () => {
    const messages = messagesOf('de', [JSON.parse('{"__proto__":{"login":{"title":"x"}}}')])
    expect(messages.login.title).toBe(textsIn('en').login.title)
  })
})

describe('createAuthorizationServer() refuses texts', () => {
  const name = 'texts.en.login.title'
  test.each<[texts: unknown, problem: string]>([
    [null, 'texts must be an object with language codes as names.'],
    ['en', 'texts must be an object with language codes as names.'],
    [[], 'texts must be an object with language codes as names.'],
    [
      { 'de-AT': {} },
      'texts: "de-AT" is not a language code such as nl, without a region or a script.',
    ],
    [
      { english: {} },
      'texts: "english" is not a language code such as nl, without a region or a script.',
    ],
    [{ iw: {} }, 'texts: "iw" is not a language code such as nl, without a region or a script.'],
    [
      JSON.parse('{"__proto__":{}}'),
      'texts: "__proto__" is not a language code such as nl, without a region or a script.',
    ],
    [{ en: null }, 'texts.en must be an object with names of texts.'],
    [{ en: 'Hello' }, 'texts.en must be an object with names of texts.'],
    [{ en: { login: 'Hello' } }, 'texts.en.login must be an object with names of texts.'],
    [{ en: { logn: {} } }, 'texts.en.logn is not a text. Did you mean login?'],
    [
      { eo: { login: { tittle: 'x' } } },
      'texts.eo.login.tittle is not a text. Did you mean title?',
    ],
    [{ en: JSON.parse('{"__proto__":{}}') }, 'texts.en.__proto__ is not a text.'],
    [{ en: { login: { constructor: 'x' } } }, 'texts.en.login.constructor is not a text.'],
    [{ en: { login: { title: '' } } }, `${name} must be a string of 1 to 2000 characters.`],
    [{ en: { login: { title: ' \n' } } }, `${name} must be a string of 1 to 2000 characters.`],
    [{ en: { login: { title: null } } }, `${name} must be a string of 1 to 2000 characters.`],
    [{ en: { login: { title: 5 } } }, `${name} must be a string of 1 to 2000 characters.`],
    [{ en: { login: { title: () => 'x' } } }, `${name} must be a string of 1 to 2000 characters.`],
    [
      { en: { login: { title: 'x'.repeat(2001) } } },
      `${name} must be a string of 1 to 2000 characters.`,
    ],
    [{ en: { login: { title: 'To {brand}' } } }, `${name} must not contain {brand}.`],
    [{ en: { login: { title: '{__proto__}' } } }, `${name} must not contain {__proto__}.`],
    [
      { en: { login: { title: 'A { or B' } } },
      `${name}: a { must be followed by the name of an argument.`,
    ],
    [{ de: { consent: { title: 'Zulassen?' } } }, 'texts.de.consent.title must contain {client}.'],
    [
      { de: { consent: { title: '{klient} zulassen?' } } },
      'texts.de.consent.title must contain {client}.',
    ],
    [
      { de: { list: { entries: '{count, plural, one {# Eintrag}}' } } },
      'texts.de.list.entries: the plural of count needs the form other.',
    ],
  ])('%j: %s [T4827]', async (given, problem) => {
    expect(overrideProblems('texts', given)).toContain(problem)
    const start = createAuthorizationServer({
      issuer: 'http://localhost:3000',
      secretKeys: ['a test secret key of more than 32 bytes'],
      store: sqlite(':memory:'),
      texts: given as TextOverrides,
    })
    await expect(start).rejects.toThrow(problem)
  })

  test.each([
    undefined,
    {},
    { en: {} },
    { en: { login: undefined } },
    { en: { login: { title: undefined } } },
    Object.assign(Object.create(null), { eo: {} }),
    { en: { login: { title: 'x'.repeat(2000) } } },
    { ar: { done: { tokensDeleted: '{count, plural, other {#}}' } } },
  ])('but accepts %j', (given) => {
    expect(given === undefined ? [] : overrideProblems('texts', given)).toEqual([])
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prefersJson } from '../../src/protocol/endpoints/responses/prefers-json.ts'
import { chooseReader as chooseReaderOf } from '../../src/protocol/endpoints/responses/reader.ts'
import { directions } from '../support/languages.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { authorizeUrl, formIn, newPkce, UserAgent } from '../support/user-agent.ts'

const chooseReader = (uiLocales: string | undefined, acceptLanguage: string | null) =>
  chooseReaderOf(uiLocales, acceptLanguage, { directions })

describe('the language of a page', () => {
  test.each<[uiLocales: string | undefined, acceptLanguage: string | null, locale: string]>([
    [undefined, null, 'en'],
    [undefined, '', 'en'],
    [undefined, '*', 'en'],
    [undefined, 'en', 'en'],
    [undefined, 'en-US,en;q=0.9', 'en-US'],
    [undefined, 'en;q=0.9, en-GB;q=0.8', 'en-GB'],
    [undefined, 'en-gb-oxendict', 'en-GB-oxendict'],
    [undefined, 'EN-gb', 'en-GB'],
    [undefined, 'en-GB-u-ca-buddhist-nu-thai', 'en-GB'],
    [undefined, 'en-GB-x-private', 'en-GB'],
    [undefined, 'tlh, x-klingon, i-enochian, en-AU;q=0.1', 'en-AU'],
    ['en-CA', 'en-GB', 'en-CA'],
    ['en', 'en-GB', 'en-GB'],
    ['tlh', 'en-GB', 'en-GB'],
    ['xx yy  en-NZ', null, 'en-NZ'],
  ])('with ui_locales %s and Accept-Language %s, is %s', (uiLocales, acceptLanguage, locale) => {
    expect(chooseReader(uiLocales, acceptLanguage)).toEqual({
      language: 'en',
      locale,
      direction: 'ltr',
    })
  })

  const others: [uiLocales: string | undefined, acceptLanguage: string | null, locale: string][] = [
    [undefined, 'de-AT,de;q=0.9,en;q=0.8', 'de-AT'],
    [undefined, 'en;q=0.5, de', 'de'],
    [undefined, 'de;q=0, fr;q=0.1', 'fr'],
    ['de-CH fr', 'fr-FR', 'de-CH'],
    ['tlh it', 'es', 'it'],
    [undefined, 'pt-BR', 'pt-BR'],
    [undefined, 'pl-PL', 'pl-PL'],
    [undefined, 'ja-JP', 'ja-JP'],
    [undefined, 'zh-TW', 'zh-TW'],
    [undefined, 'zh-Hant', 'zh-Hant'],
    [undefined, 'cmn-Hans-CN', 'zh-Hans-CN'],
    [undefined, 'ar-EG', 'ar-EG'],
  ]
  test.each(others.filter(([, , locale]) => directions.has(locale.slice(0, 2))))(
    'with ui_locales %s and Accept-Language %s, is %s',
    (uiLocales, acceptLanguage, locale) => {
      const language = locale.slice(0, 2)
      expect(chooseReader(uiLocales, acceptLanguage)).toEqual({
        language,
        locale,
        direction: language === 'ar' ? 'rtl' : 'ltr',
      })
    },
  )

  test.each([
    'constructor',
    '__proto__',
    'valueof',
    'tostring',
    '../../etc/passwd',
    '"><script>alert(1)</script>',
    'de"onload="x',
    'de_DE',
    'de-',
    '-de',
    'd',
    'de--DE',
    'de-DE-DE-DE',
    '\u0000',
    '🇩🇪',
    ';;;,,,===',
    'de;q=',
    'q=1',
    'en'.repeat(100_000),
    `${'x,'.repeat(50_000)}`,
    `${'"'.repeat(50_001)}`,
    `en-${'a-'.repeat(50_000)}`,
    `${' '.repeat(100_000)}de`,
  ])('answers in a supported language, whatever is requested (%#)', (wish) => {
    for (const reader of [chooseReader(wish, null), chooseReader(undefined, wish)]) {
      expect(directions.has(reader.language)).toBe(true)
      expect(reader.locale).toMatch(/^[a-z]{2}(?:-[A-Za-z0-9]+)*$/)
      expect(Intl.DateTimeFormat.supportedLocalesOf(reader.locale)).toHaveLength(1)
    }
  })

  test('ignores all languages after the twentieth in a list', () => {
    const wishes = [...Array.from({ length: 20 }, () => 'tlh'), 'en-GB']
    expect(chooseReader(wishes.join(' '), null).locale).toBe('en')
    expect(chooseReader(undefined, wishes.join(','))).toMatchObject({ locale: 'en' })
  })
})

describe('the language of a flow', () => {
  let app: TestServer
  let clientId: string
  beforeAll(async () => {
    app = await startServer()
    clientId = (await app.client()).clientId
  })
  afterAll(() => app.close())

  const request = (uiLocales?: string): string =>
    authorizeUrl(app.issuer, {
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'notes:read',
      prompt: 'consent',
      code_challenge: newPkce().challenge,
      code_challenge_method: 'S256',
      ui_locales: uiLocales,
    })

  const localeOf = (html: string): string | undefined =>
    /<html [^>]*data-locale="([^"]*)"/.exec(html)?.[1]

  test('is the language in ui_locales of the request on the login page and the consent page, and on both again after an error', async () => {
    const agent = new UserAgent({ 'accept-language': 'en-US' })
    const login = await agent.browse(request('en-AU'))
    const loginHtml = await login.text()
    expect(localeOf(loginHtml)).toBe('en-AU')
    const { action, hidden } = formIn(loginHtml)
    const post = (fields: Record<string, string>, to = action) =>
      agent.fetch(new URL(to, app.issuer), { method: 'POST', body: new URLSearchParams(fields) })
    const wrong = await post({ ...hidden, email: app.user.email, password: 'wrong password' })
    expect(wrong.status).toBe(403)
    expect(localeOf(await wrong.text())).toBe('en-AU')
    const entered = await post({ ...hidden, email: app.user.email, password: app.password })
    const consent = await agent.fetch(new URL(entered.headers.get('location') ?? '', app.issuer))
    const consentHtml = await consent.text()
    expect(localeOf(consentHtml)).toBe('en-AU')
    expect(consent.headers.get('content-language')).toBe('en')
    const form = formIn(consentHtml)
    const stale = await post({ ...form.hidden, csrf_token: 'x', confirm: 'yes' }, form.action)
    expect(localeOf(await stale.text())).toBe('en-AU')
    const undecided = await post({ ...form.hidden, confirm: 'maybe' }, form.action)
    expect(localeOf(await undecided.text())).toBe('en-AU')
  })

  test('remains the language in ui_locales of the login page after a failed login', async () => {
    const agent = new UserAgent({ 'accept-language': 'en-US' })
    const page = await agent.fetch(`${app.issuer}/login?ui_locales=en-NZ&next=/x`)
    const html = await page.text()
    expect(localeOf(html)).toBe('en-NZ')
    const { action, hidden } = formIn(html)
    const wrong = await agent.fetch(new URL(action, app.issuer), {
      method: 'POST',
      body: new URLSearchParams({ ...hidden, email: 'x', password: 'y' }),
    })
    expect(localeOf(await wrong.text())).toBe('en-NZ')
  })

  test('is the language in ui_locales of the failed request in the error view', async () => {
    const agent = new UserAgent()
    const url = `${app.issuer}/oauth/authorize?client_id=absent&ui_locales=en-IE`
    const page = await agent.browse(url)
    expect(page.status).toBe(400)
    expect(localeOf(await page.text())).toBe('en-IE')
  })

  test('§3.1 rejects a repeated ui_locales without a redirect', async () => {
    const response = await new UserAgent().fetch(`${request('de')}&ui_locales=fr`)
    expect(response.status).toBe(303)
    expect(response.headers.get('location')).toMatch(/^\/oauth\/errors\?error=invalid_request&/)
  })

  test('is the language in Accept-Language without ui_locales, and the header Vary contains accept-language', async () => {
    const agent = new UserAgent({ 'accept-language': 'tlh, en-ZA;q=0.5' })
    const page = await agent.fetch(`${app.issuer}/login`)
    expect(localeOf(await page.text())).toBe('en-ZA')
    expect(page.headers.get('content-language')).toBe('en')
    expect(page.headers.get('vary')).toBe('accept-language, cookie')
  })

  test.each(['en\u0000', '%', 'x'.repeat(4_000), '"><script>', '*', ' '])(
    'is English for ui_locales %j',
    async (uiLocales) => {
      const page = await new UserAgent().browse(request(uiLocales))
      expect(page.status).toBe(200)
      expect(localeOf(await page.text())).toBe('en')
    },
  )
})

describe('the choice between a page and a JSON response', () => {
  test.each<[string | undefined, boolean]>([
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['application/*', true],
    ['text/html', false],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', false],
    ['application/json', true],
    ['Application/JSON', true],
    ['application/json; charset=utf-8', true],
    ['application/json, text/plain, */*', true],
    ['application/json;q=0.9, text/html', false],
    ['application/json, text/html;q=0.9', true],
    ['application/json, text/html', false],
    ['application/json;q=0', false],
    ['application/jsonx', false],
    ['application/json,'.repeat(2_000), true],
    ['"'.repeat(8_000), false],
  ])('for Accept %s, prefersJson() returns %s', (accept, expected) => {
    expect(prefersJson({ header: () => accept ?? null })).toBe(expected)
  })
})

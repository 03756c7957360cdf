import { Script } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { builtInPages, type PageName } from '../../src/pages/pages.ts'
import { pageScript } from '../../src/pages/parts/script.ts'
import { hostileTexts, skeleton, unescaped } from '../support/html.ts'
import { en } from '../support/texts.ts'
import { frame, renderPage, sampleViews } from './views.ts'

const names = Object.keys(builtInPages) as readonly PageName[]
const views = sampleViews()
const all = (html: string, pattern: RegExp): readonly string[] =>
  [...html.matchAll(pattern)].map(([, found = '']) => found)

/** Returns the tag of the control with the given name. */
const control = (html: string, name: string): string =>
  new RegExp(`<(?:input|textarea|select) [^>]*name="${name}"[^>]*>`).exec(html)?.[0] ?? ''

// These pages show no text of another person.
const withoutInput: readonly string[] = ['home', 'loggedOut']

describe.each(names)('the page template %s', (name) => {
  test('escapes every value that another person can set', async () => {
    const render = (text: string) =>
      renderPage(name, sampleViews(() => text)[name], {
        user: { email: text, isAdmin: true },
        outcome: { done: text, problem: { sentence: text } },
      })
    const harmless = skeleton(await render('x'))
    for (const text of hostileTexts) {
      const html = await render(text)
      expect(skeleton(html)).toEqual(harmless)
      if (!withoutInput.includes(name)) expect(unescaped(html)).toContain(text)
    }
  })

  test('has one heading, a CSRF token in every POST form, and no reference to a missing ID', async () => {
    const html = await renderPage(name, views[name])
    expect(html.match(/<h1>/g)).toHaveLength(1)
    // A form that posts to another site must not contain the CSRF token.
    for (const form of all(
      html,
      /<form (?=[^>]*method="post")(?![^>]*action="https:)([\s\S]*?)<\/form>/g,
    ))
      expect(form).toContain('<input type="hidden" name="csrf_token" value="the-csrf-token">')
    const ids = all(html, / id="([^"]*)"/g)
    expect(new Set(ids).size).toBe(ids.length)
    const targets = all(html, / (?:for|aria-labelledby|aria-describedby)="([^"]*)"/g)
    for (const target of targets.flatMap((list) => list.split(' '))) expect(ids).toContain(target)
    expect(html).not.toMatch(/\sstyle=|\son[a-z]+=|<style|undefined|\[object|NaN/)
  })

  test('gives each button and each confirmation question a different name [T3008]', async () => {
    // Other people can give their applications and tokens the same name.
    const html = await renderPage(name, sampleViews(() => 'x')[name])
    for (const tag of [
      /<button\b([^>]*)>([\s\S]*?)<\/button>/g,
      /<details class="danger"[^>]*>\s*<summary([^>]*)>([\s\S]*?)<\/summary>/g,
    ]) {
      const labels = [...html.matchAll(tag)]
        .filter(([, attributes = '']) => !/ hidden/.test(attributes))
        .map(([, attributes = '', content = '']) => {
          const [, label] = /aria-label="([^"]*)"/.exec(attributes) ?? []
          return label ?? content.replaceAll(/<[^>]*>/g, '').trim()
        })
      expect(labels).toEqual([...new Set(labels)])
    }
  })

  test('declares the language and the writing direction of the reader', async () => {
    const reader = { language: 'en', locale: 'ar-EG', direction: 'rtl' } as const
    const html = await renderPage(name, views[name], { reader })
    expect(html).toContain('<html lang="en" dir="rtl" data-locale="ar-EG">')
  })
})

describe('an error in a form', () => {
  const { redirectUriNotHttps, confirmName, expiresMissing } = en.problems
  const values = {
    ...views.client.values,
    name: 'Typed <name>',
    redirect_uris: 'https://a.example/cb\r\nhttp://b.example/<cb>\r\n',
    is_confidential: false,
    default_scopes: ['user:email'],
  }
  const problem = {
    sentence: redirectUriNotHttps,
    fields: [{ name: 'redirect_uris', line: 2, sentence: redirectUriNotHttps }],
  }

  test('is displayed above the form, and next to the field with the invalid line', async () => {
    const html = await renderPage('client', { ...views.client, values }, { outcome: { problem } })
    expect(html).toContain(
      `<li><a href="#redirect_uris">Redirect URIs</a> Line 2: ${redirectUriNotHttps}</li>`,
    )
    const wrong = /id="redirect_uris-problem">([\s\S]*?)<\/p>/.exec(html)?.[1] ?? ''
    expect(wrong).toContain(`Line 2: ${redirectUriNotHttps}`)
    expect(wrong).toContain('<code dir="ltr">http://b.example/&lt;cb&gt;</code>')
    const field = control(html, 'redirect_uris')
    expect(field).toContain('aria-describedby="redirect_uris-hint redirect_uris-problem"')
    expect(field).toContain(' aria-invalid="true"')
    expect(html.match(/aria-invalid/g)).toHaveLength(1)
    // The summary has the focus.
    expect(html).toContain('<div class="notice" role="alert" tabindex="-1" autofocus>')
    expect(html.match(/autofocus/g)).toHaveLength(1)
  })

  test('leaves all submitted values in the form', async () => {
    const html = await renderPage('client', { ...views.client, values }, { outcome: { problem } })
    expect(control(html, 'name')).toContain('value="Typed &lt;name&gt;"')
    expect(html).toContain('>\nhttps://a.example/cb\r\nhttp://b.example/&lt;cb&gt;\r\n</textarea>')
    expect(html).toMatch(/name="is_confidential" value="false" checked/)
    expect(all(html, /name="default_scopes" value="([^"]*)"[^>]* checked/g)).toEqual(['user:email'])
  })

  test('opens the section of the page that contains the error', async () => {
    const problem = {
      sentence: confirmName,
      fields: [{ name: 'confirm_name', sentence: confirmName }],
    }
    const html = await renderPage('client', views.client, { outcome: { problem } })
    expect(html).toMatch(/<details class="danger" open>[\s\S]*id="confirm_name-problem"/)
  })

  test('the field for the expiry date shows the last day if tokens must expire', async () => {
    const view = views.newPersonalToken
    expect(control(await renderPage('newPersonalToken', view), 'expires')).not.toContain('max=')
    const lastDay = '2027-10-18'
    const sentence = expiresMissing('18 Oct 2027')
    const html = await renderPage(
      'newPersonalToken',
      { ...view, expiryChoices: { ...view.expiryChoices, mayNeverExpire: false, lastDay } },
      { outcome: { problem: { sentence, fields: [{ name: 'expires', sentence }] } } },
    )
    expect(control(html, 'expires')).toMatch(/min="2026-10-18" max="2027-10-18"/)
    expect(html).not.toContain('value="never"')
    expect(html).toMatch(/value="day" checked/)
    expect(html).toContain('Choose a day, 18 Oct 2027 at the latest.')
  })

  test('shows an error of the expiry date beside the date, before the other choices [T3175]', async () => {
    const sentence = en.problems.expiresInPast
    const problem = { sentence, fields: [{ name: 'expires', sentence }] }
    const html = await renderPage('newPersonalToken', views.newPersonalToken, {
      outcome: { problem },
    })
    const [, day = ''] = /<div class="day">([\s\S]*?)<\/div>/.exec(html) ?? []
    expect(day).toContain('id="expires-problem"')
    expect(html.indexOf('id="expires-problem"')).toBeLessThan(html.indexOf('value="never"'))
  })
})

describe('a row of a list', () => {
  test.each([
    [['notes:read'], 'notes:read'],
    [['notes:read', 'notes:write', 'user:email'], 'notes:read +2'],
    [[], en.facts.noPermissions],
  ])(
    'shows the first of the permissions %j, and the number of the others [T3176]',
    async (scopes, shown) => {
      const inRow = (html: string): readonly string[] =>
        all(html, /<span class="scopes"[^>]*>([\s\S]*?)<\/span>/g).map((text) =>
          text.replaceAll(/<[^>]*>/g, ''),
        )
      const { personalTokens, authorized } = views
      const tokens = personalTokens.personal_tokens.map((item) => ({ ...item, scopes }))
      const html = await renderPage('personalTokens', {
        ...personalTokens,
        personal_tokens: tokens,
      })
      expect(inRow(html)).toEqual(tokens.map(() => shown))
      const items = authorized.authorized.map((item) => ({ ...item, scopes }))
      const allowed = await renderPage('authorized', { ...authorized, authorized: items })
      const lists = all(allowed, /<details>\n<summary>Permissions<\/summary>([\s\S]*?)<\/details>/g)
      // Without devices, the entry itself lists all permissions.
      const without = items.filter(({ devices }) => devices.length === 0)
      expect(without.length).toBeGreaterThan(0)
      expect(lists.map((list) => all(list, /<code>([^<]*)<\/code>/g))).toEqual(
        scopes.length > 1 ? without.map(() => scopes) : [],
      )
      expect(inRow(allowed)).toEqual(items.map(() => shown))
    },
  )
})

describe('texts for the reader of a page', () => {
  test('dates have the format of the locale, and a timestamp for scripts', async () => {
    const dates = async (locale: string) =>
      all(
        await renderPage('sessions', views.sessions, { reader: { ...frame.reader, locale } }),
        /<time datetime="2026-10-17T12:00:00.000Z" data-time="minute">([^<]*)<\/time>/g,
      )
    expect(await dates('en-GB')).toEqual(['17 Oct 2026, 12:00 UTC'])
    expect(await dates('de')).toEqual(['17.10.2026, 12:00 UTC'])
  })

  test('the navigation contains links only to pages that the user may open', async () => {
    const links = async (around: Parameters<typeof renderPage>[2]) => {
      const html = await renderPage('sessions', views.sessions, around)
      return all(/<nav[\s\S]*?<\/nav>/.exec(html)?.[0] ?? '', /<a ([^>]*)>/g)
    }
    const lists = ['tokens', 'clients', 'authorized'].map(
      (list) => `href="/account/settings/applications/${list}/"`,
    )
    const sessions = 'href="/account/settings/sessions/" aria-current="page"'
    const activity = 'href="/account/settings/activity/"'
    const leaked = 'href="/account/settings/leaked/"'
    const user = { email: 'ada@example.org', isAdmin: false }
    const admin = 'href="/admin/overview/"'
    expect(await links({})).toEqual([...lists, sessions, activity, leaked, admin])
    expect(await links({ user })).toEqual([...lists, sessions, activity, leaked])
    const without = { ...frame.links, sessions: null }
    expect(await links({ user, links: without })).toEqual([...lists, activity, leaked])
    expect(await links({ user: null })).toEqual([])
  })
})

describe('the consent page', () => {
  test('has a checkbox for each optional scope in the decision form', async () => {
    const html = await renderPage('consent', views.consent)
    const form = /<form [\s\S]*<\/form>/.exec(html)?.[0] ?? ''
    expect(all(form, /name="optional_scope" value="([^"]*)"/g)).toEqual([
      'notes:write',
      'calendar:read',
    ])
    expect(all(form, /name="optional_scope" value="([^"]*)" checked/g)).toEqual(['notes:write'])
    // The first button, which Enter presses, decides nothing.
    expect(all(form, /name="confirm" value="([^"]*)"/g)).toEqual(['', 'yes', 'no'])
  })

  test('warns about unverified clients, and about names that mix alphabets', async () => {
    const shown = (client: object) =>
      renderPage('consent', { ...views.consent, client: { ...views.consent.client, ...client } })
    expect(await shown({})).toContain('<bdi>Notes</bdi> has not verified this application.')
    const verified = await shown({ isVerified: true, mixesAlphabets: true })
    expect(verified).not.toContain('has not verified this application')
    expect(verified).toContain(en.consent.mixesAlphabets)
  })
})

test('the page of a personal token shows a new value and a curl command that users can copy', async () => {
  const fresh = { accessToken: 'the-token', curl: 'curl -H "Authorization: Bearer the-token"' }
  const html = await renderPage('personalToken', { ...views.personalToken, fresh })
  expect(html).toMatch(/<code id="access-token" data-copy="Copy"[^>]*>the-token<\/code>/)
  expect(unescaped(html)).toMatch(/<pre id="curl" data-copy[^>]*><code>curl -H "Auth/)
  expect(html).toContain(en.token.once)
  expect(await renderPage('personalToken', views.personalToken)).not.toContain('data-copy')
})

test('the script of the pages is valid in strict mode, and does not insert markup or load data', () => {
  expect(() => new Script(pageScript)).not.toThrow()
  expect(pageScript).toMatch(/^'use strict'/)
  expect(pageScript).not.toMatch(/eval|innerHTML|document\.write|fetch/)
})

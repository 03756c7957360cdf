import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shownText, skeleton } from '../../support/html.ts'
import { directions, textsIn } from '../../support/languages.ts'
import { afterForms, asking, newWorld, type World } from './every-page.ts'
import { at, type Page } from './support.ts'

const codes = [...directions.keys()]

let world: World
beforeAll(async () => {
  world = await newWorld()
  // Read the pages before a form changes them.
  for (const language of codes) await linked(language)
})
afterAll(() => world.close())

type Pages = Promise<readonly (readonly [string, Page])[]>

const opened = new Map<string, Pages>()

/** Returns the pages that a browser can open with GET. */
const linked = (language: string): Pages => {
  const pages =
    opened.get(language) ??
    Promise.all(
      world.pages.map(
        async ({ name, path, who }) => [name, await who.get(path, asking(language))] as const,
      ),
    )
  opened.set(language, pages)
  return pages
}

/** Replaces the no-break spaces in the texts of some languages with spaces. */
const plain = (text: string): string => text.replaceAll(/\s+/g, ' ')

const checkPage = (name: string, { headers, html, title }: Page, language: string): void => {
  const direction = directions.get(language)
  expect([name, headers.get('content-language')]).toEqual([name, language])
  expect(html, name).toContain(
    `<html lang="${language}" dir="${direction}" data-locale="${language}">`,
  )
  expect(html, name).not.toMatch(/undefined|\[object|\bNaN\b|Invalid Date|\$\{|=>/)
  expect(title, name).toMatch(/^.+ · The Notes$/)
  expect(html.match(/<h1>/g), name).toHaveLength(1)
}

describe.each(codes)('in %s', (language) => {
  test('every page exists and declares its language', async () => {
    const pages = await linked(language)
    expect(pages.map(([name, { status }]) => [name, status])).toEqual(
      world.pages.map(({ name, status }) => [name, status]),
    )
    for (const [name, page] of pages) checkPage(name, page, language)
  })

  test('every response to a form is translated, whether the form succeeded or failed', async () => {
    const { problems, done, problem } = textsIn(language)
    const pages = await afterForms(world, asking(language))
    for (const [name, page] of pages) checkPage(name, page, language)
    const found = new Map(pages)
    const statuses = pages.map(([name, { status }]) => [name, status])
    for (const [name, status] of statuses) {
      if (name === 'too large') expect([name, status]).toEqual([name, 413])
      else if (/refused|no name|long name|scope|edit|late|public|not a form/.test(`${name}`))
        expect([name, status]).toEqual([name, name === 'login, refused' ? 403 : 400])
      else if (/stale|elsewhere/.test(`${name}`)) expect([name, status]).toEqual([name, 403])
      else expect([name, status]).toEqual([name, 200])
    }
    expect(found.get('register, no name')?.wrong('name')).toBe(plain(problems.nameMissing))
    expect(found.get('register, long name')?.wrong('name')).toContain(
      plain(problems.nameTooLong(40)),
    )
    expect(found.get('register, stale')?.alert).toBe(plain(problems.stale))
    expect(found.get('token, refused')?.wrong('expires')).toBe(plain(problems.expiresInPast))
    expect(found.get('from elsewhere')?.text).toContain(plain(problem.foreign))
    expect(found.get('registered')?.done).toBe(plain(done.clientCreated))
    expect(found.get('token saved')?.done).toBe(plain(done.tokenSaved))
    expect(found.get('token deleted')?.done).toBe(plain(done.tokenDeleted('Laptop')))
  })

  test('pages show the scopes in the language if the application translates the scopes', async () => {
    const pages = new Map(await linked(language))
    for (const name of ['new client', 'new personal token', 'authorization', 'consent']) {
      const text = pages.get(name)?.text
      expect(text, name).toContain(`help of notes:read, ${language} notes:read`)
      expect(text, name).toContain(`group, ${language}`)
      expect(text, name).toContain(textsIn(language).facts.otherGroup)
      if (language !== 'en') expect(text, name).not.toMatch(/(?:help of \S+|group), en/)
    }
  })

  test('every page has the same elements and forms as in English', async () => {
    const [pages, english] = [await linked(language), new Map(await linked('en'))]
    // Ignore the elements around a name, because a translation may move the name.
    const parts = (page: Page | undefined): readonly string[] =>
      skeleton(page?.html ?? '')
        .filter((tag) => !/^<\/?(?:bdi|strong|time)\b/.test(tag))
        .map((tag) => tag.replace(/ (?:aria-label|data-\w+)=/g, ''))
    for (const [name, page] of pages) {
      expect(parts(page), name).toEqual(parts(english.get(name)))
      expect(page.forms.map(({ action, fields }) => [action, Object.keys(fields)])).toEqual(
        english.get(name)?.forms.map(({ action, fields }) => [action, Object.keys(fields)]),
      )
    }
  })
})

describe('no text of a page remains English', () => {
  /** Returns whether a line may contain Latin letters in any language. */
  const isData = (line: string): boolean =>
    [
      /^(?:Printer|Phone|Laptop|D[iі]ary|Prints what you wrote|The Notes|plain)$/,
      /^[\w:-]+$/,
      // The names of programming languages above programs.
      /^(?:JavaScript|Python)$/,
      /^notes:read plain$/,
      /^\S+@\S+$/,
      // The ID of the request on an error page.
      /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
      /^(?:https?:\/\/|curl -)/,
      /^(?:localhost|client\.example|127\.0\.0\.1)/,
      /^help of|^group,/,
      /^[A-Za-z0-9]{40}$/,
      // The last characters of a token.
      /^…[A-Za-z0-9]{4}$/,
      /^\w+, \w+$/,
      /^…\w{4}$/,
      /^JSON Lines$/,
      /^x$/,
    ].some((pattern) => pattern.test(line))

  test.each(['ar', 'ja', 'zh'])(
    'in %s, Latin letters on the pages occur only in data',
    async (language) => {
      const pages = [...(await linked(language)), ...(await afterForms(world, asking(language)))]
      const english = pages.flatMap(([name, { html }]) =>
        shownText(
          html.replaceAll(
            /<p class="details" lang="en"[\s\S]*?<\/p>|<time[\s\S]*?<\/time>|<pre[\s\S]*?<\/pre>/g,
            '',
          ),
        )
          .filter(
            (line) =>
              /[A-Za-z]{3,}/.test(line) &&
              !/\p{L}/u.test(line.replaceAll(/[\p{Script=Latin}\p{N}]/gu, '')),
          )
          .filter((line) => !isData(line))
          .map((line) => `${name}: ${line}`),
      )
      expect(english).toEqual([])
    },
  )

  test('the attributes that screen readers announce are translated', async () => {
    const attributes = (page: Page): readonly string[] =>
      [
        ...page.html.matchAll(
          / (?:aria-label|placeholder|title|alt|data-copy|data-copied)="([^"]+)"/g,
        ),
      ].map(([, text = '']) => text)
    for (const language of ['ar', 'ja', 'zh'] as const)
      for (const [name, page] of await linked(language))
        for (const text of attributes(page))
          expect(`${name}: ${text}`).toMatch(
            /\p{Script=Arabic}|\p{Script=Han}|\p{Script=Katakana}/u,
          )
  })
})

describe('the language of a page', () => {
  test.each<[string, string, string]>([
    ['', 'de', 'de'],
    ['', 'fr-CH, de;q=0.5', 'fr'],
    ['', 'tlh, ja;q=0.1', 'ja'],
    ['', 'tlh', 'en'],
    ['?ui_locales=it', 'de', 'it'],
    ['?ui_locales=tlh%20pl', 'de', 'pl'],
    ['?ui_locales=tlh', 'de', 'de'],
  ])('for the query "%s" and Accept-Language %s, is %s', async (query, accepted, language) => {
    const page = await world.person.get(`${at.list}${query}`, { 'accept-language': accepted })
    expect(page.headers.get('content-language')).toBe(language)
    expect(page.text).toContain(textsIn(language).applications.title)
  })

  test('remains the language of the form in the success message after a change of the language', async () => {
    const sent = await world.person.post(at.newToken, { name: 'Laptop' }, asking('de'))
    const page = await world.person.get(sent.location ?? '', asking('fr'))
    expect(page.headers.get('content-language')).toBe('fr')
    expect(page.done).toBe(plain(textsIn('de').done.tokenCreated))
  })
})

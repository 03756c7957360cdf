import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { en } from '../../../src/pages/messages/en.ts'
import { argumentsOf, type Patterns } from '../../../src/pages/messages/message-format.ts'
import { missingTexts, textProblems } from '../../../src/pages/messages/text-problems.ts'
import { languages } from '../../support/languages.ts'
import { leavesOf, unusedMessages } from './message-use.ts'

const codes = Object.keys(languages)
const others = codes.filter((code) => code !== 'en')
const leaves = leavesOf()

const valueAt = (texts: unknown, leaf: string): unknown =>
  leaf.split('/').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], texts)

const textAt = (language: string, leaf: string): unknown => valueAt(languages[language], leaf)

const fileOf = async (language: string): Promise<Patterns> => {
  if (language === 'en') return en
  const file = new URL(`../../../locales/${language}.json`, import.meta.url)
  return JSON.parse(await readFile(file, 'utf8'))
}

type Text = (...given: readonly unknown[]) => string

const marker = '⟦marker⟧'

/** Returns sample arguments for a text: numbers for a count, and strings for all other arguments. */
const samplesOf = (leaf: string): readonly unknown[] => {
  const pattern = String(valueAt(en, leaf))
  const names = argumentsOf(pattern)
  if (names.length > 1)
    return [Object.fromEntries(names.map((name, index) => [name, index === 0 ? 7 : marker]))]
  return /, plural,|\{limit\}/.test(pattern) ? [3, 7, 12, 25, 1_000] : [marker]
}

const shown = (language: string, value: unknown): string =>
  typeof value === 'number' ? value.toLocaleString(language) : String(value)

describe('every language has every text', () => {
  test('and the package has the languages that the requirements list', () => {
    const required = ['ar', 'de', 'en', 'es', 'fr', 'it', 'ja', 'pl', 'pt', 'zh']
    expect(codes).toEqual(expect.arrayContaining(required))
  })

  test.each(codes)(
    '%s has each English text with the same arguments, and no other text [T4820]',
    async (language) => {
      const file = await fileOf(language)
      expect([...missingTexts(file), ...textProblems(language, file)]).toEqual([])
    },
  )

  test.each(codes)('%s has no text with spaces around it or with markup', async (language) => {
    const file = await fileOf(language)
    for (const leaf of leaves) {
      const text = String(valueAt(file, leaf))
      expect(text.trim(), leaf).toBe(text)
      expect(text, leaf).not.toMatch(/[<>]|undefined|\bnull\b|\$\{|TODO|\?\?\?/)
    }
  })

  test.each(codes)('%s has only plural forms that the language distinguishes', async (language) => {
    const file = await fileOf(language)
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
    for (const leaf of leaves) {
      const pattern = String(valueAt(file, leaf))
      if (!pattern.includes(', plural,')) continue
      for (const [, form] of pattern.matchAll(/ (zero|one|two|few|many) \{/g))
        expect(pluralCategories, leaf).toContain(form)
    }
  })

  test.each(codes)('%s inserts the arguments into each text', (language) => {
    for (const leaf of leaves) {
      const text = textAt(language, leaf)
      if (typeof text !== 'function') continue
      for (const sample of samplesOf(leaf)) {
        const result = (text as Text)(sample)
        for (const value of typeof sample === 'object' ? Object.values(sample ?? {}) : [sample]) {
          const written = [String(value), shown(language, value)]
          const has = written.some((part) => result.includes(part))
          expect([leaf, has, result]).toEqual([leaf, true, result])
        }
        expect(result, leaf).not.toMatch(/undefined|NaN|\[object|#(?! )/)
      }
      // A text may contain a word instead of the number zero, one or two.
      for (const number of [0, 1, 2]) {
        const result = (text as Text)(number)
        expect(result.trim(), leaf).not.toBe('')
        expect(result, leaf).not.toMatch(/undefined|NaN|\[object/)
      }
    }
  })
})

/**
 * Texts that are the same as in English: technical terms, or words with the same spelling. Review a text before you add
 * the text here.
 */
const alike: Readonly<Record<string, readonly string[]>> = {
  de: [
    'admin/logo',
    'client/name',
    'client/website',
    'consent/website',
    'device/code',
    'error/details',
    'facts/website',
    'token/name',
    'users/administrator',
  ],
  es: ['admin/tokens', 'frame/error', 'frame/tokens'],
  fr: [
    'admin/clients',
    'admin/logo',
    'admin/title',
    'applications/title',
    'client/description',
    'client/type',
    'device/code',
    'facts/type',
    'frame/admin',
    'frame/applications',
    'frame/pages',
    'frame/sessions',
    'home/admin',
    'home/sessions',
    'sessions/title',
  ],
  // Italian uses the English technical terms `client secret`, `account` and `password`.
  it: ['admin/logo', 'facts/clientSecret', 'frame/navigation', 'login/password'],
  pl: ['admin/logo'],
  pt: ['admin/tokens', 'frame/tokens'],
}

describe('every text is translated', () => {
  const same = (language: string): readonly string[] =>
    leaves.filter((leaf) => {
      const [text, english] = [textAt(language, leaf), textAt('en', leaf)]
      if (typeof text !== 'function') return text === english
      return samplesOf(leaf).every((sample) => text(sample) === (english as Text)(sample))
    })

  test.each(others)('%s differs from English', (language) => {
    expect(same(language).toSorted()).toEqual((alike[language] ?? []).toSorted())
  })

  test.each<[string, RegExp]>([
    ['ar', /\p{Script=Arabic}/u],
    ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u],
    ['zh', /\p{Script=Han}/u],
  ])('%s is written in its own script', (language, letters) => {
    for (const leaf of leaves) {
      const text = textAt(language, leaf)
      const result = typeof text === 'function' ? (text as Text)(7, marker) : String(text)
      expect(result, leaf).toMatch(letters)
    }
  })

  test('no two languages use the same file', () => {
    const texts = codes.map((code) => leaves.map((leaf) => String(textAt(code, leaf))).join('\n'))
    expect(new Set(texts).size).toBe(codes.length)
  })
})

describe('unusedMessages()', () => {
  test('finds no unused text in the source files', () => {
    expect(unusedMessages()).toEqual([])
  })

  test('finds a text that no source uses', () => {
    expect(unusedMessages(['']).toSorted()).toEqual(leaves.toSorted())
    const source = `
      export const page = (view: View, frame: Frame) => {
        const { login, admin: words } = frame.texts
        const { title: heading } = login
        call(heading, words.search, frame.texts.error.known[view.error].what, frame.texts.events)
      }
      const code = 'access_denied'
      const event = 'client.deleted'
      const of = ({ texts: { home } }: Frame) => home.title
      const name = 'invalid_scope'`
    const used = leaves.filter((leaf) => !unusedMessages([source]).includes(leaf))
    expect(used.toSorted()).toEqual([
      'admin/search',
      'error/known/access_denied/what',
      'error/known/invalid_scope/what',
      'events/client.deleted',
      'home/title',
      'login/title',
    ])
  })
})

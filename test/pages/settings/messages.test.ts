import { describe, expect, test } from 'vitest'
import { type Language, languages } from '../../../src/pages/messages/languages.ts'
import { leavesOf, unusedMessages } from './message-use.ts'

const codes = Object.keys(languages) as Language[]
const leaves = leavesOf()

const textAt = (language: Language, leaf: string): unknown =>
  leaf
    .split('/')
    .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], languages[language])

type Text = (...given: readonly unknown[]) => string

const marker = '⟦marker⟧'

/** Returns sample arguments for a text: numbers for a count, and strings for all other parameters. */
const samplesOf = (text: Text): readonly (readonly unknown[])[] => {
  if (text.length === 2) return [[7, marker]]
  const isCounted = /NaN/.test(text(marker)) || !text(marker).includes(marker)
  return isCounted ? [3, 7, 12, 25, 1_000].map((number) => [number]) : [[marker]]
}

const shown = (language: Language, value: unknown): string =>
  typeof value === 'number' ? value.toLocaleString(language) : String(value)

describe('every language has every text', () => {
  test('and the package has the languages that the requirements list', () => {
    expect(codes.toSorted()).toEqual(['ar', 'de', 'en', 'es', 'fr', 'it', 'ja', 'pl', 'pt', 'zh'])
  })

  test.each(codes)(
    '%s has the same text names and types as English, and no empty text',
    (language) => {
      expect(leavesOf(languages[language]).toSorted()).toEqual(leaves.toSorted())
      for (const leaf of leaves) {
        const [text, english] = [textAt(language, leaf), textAt('en', leaf)]
        expect([leaf, typeof text]).toEqual([leaf, typeof english])
        if (typeof text === 'string') {
          expect(text.trim(), leaf).toBe(text)
          expect(text, leaf).not.toBe('')
          expect(text, leaf).not.toMatch(/[<>]|undefined|\bnull\b|\$\{|TODO|\?\?\?/)
        }
      }
    },
  )

  test.each(codes)('%s inserts the arguments into each text', (language) => {
    for (const leaf of leaves) {
      const text = textAt(language, leaf)
      if (typeof text !== 'function') continue
      for (const sample of samplesOf(text as Text)) {
        const result = (text as Text)(...sample)
        for (const value of sample) {
          const written = [String(value), shown(language, value)]
          const has = written.some((part) => result.includes(part))
          expect([leaf, has, result]).toEqual([leaf, true, result])
        }
        expect(result, leaf).not.toMatch(/undefined|NaN|\[object|#(?! )/)
      }
      // A text may contain a word instead of the number zero, one or two.
      for (const number of [0, 1, 2]) {
        const result = (text as Text)(number, number)
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
const alike: Readonly<Record<Language, readonly string[]>> = {
  en: [],
  ar: [],
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
  ja: [],
  pl: ['admin/logo'],
  pt: ['admin/tokens', 'frame/tokens'],
  zh: [],
}

describe('every text is translated', () => {
  const same = (language: Language): readonly string[] =>
    leaves.filter((leaf) => {
      const [text, english] = [textAt(language, leaf), textAt('en', leaf)]
      if (typeof text !== 'function') return text === english
      return samplesOf(english as Text).every(
        (sample) => (text as Text)(...sample) === (english as Text)(...sample),
      )
    })

  test.each(codes.filter((code) => code !== 'en'))('%s differs from English', (language) => {
    expect(same(language).toSorted()).toEqual(alike[language].toSorted())
  })

  test.each<[Language, RegExp]>([
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

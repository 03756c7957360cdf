import { en, type Messages } from './en.ts'
import { locales } from './locales.ts'
import { argumentsOf, type Grammar, grammarOf, type Patterns, textOf } from './message-format.ts'

/** Texts of which some may be missing. */
interface SomePatterns {
  readonly [name: string]: string | SomePatterns | undefined
}

/** Patterns of a group, of which some may be missing. */
type Partly<Texts> = {
  readonly [Name in keyof Texts]?: Texts[Name] extends string ? string : Partly<Texts[Name]>
}

/** Texts by language code. The texts have the names of the English texts, and the format ICU MessageFormat. */
export type TextOverrides = Readonly<Record<string, Partly<typeof en>>>

/** The languages and texts of the pages of one server. */
export interface Texts {
  /** The languages with the direction of their texts. English is the first language. */
  readonly directions: ReadonlyMap<string, 'ltr' | 'rtl'>
  /** Returns the texts of a supported language. A text that is missing in the language is English. */
  messagesIn(language: string): Promise<Messages>
}

/** Returns the texts of the package with those of the application. Loads a language at its first use. */
export const textsWith = (given: TextOverrides = {}): Texts => {
  // The start-up checked these texts. The application may change its object later.
  const overrides = structuredClone(given)
  const codes = new Set(['en', ...locales.keys(), ...Object.keys(overrides)])
  const loaded = new Map<string, Promise<Messages>>()
  const load = async (language: string): Promise<Messages> => {
    const own = await locales.get(language)?.()
    return messagesOf(language, [overrides[language], own])
  }
  return {
    directions: new Map([...codes].map((code) => [code, directionOf(code)])),
    messagesIn(language) {
      const messages = loaded.get(language) ?? load(language)
      loaded.set(language, messages)
      // A file can be unreadable for a moment, for instance if the process has too many open files.
      messages.catch(() => loaded.delete(language))
      return messages
    },
  }
}

const rightToLeft = ['Adlm', 'Arab', 'Hebr', 'Nkoo', 'Rohg', 'Syrc', 'Thaa']

const directionOf = (language: string): 'ltr' | 'rtl' =>
  rightToLeft.includes(new Intl.Locale(language).maximize().script ?? '') ? 'rtl' : 'ltr'

/** Returns the texts of a language. Takes each text from the first of the sources that contains it, or from English. */
export const messagesOf = (
  language: string,
  sources: readonly (SomePatterns | undefined)[] = [],
): Messages => read(en, sources, grammarOf(language), grammarOf('en')) as Messages

const read = (
  english: Patterns,
  sources: readonly (string | SomePatterns | undefined)[],
  grammar: Grammar,
  englishGrammar: Grammar,
): object => {
  const entries = Object.entries(english).map(([name, pattern]) => {
    const found = sources.map((source) => (typeof source === 'object' ? source[name] : undefined))
    if (typeof pattern === 'object') return [name, read(pattern, found, grammar, englishGrammar)]
    const names = argumentsOf(pattern)
    const own = found.find((text) => typeof text === 'string')
    const text =
      own === undefined ? textOf(pattern, names, englishGrammar) : textOf(own, names, grammar)
    return [name, text]
  })
  return Object.fromEntries(entries)
}

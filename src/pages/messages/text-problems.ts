import { likelyName } from '../../model/likely-name.ts'
import { en } from './en.ts'
import { argumentsOf, type Patterns } from './message-format.ts'

/** The maximum length of a text, in characters. */
const maxLength = 2_000

/** Returns a sentence for each text that the pages cannot use. @param option the name of the option `texts` */
export const overrideProblems = (option: string, given: unknown): readonly string[] => {
  if (!isObject(given)) return [`${option} must be an object with language codes as names.`]
  return Object.entries(given).flatMap(([language, texts]) =>
    isLanguage(language)
      ? textProblems(`${option}.${language}`, texts)
      : [
          `${option}: ${JSON.stringify(language)} is not a language code such as nl, without a region or a script.`,
        ],
  )
}

/** Returns a sentence for each text of a language that has no name, no arguments or no format of an English text. */
export const textProblems = (
  path: string,
  given: unknown,
  english: Patterns = en,
): readonly string[] => {
  if (!isObject(given)) return [`${path} must be an object with names of texts.`]
  return Object.entries(given).flatMap(([name, value]: [string, unknown]) => {
    const own = `${path}.${name}`
    const pattern = Object.hasOwn(english, name) ? english[name] : undefined
    if (pattern === undefined) {
      const likely = likelyName(name, Object.keys(english))
      return [`${own} is not a text.${likely === undefined ? '' : ` Did you mean ${likely}?`}`]
    }
    if (value === undefined) return []
    return typeof pattern === 'string'
      ? patternProblems(own, value, pattern)
      : textProblems(own, value, pattern)
  })
}

const patternProblems = (path: string, value: unknown, english: string): readonly string[] => {
  if (typeof value !== 'string' || value.trim() === '' || value.length > maxLength)
    return [`${path} must be a string of 1 to ${maxLength} characters.`]
  try {
    const [given, needed] = [argumentsOf(value), argumentsOf(english)]
    return [
      ...needed
        .filter((name) => !given.includes(name))
        .map((name) => `${path} must contain {${name}}.`),
      ...given
        .filter((name) => !needed.includes(name))
        .map((name) => `${path} must not contain {${name}}.`),
    ]
  } catch (error) {
    return [`${path}: ${error instanceof Error ? error.message : error}.`]
  }
}

/** Returns the path of each English text that a language does not have. */
export const missingTexts = (
  given: string | Patterns | undefined,
  english: Patterns = en,
  path = '',
): readonly string[] =>
  Object.entries(english).flatMap(([name, pattern]) => {
    const own = typeof given === 'object' ? given[name] : undefined
    if (typeof pattern === 'object') return missingTexts(own, pattern, `${path}${name}.`)
    return typeof own === 'string' ? [] : [`${path}${name}`]
  })

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// The canonical code: requests are compared with it.
const isLanguage = (code: string): boolean =>
  /^[a-z]{2,3}$/.test(code) && new Intl.Locale(code).language === code

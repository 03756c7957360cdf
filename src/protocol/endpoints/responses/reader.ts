import { parseAccept } from 'hono/utils/accept'
import type { HttpRequest } from '../../../http/request.ts'
import type { Reader } from '../../../pages/frame.ts'
import type { Messages } from '../../../pages/messages/en.ts'
import { type Language, languages } from '../../../pages/messages/languages.ts'

/** What of a wish is looked at: nobody reads more languages than that. */
const longestWish = 500
const mostTags = 20
const rightToLeft: readonly string[] = ['ar']

/** The languages that pages are written in, as `ui_locales` names them. RFC 8414 §2. */
export const supportedLocales = Object.keys(languages)

/** Who reads the answer: `ui_locales` decides (OpenID Connect Core §3.1.2.1), then the browser, then English. */
export const readerOf = (
  { headers, query }: Pick<HttpRequest, 'headers' | 'query'>,
  { uiLocales = uiLocalesIn(query) }: { readonly uiLocales?: string | undefined } = {},
): Reader => chooseReader(uiLocales, headers.get('accept-language'))

/** The texts in the language of a reader. */
export const textsOf = ({ language }: Reader): Messages => languages[language]

/** The `ui_locales` of a query, where it stands there once. */
export const uiLocalesIn = (query: string): string | undefined => {
  const [value, ...more] = new URLSearchParams(query).getAll('ui_locales')
  return more.length === 0 ? value?.slice(0, longestWish) : undefined
}

/** The first language of either wish that we have; whatever is no language tag is passed over. */
export const chooseReader = (
  uiLocales: string | undefined,
  acceptLanguage: string | null,
): Reader => {
  const wished = [...tagsIn(uiLocales ?? ''), ...acceptedTags(acceptLanguage ?? '')]
    .map(localeOf)
    .filter((locale) => locale !== undefined)
  const language = wished.map((locale) => locale.language).find(isOurs) ?? 'en'
  // `de, de-AT` asks for German as it is written in Austria: the language alone says nothing of that.
  const exact = wished.find(
    (locale) => locale.language === language && locale.baseName !== language,
  )
  return {
    language,
    locale: exact?.baseName ?? language,
    direction: rightToLeft.includes(language) ? 'rtl' : 'ltr',
  }
}

const tagsIn = (uiLocales: string): readonly string[] =>
  uiLocales.slice(0, longestWish).split(' ').slice(0, mostTags)

const acceptedTags = (acceptLanguage: string): readonly string[] =>
  parseAccept(acceptLanguage.slice(0, longestWish))
    .slice(0, mostTags)
    .filter(({ type, q }) => q > 0 && type !== '*')
    .map(({ type }) => type)

const localeOf = (tag: string): Intl.Locale | undefined => {
  try {
    return new Intl.Locale(tag)
  } catch {
    return undefined
  }
}

const isOurs = (language: string): language is Language => Object.hasOwn(languages, language)

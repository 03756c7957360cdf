import { parseAccept } from 'hono/utils/accept'
import type { HttpRequest } from '../../../http/request.ts'
import { parsedPairs } from '../../../model/parameters.ts'
import type { Reader } from '../../../pages/frame.ts'
import type { Messages } from '../../../pages/messages/en.ts'
import type { Texts } from '../../../pages/messages/texts.ts'
import type { ServerContext } from '../../server-context.ts'

/** The maximum length, in characters, of a list of requested languages. */
const maxListLength = 500
const maxTags = 20

/** Chooses the language by `ui_locales` (OpenID Connect Core §3.1.2.1), or else by `Accept-Language`. */
export const readerOf = (
  http: Pick<HttpRequest, 'header' | 'query'>,
  { ui }: Pick<ServerContext, 'ui'>,
  { uiLocales = uiLocalesIn(http.query) }: { readonly uiLocales?: string | undefined } = {},
): Reader => chooseReader(uiLocales, http.header('accept-language'), ui.texts)

/** Returns the messages in the language of a reader. */
export const textsOf = (
  { language }: Reader,
  { ui }: Pick<ServerContext, 'ui'>,
): Promise<Messages> => ui.texts.messagesIn(language)

/** Returns the `ui_locales` of a query; undefined if the query repeats the parameter. */
export const uiLocalesIn = (query: string): string | undefined => {
  const [value, ...more] = parsedPairs(query).getAll('ui_locales')
  return more.length === 0 ? value?.slice(0, maxListLength) : undefined
}

/** Returns the first supported language of the two lists; English if no language is supported. */
export const chooseReader = (
  uiLocales: string | undefined,
  acceptLanguage: string | null,
  { directions }: Pick<Texts, 'directions'>,
): Reader => {
  const requested = [...tagsIn(uiLocales ?? ''), ...acceptedTags(acceptLanguage ?? '')]
    .map(localeOf)
    .filter((locale) => locale !== undefined)
  const language =
    requested.map((locale) => locale.language).find((one) => directions.has(one)) ?? 'en'
  // `de, de-AT` requests German with Austrian date formats, so prefer the tag with a region.
  const exact = requested.find(
    (locale) => locale.language === language && locale.baseName !== language,
  )
  return {
    language,
    locale: exact?.baseName ?? language,
    direction: directions.get(language) ?? 'ltr',
  }
}

const tagsIn = (uiLocales: string): readonly string[] =>
  uiLocales.slice(0, maxListLength).split(' ').slice(0, maxTags)

const acceptedTags = (acceptLanguage: string): readonly string[] =>
  parseAccept(acceptLanguage.slice(0, maxListLength))
    .slice(0, maxTags)
    .filter(({ type, q }) => q > 0 && type !== '*')
    .map(({ type }) => type)

const localeOf = (tag: string): Intl.Locale | undefined => {
  try {
    return new Intl.Locale(tag)
  } catch {
    return undefined
  }
}

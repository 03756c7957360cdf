interface Formats {
  readonly day: Intl.DateTimeFormat
  readonly minute: Intl.DateTimeFormat
  readonly number: Intl.NumberFormat
}

/** The maximum number of cached locales. Browsers can request any number of different locales. */
const maxLocales = 100

// Cache the formats, because creating a format takes longer than rendering a page.
const cache = new Map<string, Formats>()

/** Returns the formats of dates and numbers for a locale. Days and minutes are in UTC. */
export const formatsOf = (locale: string): Formats => {
  const cached = cache.get(locale)
  if (cached) return cached
  const formats = {
    day: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }),
    minute: new Intl.DateTimeFormat(locale, {
      dateStyle: 'medium',
      timeStyle: 'short',
      timeZone: 'UTC',
    }),
    number: new Intl.NumberFormat(locale),
  }
  if (cache.size >= maxLocales) cache.clear()
  cache.set(locale, formats)
  return formats
}

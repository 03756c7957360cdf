interface Formats {
  readonly day: Intl.DateTimeFormat
  readonly minute: Intl.DateTimeFormat
  readonly number: Intl.NumberFormat
}

/** Readers choose their locale, so the number of entries needs a bound. */
const maxLocales = 100

// Creating a format takes longer than rendering a page, and the result depends on the locale only.
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

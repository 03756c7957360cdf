/** Returns the offset of a time zone from UTC at a time, in milliseconds. */
const offsetAt = (at: number, timeZone: string): number => {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at)
  const value = (type: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find((part) => part.type === type)?.value)
  const local = Date.UTC(
    value('year'),
    value('month') - 1,
    value('day'),
    value('hour'),
    value('minute'),
    value('second'),
  )
  return local - Math.floor(at / 1000) * 1000
}

/** The maximum length of the name of a time zone. The names of the IANA database have at most 32 characters. */
const maxNameLength = 64

/** Returns the time zone if this process knows it; otherwise UTC. */
export const knownTimeZone = (name: string | undefined): string => {
  if (name === undefined || name.length > maxNameLength) return 'UTC'
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return 'UTC'
  }
}

/**
 * Returns the last second of a day such as `2027-01-31` in a time zone, in milliseconds since the epoch. A page that
 * formats this time in the same time zone shows the same day. Returns NaN for an invalid day.
 */
export const endOfDay = (day: string, timeZone: string): number => {
  const endInUtc = Date.parse(`${day}T23:59:59Z`)
  // The calendar of JavaScript accepts days such as February 30 and moves them to the next month.
  if (Number.isNaN(endInUtc) || new Date(endInUtc).toISOString().slice(0, 10) !== day)
    return Number.NaN
  // The offset of the zone can change between the end of the day in UTC and the local end of the day. An example is
  // daylight saving time. Therefore, compute an approximate result first, and then use the offset at that time.
  const near = endInUtc - offsetAt(endInUtc, timeZone)
  return endInUtc - offsetAt(near, timeZone)
}

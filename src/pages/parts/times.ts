import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { formatsOf } from './formats.ts'

/** Renders a time to the minute in UTC. The script of the page converts the time to the reader's time zone. */
export const time = (frame: Frame, at: number | string): Html => {
  const date = new Date(at)
  const text = `${formatsOf(frame.reader.locale).minute.format(date)} UTC`
  return html`<time datetime="${date.toISOString()}" data-time="minute">${text}</time>`
}

/** Renders the day of a time in UTC. The script of the page converts the day to the reader's time zone. */
export const day = (frame: Frame, at: number | string): Html => {
  const date = new Date(at)
  const text = formatsOf(frame.reader.locale).day.format(date)
  return html`<time datetime="${date.toISOString()}" data-time="day">${text}</time>`
}

/** Formats a day such as `2027-01-31` in the reader's locale. */
export const dayText = (frame: Frame, isoDay: string): string =>
  formatsOf(frame.reader.locale).day.format(new Date(`${isoDay}T00:00:00Z`))

/** Returns the number of days until a time, rounded up, and the number in words, such as "in 5 days". */
export const daysUntil = (
  { now, reader }: Frame,
  at: number,
): { readonly count: number; readonly text: string } => {
  const count = Math.ceil((at - now) / 86_400_000)
  const format = new Intl.RelativeTimeFormat(reader.locale, { numeric: 'auto' })
  return { count, text: format.format(count, 'day') }
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** Formats seconds in words, in the largest unit in which the number is an integer. */
export const durationText = ({ reader }: Frame, seconds: number): string => {
  const [unit, size] = units.find(([, size]) => seconds % size === 0) ?? units[3]
  const format = new Intl.NumberFormat(reader.locale, { style: 'unit', unit, unitDisplay: 'long' })
  return format.format(seconds / size)
}

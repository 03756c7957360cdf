import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { formatsOf } from './formats.ts'

/** A moment to the minute; the script of the pages shows it in the reader's own time zone. */
export const time = (frame: Frame, at: number): Html => {
  const date = new Date(at)
  const text = `${formatsOf(frame.reader.locale).minute.format(date)} UTC`
  return html`<time datetime="${date.toISOString()}" data-time="minute">${text}</time>`
}

/** The day of a moment, where the hour does not matter. */
export const day = (frame: Frame, at: number): Html => {
  const date = new Date(at)
  const text = formatsOf(frame.reader.locale).day.format(date)
  return html`<time datetime="${date.toISOString()}" data-time="day">${text}</time>`
}

/** A day such as `2027-01-31`, as the reader writes it. */
export const dayText = (frame: Frame, isoDay: string): string =>
  formatsOf(frame.reader.locale).day.format(new Date(`${isoDay}T00:00:00Z`))

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** A number of seconds in words, in the largest unit that fits. */
export const durationText = ({ reader }: Frame, seconds: number): string => {
  const [unit, size] = units.find(([, size]) => seconds % size === 0) ?? units[3]
  const format = new Intl.NumberFormat(reader.locale, { style: 'unit', unit, unitDisplay: 'long' })
  return format.format(seconds / size)
}

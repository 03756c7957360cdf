import { countLimit } from '../../model/count-limit.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { formatsOf } from './formats.ts'
import { time } from './times.ts'

/** A row with a term and its value. An undefined row is omitted. */
export type Fact = readonly [term: string, value: Html | string] | undefined

/** Renders a list of terms and values. */
export const facts = (rows: readonly Fact[]): Html => {
  const known = rows.filter((row) => row !== undefined)
  return known.length === 0
    ? html``
    : html`<dl class="facts">
${known.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}
</dl>`
}

/** Renders a term and its value in one line. */
export const labelled = (term: string, value: Html | string): Html =>
  html`<span class="term">${term}</span> ${value}`

/** Formats a number in the reader's locale. */
export const numberText = ({ reader }: Frame, value: number): string =>
  formatsOf(reader.locale).number.format(value)

/** Formats a count. From `countLimit` on, returns "more than …", because the server does not count further. */
export const countText = (frame: Frame, count: number): string =>
  count < countLimit
    ? numberText(frame, count)
    : frame.texts.facts.moreThan(numberText(frame, countLimit - 1))

/** Returns a row with the time of the last use and, if known, the IP address. */
export const lastUsed = (
  frame: Frame,
  used:
    | { readonly last_used_at: string | null; readonly last_used_address?: string | null }
    | { readonly lastUsedAt: number | null; readonly lastUsedAddress?: string | null },
): Fact => {
  const texts = frame.texts.facts
  const [at, address = null] =
    'last_used_at' in used
      ? [used.last_used_at, used.last_used_address]
      : [used.lastUsedAt, used.lastUsedAddress]
  if (at === null) return [texts.lastUsed, texts.neverUsed]
  const from = address === null ? '' : html` <bdi>${texts.from(address)}</bdi>`
  return [texts.lastUsed, html`${time(frame, at)}${from}`]
}

/** Renders a status as a small label. */
export const badge = (text: string, kind: 'plain' | 'good' | 'care' | 'bad' = 'plain'): Html =>
  html`<span class="badge ${kind}">${text}</span>`

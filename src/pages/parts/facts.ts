import { countLimit } from '../../model/count-limit.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { formatsOf } from './formats.ts'
import { time } from './times.ts'

/** A term with its value; `undefined` and empty rows are left out of a list. */
export type Fact = readonly [term: string, value: Html | string] | undefined

/** Terms and values, such as when a thing was made and who uses it. */
export const facts = (rows: readonly Fact[]): Html => {
  const known = rows.filter((row) => row !== undefined)
  return known.length === 0
    ? html``
    : html`<dl class="facts">
${known.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}
</dl>`
}

/** A number, as the reader writes it. */
export const numberText = ({ reader }: Frame, value: number): string =>
  formatsOf(reader.locale).number.format(value)

/** A number that was counted up to the limit of pages. */
export const countText = (frame: Frame, count: number): string =>
  count < countLimit
    ? numberText(frame, count)
    : frame.texts.facts.moreThan(numberText(frame, countLimit - 1))

/** When and from where something was last used. */
export const lastUsed = (
  frame: Frame,
  used: { readonly lastUsedAt: number | null; readonly lastUsedAddress?: string | null },
): Fact => {
  const texts = frame.texts.facts
  if (used.lastUsedAt === null) return [texts.lastUsed, texts.neverUsed]
  const { lastUsedAddress: address = null } = used
  const from = address === null ? '' : html` <bdi>${texts.from(address)}</bdi>`
  return [texts.lastUsed, html`${time(frame, used.lastUsedAt)}${from}`]
}

/** A word about the state of a thing, next to its name. */
export const badge = (text: string, kind: 'plain' | 'good' | 'bad' = 'plain'): Html =>
  html`<span class="badge ${kind}">${text}</span>`

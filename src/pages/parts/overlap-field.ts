import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { type Control, described, hintOf, invalid, problemOf } from './forms.ts'
import { durationText } from './times.ts'

/** The durations for which a former secret can remain valid, in seconds: zero, an hour, a day, a week. */
const overlaps = [0, 3_600, 86_400, 604_800]

/** Renders the field in which the user chooses for how long the former secret or value remains valid. */
export const overlapField = (
  { label, ...rest }: Omit<Control, 'name'> & { readonly label: string },
  frame: Frame,
): Html => {
  const control = { ...rest, name: 'overlap' }
  return html`<div class="field">
<label for="overlap">${label}</label>
${hintOf(control)}
<select id="overlap" name="overlap"${described(control)}${invalid(control)}>
${overlaps.map((seconds) => html`<option value="${seconds}">${seconds === 0 ? frame.texts.overlap.none : durationText(frame, seconds)}</option>`)}
</select>
${problemOf(control)}
</div>`
}

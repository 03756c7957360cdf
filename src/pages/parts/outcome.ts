import { addresses } from '../addresses.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { formId } from './forms.ts'
import { alert, done } from './notices.ts'

/** Renders the result of the last form. If the action can be undone, adds a button that undoes it. */
export const outcome = (frame: Frame): Html => {
  const { problem, done: sentence, undo } = frame.outcome
  const sentences = html`${alert(problem?.sentence)}${done(sentence)}`
  if (undo === undefined) return sentences
  const { list } = frame.texts
  return html`<div class="undo">
${sentences}
<form method="post" action="${addresses(frame.links).undo}" data-seconds="10">
${formId(frame)}
<input type="hidden" name="undo" value="${undo}">
<button type="submit" class="quiet" aria-label="${list.undo}: ${sentence ?? ''}" autofocus>${list.undo}</button>
</form>
</div>`
}

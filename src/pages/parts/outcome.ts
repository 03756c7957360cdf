import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { ListOutcome } from '../models/applications.ts'
import { formId } from './forms.ts'
import { alert, done } from './notices.ts'

/** Renders the result of the last action on a list. If `undo` is set, adds a button that undoes the action. */
export const outcome = (view: ListOutcome, frame: Frame): Html => {
  const sentences = html`${alert(view.problem?.sentence)}${done(view.done)}`
  if (!view.undo) return sentences
  const { list } = frame.texts
  return html`<div class="undo">
${sentences}
<form method="post" action="${view.undo.action}" data-seconds="10">
${formId(frame)}
<input type="hidden" name="undo" value="${view.undo.id}">
<button type="submit" class="quiet" aria-label="${list.undo}: ${view.done ?? ''}" autofocus>${list.undo}</button>
</form>
</div>`
}

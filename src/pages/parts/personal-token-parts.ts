import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { PersonalTokenView } from '../models/personal-token.ts'
import { formId, problemsOf } from './forms.ts'
import { overlapField } from './overlap-field.ts'
import { command, copyable } from './secret.ts'

/** Renders the value of the token, which is shown only once. */
export const freshValue = ({ fresh }: PersonalTokenView, frame: Frame): Html => {
  const { token: texts } = frame.texts
  if (!fresh) return html``
  return html`<section class="card fresh" aria-labelledby="fresh">
<h2 id="fresh">${texts.value}</h2>
<p><strong>${texts.once}</strong></p>
<p>${copyable('access-token', fresh.accessToken, frame)}</p>
<p>${texts.curl}</p>
${command('curl', fresh.curl, frame)}
</section>`
}

/** Renders the form that rotates the token's value. */
export const rotateForm = (view: PersonalTokenView, frame: Frame): Html => {
  const { token: texts } = frame.texts
  return html`<details${problemsOf(view.problem, 'overlap').length > 0 ? html` open` : ''}>
<summary>${texts.rotate}</summary>
<form method="post" action="${view.rotateAction}">
${formId(frame)}
<p>${texts.rotateAbout}</p>
${overlapField({ label: texts.overlap, hint: texts.overlapHint, overlaps: view.overlaps, problem: view.problem }, frame)}
<p class="actions"><button type="submit">${texts.rotateSubmit}</button></p>
</form>
</details>`
}

/** Renders the form that deletes the token. */
export const deleteForm = (view: PersonalTokenView, frame: Frame): Html => {
  const { token: texts } = frame.texts
  return html`<details class="danger">
<summary>${texts.delete}</summary>
<form method="post" action="${view.action}">
${formId(frame)}
<input type="hidden" name="delete" value="yes">
<p>${texts.deleteAbout}</p>
<p class="actions"><button type="submit" class="danger">${texts.deleteSubmit}</button></p>
</form>
</details>`
}

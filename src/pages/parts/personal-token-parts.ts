import type { Frame } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import type { PersonalTokenView } from '../models/personal-token.ts'
import { formId, problemsOf } from './forms.ts'
import { overlapField } from './overlap-field.ts'
import { command, copyable } from './secret.ts'
import { time } from './times.ts'

/** Renders the new value of the token, which no later page shows; nothing without a new value. */
export const freshValue = ({ fresh, action }: PersonalTokenView, frame: Frame): Html => {
  const { token: texts } = frame.texts
  if (!fresh) return html``
  return html`<section class="card fresh" aria-labelledby="fresh">
<h2 id="fresh">${texts.value}</h2>
<p><strong>${texts.once}</strong></p>
<p>${copyable('access-token', fresh.accessToken, frame, texts.value)}</p>
<p>${texts.curl}</p>
${command('curl', fresh.curl, frame, 'curl')}
<p class="actions"><a class="button quiet" href="${action}">${frame.texts.frame.kept}</a></p>
</section>`
}

/** Renders the expiry of the former value, with a button that deletes this value; nothing without a former value. */
export const formerValue = (view: PersonalTokenView, frame: Frame): Html => {
  const { token: texts } = frame.texts
  if (view.previousExpires === null) return html``
  return html`<form class="notice caution" method="post" action="${view.action}">
${formId(frame)}
<input type="hidden" name="end_former" value="yes">
<p>${filled(texts.previous, time(frame, view.previousExpires))}</p>
<button type="submit" class="quiet">${texts.endFormer}</button>
</form>`
}

/** Renders the used scopes, with a button that removes the unused scopes; nothing if `usedScopes` is null. */
export const unusedScopes = (view: PersonalTokenView, frame: Frame): Html => {
  const { token: texts } = frame.texts
  const { usedScopes, values } = view
  if (usedScopes === null) return html``
  const scopes = html`${usedScopes.map((scope) => html`<code>${scope}</code> `)}`
  const text = (used: string): string => texts.usesOnly({ used, total: values.scopes.length })
  return html`<form class="notice caution" method="post" action="${view.action}">
${formId(frame)}
<input type="hidden" name="reduce" value="yes">
<p>${filled(text, scopes)}</p>
<p class="hint">${texts.usesOnlyAbout}</p>
<button type="submit" class="quiet">${texts.reduce}</button>
</form>`
}

/** Renders the form that rotates the token's value. */
export const rotateForm = (view: PersonalTokenView, frame: Frame): Html => {
  const { token: texts } = frame.texts
  return html`<details${problemsOf(view.problem, 'overlap').length > 0 ? html` open` : ''}>
<summary>${texts.rotate}</summary>
<form method="post" action="${view.rotateAction}">
${formId(frame)}
<p>${texts.rotateAbout}</p>
${overlapField({ label: texts.overlap, hint: texts.overlapHint, problem: view.problem }, frame)}
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
<input type="hidden" name="back" value="">
<p>${texts.deleteAbout}</p>
<p class="actions"><button type="submit" class="danger">${texts.deleteSubmit}</button></p>
</form>
</details>`
}

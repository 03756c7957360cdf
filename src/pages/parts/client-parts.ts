import type { Frame } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import type { ClientView } from '../models/client.ts'
import { countText, facts } from './facts.ts'
import { formId, problemsOf, textField } from './forms.ts'
import { caution } from './notices.ts'
import { overlapField } from './overlap-field.ts'
import { copyable } from './secret.ts'
import { day, time } from './times.ts'

/** Renders the credentials of the application. */
export const credentials = (view: ClientView, frame: Frame): Html => {
  const { client: texts, facts: words } = frame.texts
  const { clientSecret, secretLeakedAt: leaked, previousSecretExpires: previous } = view
  return html`<section class="card${clientSecret === null ? '' : ' fresh'}" aria-labelledby="credentials">
<h2 id="credentials">${texts.credentials}</h2>
${clientSecret === null ? '' : html`<p><strong>${texts.secretOnce}</strong></p>`}
${facts([
  [words.clientId, copyable('client-id', view.clientId, frame, words.clientId)],
  clientSecret !== null
    ? [words.clientSecret, copyable('client-secret', clientSecret, frame, words.clientSecret)]
    : view.isConfidential
      ? [words.clientSecret, html`<span class="wide">${texts.secretKept}</span>`]
      : undefined,
  [words.type, view.isConfidential ? words.confidential : words.public],
  [
    texts.grants,
    html`<span class="ids">${view.grantTypes.map((type) => html`<code dir="ltr">${type}</code>`)}</span>`,
  ],
  [words.users, countText(frame, view.users)],
  [words.created, day(frame, view.createdAt)],
])}
${leaked === null ? '' : caution(filled(texts.secretLeaked, time(frame, leaked)))}
${previous === null ? '' : caution(filled(texts.previousSecret, time(frame, previous)))}
${clientSecret === null ? '' : html`<p class="actions"><a class="button quiet" href="${view.action}">${frame.texts.frame.kept}</a></p>`}
</section>`
}

/** Renders the form that creates a new secret. */
export const resetForm = (view: ClientView, frame: Frame): Html => {
  const { client: texts } = frame.texts
  return html`<details${problemsOf(view.problem, 'overlap').length > 0 ? html` open` : ''}>
<summary>${texts.reset}</summary>
<form method="post" action="${view.resetAction}">
${formId(frame)}
<p>${texts.resetAbout}</p>
${overlapField({ label: texts.overlap, hint: texts.overlapHint, overlaps: view.overlaps, problem: view.problem }, frame)}
<p class="actions"><button type="submit">${texts.resetSubmit}</button></p>
</form>
</details>`
}

/** Renders the form that deletes the client. To confirm the deletion, the owner types the name of the client. */
export const deleteForm = (view: ClientView, frame: Frame): Html => {
  const { client: texts } = frame.texts
  return html`<details class="danger"${problemsOf(view.problem, 'confirm_name').length > 0 ? html` open` : ''}>
<summary>${texts.delete}</summary>
<form method="post" action="${view.action}">
${formId(frame)}
<input type="hidden" name="delete" value="yes">
<p>${texts.deleteAbout}</p>
${textField({
  name: 'confirm_name',
  label: filled(texts.confirmName, html`<strong><bdi>${view.name}</bdi></strong>`),
  value: '',
  attributes: html` required autocomplete="off"`,
  problem: view.problem,
})}
<p class="actions"><button type="submit" class="danger">${texts.deleteSubmit}</button></p>
</form>
</details>`
}

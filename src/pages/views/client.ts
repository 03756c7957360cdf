import type { Scope } from '../../model/scope.ts'
import { addresses } from '../addresses.ts'
import {
  type ClientValues,
  clientFields,
  clientForm,
  type NewClientValues,
  newClientFields,
  newClientForm,
} from '../forms/client.ts'
import type { Frame, PageTemplate } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { type DeveloperDesk, endpoints, refusals, tryIt } from '../parts/developer-desk.ts'
import { type EditState, editFields, editNotice, saveButton } from '../parts/edit-form.ts'
import { badge, countText, facts as factList } from '../parts/facts.ts'
import { formId, problemsOf, textField } from '../parts/forms.ts'
import { logo } from '../parts/logo.ts'
import { back } from '../parts/navigation.ts'
import { caution, done, formAlert } from '../parts/notices.ts'
import { overlapField } from '../parts/overlap-field.ts'
import { copyable } from '../parts/secret.ts'
import { day, time } from '../parts/times.ts'
import type { client, clientChoices } from '../shapes/clients.ts'
import type { Json } from '../shapes/shape.ts'

/** The values of a form that only its page shows. */
interface ShownForm<Values> {
  readonly values: Values
  /** The scopes that the user can choose, without internal scopes. */
  readonly choices: readonly Scope[]
  /** Whether the form contains the fields for the logout of OpenID Connect. */
  readonly hasLogout: boolean
}

/** The view of the page on which a user registers a client. */
export interface NewClientView extends Json<typeof clientChoices>, ShownForm<NewClientValues> {}

/** The view of the page on which an owner sees, changes and deletes a client. */
export interface ClientView extends Json<typeof client>, ShownForm<ClientValues>, DeveloperDesk {
  /** The URL of the stored logo of a verified client; null without one. */
  readonly logo: string | null
  /** The grants that the client may use. */
  readonly grantTypes: readonly string[]
  readonly edit: EditState<ClientValues>
}

/** The page on which a user registers a client. */
export const newClientPage: PageTemplate<NewClientView> = (view, frame) => {
  const { client: texts, frame: common } = frame.texts
  const to = addresses(frame.links)
  return layout(
    frame,
    texts.newTitle,
    html`${back(to.clients, 'clients', frame)}
<h1>${texts.newTitle}</h1>
<p class="about">${texts.newAbout}</p>
${formAlert(frame.outcome.problem, newClientForm.labels(frame), frame)}
<form class="card" method="post" action="${to.newClient}">
${formId(frame)}
${newClientFields(view, frame)}
<p class="actions">
<button type="submit">${texts.create}</button>
<a class="button quiet" href="${to.clients}">${common.cancel}</a>
</p>
</form>`,
    { place: { entry: 'clients', isBelow: true } },
  )
}

/** The page on which an owner sees, changes and deletes a client. */
export const clientPage: PageTemplate<ClientView> = (view, frame) => {
  const { client: texts, facts } = frame.texts
  const { outcome } = frame
  const to = addresses(frame.links)
  const labels = { ...clientForm.labels(frame), confirm_name: texts.delete, overlap: texts.reset }
  const versions = { typed: view.values, fields: clientForm.edited(frame), lossTexts: texts.losses }
  return layout(
    frame,
    view.name,
    html`${view.clientSecret === null ? back(to.clients, 'clients', frame) : ''}
<div class="name">
<h1>${logo(view.logo)}<bdi>${view.name}</bdi></h1>
${view.is_verified ? badge(facts.verified, 'good') : ''}
${view.is_disabled ? badge(facts.disabled, 'bad') : ''}
</div>
${done(outcome.done)}
${formAlert(outcome.problem, labels, frame)}
${editNotice(view.edit, versions, frame)}
${view.is_disabled ? caution(texts.disabledAbout) : ''}
${credentials(view, frame)}
${tryIt(view, frame)}
${endpoints(view, frame)}
${refusals(view.refusals, frame)}
<h2>${texts.settings}</h2>
<form class="card" method="post" action="${to.client(view.client_id)}">
${editFields(view.edit, frame)}
${clientFields(view, frame)}
<p class="actions">${saveButton(view.edit, frame)}</p>
</form>
${view.is_confidential ? resetForm(view, frame) : ''}
${deleteForm(view, frame)}`,
    { place: { entry: 'clients', isBelow: true } },
  )
}

/** Renders the credentials of the application. */
const credentials = (view: ClientView, frame: Frame): Html => {
  const { client: texts, facts: words } = frame.texts
  const { clientSecret, is_confidential: isConfidential } = view
  const leaked = isConfidential ? view.client_secret_leaked_at : null
  const previous = view.previous_client_secret_expires
  const isPreviousValid = previous !== null && Date.parse(previous) > frame.now
  return html`<section class="card${clientSecret === null ? '' : ' fresh'}" aria-labelledby="credentials">
<h2 id="credentials">${texts.credentials}</h2>
${clientSecret === null ? '' : html`<p><strong>${texts.secretOnce}</strong></p>`}
${factList([
  [words.clientId, copyable('client-id', view.client_id, frame, words.clientId)],
  clientSecret !== null
    ? [words.clientSecret, copyable('client-secret', clientSecret, frame, words.clientSecret)]
    : isConfidential
      ? [words.clientSecret, html`<span class="wide">${texts.secretKept}</span>`]
      : undefined,
  [words.type, isConfidential ? words.confidential : words.public],
  [
    texts.grants,
    html`<span class="ids">${view.grantTypes.map((type) => html`<code dir="ltr">${type}</code>`)}</span>`,
  ],
  [words.users, countText(frame, view.users)],
  [words.created, day(frame, view.created_at)],
])}
${leaked === null ? '' : caution(filled(texts.secretLeaked, time(frame, leaked)))}
${isPreviousValid ? caution(filled(texts.previousSecret, time(frame, previous))) : ''}
${clientSecret === null ? '' : html`<p class="actions"><a class="button quiet" href="${addresses(frame.links).client(view.client_id)}">${frame.texts.frame.kept}</a></p>`}
</section>`
}

/** Renders the form that creates a new secret. */
const resetForm = (view: ClientView, frame: Frame): Html => {
  const { client: texts } = frame.texts
  const { problem } = frame.outcome
  return html`<details${problemsOf(problem, 'overlap').length > 0 ? html` open` : ''}>
<summary>${texts.reset}</summary>
<form method="post" action="${addresses(frame.links).reset(view.client_id)}">
${formId(frame)}
<p>${texts.resetAbout}</p>
${overlapField({ label: texts.overlap, hint: texts.overlapHint, problem }, frame)}
<p class="actions"><button type="submit">${texts.resetSubmit}</button></p>
</form>
</details>`
}

/** Renders the form that deletes the client. To confirm the deletion, the owner types the name of the client. */
const deleteForm = (view: ClientView, frame: Frame): Html => {
  const { client: texts } = frame.texts
  const { problem } = frame.outcome
  return html`<details class="danger"${problemsOf(problem, 'confirm_name').length > 0 ? html` open` : ''}>
<summary>${texts.delete}</summary>
<form method="post" action="${addresses(frame.links).client(view.client_id)}">
${formId(frame)}
<input type="hidden" name="delete" value="yes">
<p>${texts.deleteAbout}</p>
${textField({
  name: 'confirm_name',
  label: filled(texts.confirmName, html`<strong><bdi>${view.name}</bdi></strong>`),
  value: '',
  attributes: html` required autocomplete="off"`,
  problem,
})}
<p class="actions"><button type="submit" class="danger">${texts.deleteSubmit}</button></p>
</form>
</details>`
}

import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import type { ClientView, NewClientView } from '../models/client.ts'
import { clientFields, clientLabels, editedFields } from '../parts/client-fields.ts'
import { credentials, deleteForm, resetForm } from '../parts/client-parts.ts'
import { endpoints, refusals, tryIt } from '../parts/developer-desk.ts'
import { editFields, editNotice, saveButton } from '../parts/edit-form.ts'
import { badge } from '../parts/facts.ts'
import { formId } from '../parts/forms.ts'
import { logo } from '../parts/logo.ts'
import { back } from '../parts/navigation.ts'
import { caution, done, formAlert } from '../parts/notices.ts'

/** The page on which a user registers a client. */
export const newClientPage: PageTemplate<NewClientView> = (view, frame) => {
  const { client: texts, frame: common } = frame.texts
  return layout(
    frame,
    texts.newTitle,
    html`${back(view.back, 'clients', frame)}
<h1>${texts.newTitle}</h1>
<p class="about">${texts.newAbout}</p>
${formAlert(view.problem, clientLabels(frame), frame)}
<form class="card" method="post" action="${view.action}">
${formId(frame)}
${clientFields(view, frame)}
<p class="actions">
<button type="submit">${texts.create}</button>
<a class="button quiet" href="${view.back}">${common.cancel}</a>
</p>
</form>`,
    { place: { entry: 'clients', isBelow: true } },
  )
}

/** The page on which an owner sees, changes and deletes a client. */
export const clientPage: PageTemplate<ClientView> = (view, frame) => {
  const { client: texts, facts } = frame.texts
  return layout(
    frame,
    view.name,
    html`${view.clientSecret === null ? back(view.back, 'clients', frame) : ''}
<div class="name">
<h1>${logo(view.logo)}<bdi>${view.name}</bdi></h1>
${view.isVerified ? badge(facts.verified, 'good') : ''}
${view.isDisabled ? badge(facts.disabled, 'bad') : ''}
</div>
${done(view.done)}
${formAlert(view.problem, { ...clientLabels(frame), confirm_name: texts.delete, overlap: texts.reset }, frame)}
${editNotice(view.edit, { typed: view.values, fields: editedFields(frame), lossTexts: texts.losses }, frame)}
${view.isDisabled ? caution(texts.disabledAbout) : ''}
${credentials(view, frame)}
${tryIt(view, frame)}
${endpoints(view, frame)}
${refusals(view.refusals, frame)}
<h2>${texts.settings}</h2>
<form class="card" method="post" action="${view.action}">
${editFields(view.edit, frame)}
${clientFields(view, frame)}
<p class="actions">${saveButton(view.edit, frame)}</p>
</form>
${view.isConfidential ? resetForm(view, frame) : ''}
${deleteForm(view, frame)}`,
    { place: { entry: 'clients', isBelow: true } },
  )
}

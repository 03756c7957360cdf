import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import type { NewPersonalTokenView, PersonalTokenView } from '../models/personal-token.ts'
import { editFields, editNotice, saveButton } from '../parts/edit-form.ts'
import { facts, lastUsed } from '../parts/facts.ts'
import { formId } from '../parts/forms.ts'
import { back } from '../parts/navigation.ts'
import { caution, done, formAlert } from '../parts/notices.ts'
import {
  editedFields,
  expiryField,
  nameField,
  scopesField,
  tokenLabels,
} from '../parts/personal-token-fields.ts'
import {
  deleteForm,
  formerValue,
  freshValue,
  rotateForm,
  unusedScopes,
} from '../parts/personal-token-parts.ts'
import { day, time } from '../parts/times.ts'
import { expiryBadge } from '../parts/token-row.ts'

/** The page on which a user creates a personal token. */
export const newPersonalTokenPage: PageTemplate<NewPersonalTokenView> = (view, frame) => {
  const { frame: common, token: texts } = frame.texts
  return layout(
    frame,
    texts.newTitle,
    html`${back(view.back, 'tokens', frame)}
<h1>${texts.newTitle}</h1>
<p class="about">${texts.newAbout}</p>
${view.isPrefilled ? caution(texts.prefilled) : ''}
${formAlert(view.problem, tokenLabels(frame), frame)}
<form class="card" method="post" action="${view.action}">
${formId(frame)}
${nameField(view, frame)}
${expiryField(view, view.choices, { canKeep: false, frame })}
${scopesField(view, frame)}
<p class="actions">
<button type="submit">${texts.create}</button>
<a class="button quiet" href="${view.back}">${common.cancel}</a>
</p>
</form>`,
    { place: { entry: 'tokens', isBelow: true } },
  )
}

/** The page on which a user sees, changes and deletes a personal token. */
export const personalTokenPage: PageTemplate<PersonalTokenView> = (view, frame) => {
  const { facts: words, token: texts } = frame.texts
  return layout(
    frame,
    view.name,
    html`${view.fresh ? '' : back(view.back, 'tokens', frame)}
<div class="name">
<h1><bdi>${view.name}</bdi></h1>
<code class="end" title="${words.endsWith(view.lastFour)}" dir="ltr">…${view.lastFour}</code>
${expiryBadge(view.expires, frame)}
</div>
${done(view.done)}
${formAlert(view.problem, tokenLabels(frame), frame)}
${editNotice(view.edit, { typed: view.typed, fields: editedFields(frame), lossTexts: {} }, frame)}
${view.isExpired ? caution(texts.expiredAbout) : ''}
${freshValue(view, frame)}
<div class="card">
${facts([
  lastUsed(frame, view),
  [words.expires, view.expires === null ? words.never : time(frame, view.expires)],
  [words.created, day(frame, view.createdAt)],
])}
${formerValue(view, frame)}
${unusedScopes(view, frame)}
</div>
<h2>${texts.settings}</h2>
<form class="card" method="post" action="${view.action}">
${editFields(view.edit, frame)}
${nameField(view, frame)}
${view.choices === null ? '' : expiryField(view, view.choices, { canKeep: true, frame })}
${scopesField(view, frame)}
<p class="actions">${saveButton(view.edit, frame)}</p>
</form>
${rotateForm(view, frame)}
${deleteForm(view, frame)}`,
    { place: { entry: 'tokens', isBelow: true } },
  )
}

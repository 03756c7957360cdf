import type { Scope } from '../../model/scope.ts'
import { addresses } from '../addresses.ts'
import {
  type EditedToken,
  type ExpiryChoices,
  editedFields,
  expiryField,
  type TokenValues,
  tokenFields,
  tokenLabels,
} from '../forms/personal-token.ts'
import type { Frame, PageTemplate } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { type EditState, editFields, editNotice, saveButton } from '../parts/edit-form.ts'
import { facts, lastUsed } from '../parts/facts.ts'
import { formId, problemsOf } from '../parts/forms.ts'
import { back } from '../parts/navigation.ts'
import { caution, done, formAlert } from '../parts/notices.ts'
import { overlapField } from '../parts/overlap-field.ts'
import { command, copyable } from '../parts/secret.ts'
import { day, time } from '../parts/times.ts'
import { expiryBadge } from '../parts/token-row.ts'
import type { personalToken, personalTokenChoices } from '../shapes/personal-tokens.ts'
import type { Json } from '../shapes/shape.ts'

/** The values of a form that only its page shows. */
interface ShownForm {
  readonly values: TokenValues
  /** The scopes that the user can choose, without internal scopes. */
  readonly choices: readonly Scope[]
  readonly expiryChoices: ExpiryChoices
}

/** The view of the page on which a user creates a personal token. */
export interface NewPersonalTokenView extends Json<typeof personalTokenChoices>, ShownForm {
  /** Whether the query of the URL filled in the form. */
  readonly isPrefilled: boolean
}

/** The view of the page on which a user sees, changes and deletes a personal token. */
export interface PersonalTokenView extends Json<typeof personalToken>, ShownForm {
  readonly edit: EditState<EditedToken>
  /** After a conflict with a change in another tab, the values that the user submitted; otherwise the stored values. */
  readonly typed: EditedToken
  /** The new value, and a `curl` command with this value. The server shows them once; null afterwards. */
  readonly fresh: { readonly accessToken: string; readonly curl: string } | null
}

/** The page on which a user creates a personal token. */
export const newPersonalTokenPage: PageTemplate<NewPersonalTokenView> = (view, frame) => {
  const { frame: common, token: texts } = frame.texts
  const to = addresses(frame.links)
  const expiry = expiryField(view.values, view.expiryChoices, { canKeep: false, frame })
  return layout(
    frame,
    texts.newTitle,
    html`${back(to.tokens, 'tokens', frame)}
<h1>${texts.newTitle}</h1>
<p class="about">${texts.newAbout}</p>
${view.isPrefilled ? caution(texts.prefilled) : ''}
${formAlert(frame.outcome.problem, tokenLabels(frame), frame)}
<form class="card" method="post" action="${to.newToken}">
${formId(frame)}
${tokenFields(view, expiry, frame)}
<p class="actions">
<button type="submit">${texts.create}</button>
<a class="button quiet" href="${to.tokens}">${common.cancel}</a>
</p>
</form>`,
    { place: { entry: 'tokens', isBelow: true } },
  )
}

/** The page on which a user sees, changes and deletes a personal token. */
export const personalTokenPage: PageTemplate<PersonalTokenView> = (view, frame) => {
  const { facts: words, token: texts } = frame.texts
  const { outcome } = frame
  const { id, last_four: ending, expires } = view
  const to = addresses(frame.links)
  const isExpired = expires !== null && Date.parse(expires) <= frame.now
  // The expiry of an expired token cannot be changed.
  const expiry = isExpired
    ? ''
    : expiryField(view.values, view.expiryChoices, { canKeep: true, frame })
  return layout(
    frame,
    view.name,
    html`${view.fresh ? '' : back(to.tokens, 'tokens', frame)}
<div class="name">
<h1><bdi>${view.name}</bdi></h1>
<code class="end" title="${words.endsWith(ending)}" dir="ltr">…${ending}</code>
${expiryBadge(expires, frame)}
</div>
${done(outcome.done)}
${formAlert(frame.outcome.problem, tokenLabels(frame), frame)}
${editNotice(view.edit, { typed: view.typed, fields: editedFields(frame), lossTexts: {} }, frame)}
${isExpired ? caution(texts.expiredAbout) : ''}
${freshValue(view, frame)}
<div class="card">
${facts([
  lastUsed(frame, view),
  [words.expires, expires === null ? words.never : time(frame, expires)],
  [words.created, day(frame, view.created_at)],
])}
${formerValue(view, frame)}
${unusedScopes(view, frame)}
</div>
<h2>${texts.settings}</h2>
<form class="card" method="post" action="${to.token(id)}">
${editFields(view.edit, frame)}
${tokenFields(view, expiry, frame)}
<p class="actions">${saveButton(view.edit, frame)}</p>
</form>
${rotateForm(view, frame)}
${deleteForm(view, frame)}`,
    { place: { entry: 'tokens', isBelow: true } },
  )
}

/** Renders the new value of the token, which no later page shows; nothing without a new value. */
const freshValue = ({ id, fresh }: PersonalTokenView, frame: Frame): Html => {
  const { token: texts } = frame.texts
  if (!fresh) return html``
  return html`<section class="card fresh" aria-labelledby="fresh">
<h2 id="fresh">${texts.value}</h2>
<p><strong>${texts.once}</strong></p>
<p>${copyable('access-token', fresh.accessToken, frame, texts.value)}</p>
<p>${texts.curl}</p>
${command('curl', fresh.curl, frame, 'curl')}
<p class="actions"><a class="button quiet" href="${addresses(frame.links).token(id)}">${frame.texts.frame.kept}</a></p>
</section>`
}

/** Renders the expiry of the former value, with a button that deletes this value; nothing without a former value. */
const formerValue = (view: PersonalTokenView, frame: Frame): Html => {
  const { token: texts } = frame.texts
  const { previous_expires: expires } = view
  if (expires === null || Date.parse(expires) <= frame.now) return html``
  return html`<form class="notice caution" method="post" action="${addresses(frame.links).token(view.id)}">
${formId(frame)}
<input type="hidden" name="end_former" value="yes">
<p>${filled(texts.previous, time(frame, expires))}</p>
<button type="submit" class="quiet">${texts.endFormer}</button>
</form>`
}

/** Renders the used scopes, with a button that removes the unused scopes; nothing if no scope is unused. */
const unusedScopes = (view: PersonalTokenView, frame: Frame): Html => {
  const { token: texts } = frame.texts
  const { used_scopes: used, scopes } = view
  // If no use of a scope is recorded, the application may check scopes without the guards.
  if (used.length === 0 || used.length === scopes.length) return html``
  const ids = html`${used.map((scope) => html`<code>${scope}</code> `)}`
  const text = (used: string): string => texts.usesOnly({ used, total: scopes.length })
  return html`<form class="notice caution" method="post" action="${addresses(frame.links).token(view.id)}">
${formId(frame)}
<input type="hidden" name="reduce" value="yes">
<p>${filled(text, ids)}</p>
<p class="hint">${texts.usesOnlyAbout}</p>
<button type="submit" class="quiet">${texts.reduce}</button>
</form>`
}

/** Renders the form that rotates the token's value. */
const rotateForm = (view: PersonalTokenView, frame: Frame): Html => {
  const { token: texts } = frame.texts
  return html`<details${problemsOf(frame.outcome.problem, 'overlap').length > 0 ? html` open` : ''}>
<summary>${texts.rotate}</summary>
<form method="post" action="${addresses(frame.links).rotate(view.id)}">
${formId(frame)}
<p>${texts.rotateAbout}</p>
${overlapField({ label: texts.overlap, hint: texts.overlapHint, problem: frame.outcome.problem }, frame)}
<p class="actions"><button type="submit">${texts.rotateSubmit}</button></p>
</form>
</details>`
}

/** Renders the form that deletes the token. */
const deleteForm = (view: PersonalTokenView, frame: Frame): Html => {
  const { token: texts } = frame.texts
  return html`<details class="danger">
<summary>${texts.delete}</summary>
<form method="post" action="${addresses(frame.links).token(view.id)}">
${formId(frame)}
<input type="hidden" name="delete" value="yes">
<input type="hidden" name="back" value="">
<p>${texts.deleteAbout}</p>
<p class="actions"><button type="submit" class="danger">${texts.deleteSubmit}</button></p>
</form>
</details>`
}

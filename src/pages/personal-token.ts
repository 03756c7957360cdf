import type { Scope } from '../model/scope.ts'
import { back } from './back.ts'
import { badge, facts, lastUsed } from './facts.ts'
import { filled } from './filled.ts'
import type { FormProblem } from './form-problem.ts'
import { formId } from './forms.ts'
import type { Page } from './frame.ts'
import { html } from './html.ts'
import { layout } from './layout.ts'
import { caution, done, formAlert } from './notices.ts'
import { expiresField, nameField, scopesField, tokenLabels } from './personal-token-fields.ts'
import { deleteForm, freshValue, rotateForm } from './personal-token-parts.ts'
import { day, time } from './times.ts'

/** The fields of a personal token's form, as they were typed or are stored. */
export interface PersonalTokenFormValues {
  readonly name: string
  readonly scopes: readonly string[]
  /** A day as `2027-01-31`; empty: never. New tokens only. */
  readonly expires: string
}

/** The form of a personal token that is not there yet. */
export interface NewPersonalTokenView {
  readonly action: string
  readonly back: string
  readonly values: PersonalTokenFormValues
  readonly scopes: readonly Scope[]
  /** Days for the `min` and `max` of the date field. */
  readonly firstDay: string
  /** Null: never is allowed, and there is no latest day. Otherwise a day has to be chosen. */
  readonly lastDay: string | null
  readonly problem: FormProblem | undefined
}

/** A personal token as its user sees it. */
export interface PersonalTokenView {
  /** Takes `name` and `scopes`, or `delete=yes`. */
  readonly action: string
  readonly back: string
  /** Takes `overlap` in seconds: so long the old value stays valid. */
  readonly rotateAction: string
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly expires: number | null
  readonly isExpired: boolean
  readonly lastUsedAt: number | null
  readonly lastUsedAddress: string | null
  /** Until when the former value is valid; null: there is none. */
  readonly previousExpires: number | null
  readonly overlaps: readonly number[]
  readonly values: Omit<PersonalTokenFormValues, 'expires'>
  readonly scopes: readonly Scope[]
  /** The value with a `curl` command that works as it stands, shown this once; null otherwise. */
  readonly fresh: { readonly accessToken: string; readonly curl: string } | null
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
}

/** The form that creates a personal token. */
export const newPersonalTokenPage: Page<NewPersonalTokenView> = (view, frame) => {
  const { frame: common, token: texts } = frame.texts
  return layout(
    frame,
    texts.newTitle,
    html`${back(view.back, frame)}
<h1>${texts.newTitle}</h1>
<p class="about">${texts.newAbout}</p>
${formAlert(view.problem, tokenLabels(frame))}
<form class="card" method="post" action="${view.action}">
${formId(frame)}
${nameField(view, frame)}
${expiresField(view, frame)}
${scopesField(view, frame)}
<p class="actions">
<button type="submit">${texts.create}</button>
<a class="button quiet" href="${view.back}">${common.cancel}</a>
</p>
</form>`,
    { place: { entry: 'applications', isBelow: true } },
  )
}

/** A personal token, for its user to look at, change and delete. */
export const personalTokenPage: Page<PersonalTokenView> = (view, frame) => {
  const { facts: words, frame: common, token: texts } = frame.texts
  return layout(
    frame,
    view.name,
    html`${back(view.back, frame)}
<div class="name">
<h1><bdi>${view.name}</bdi></h1>
${view.isExpired ? badge(words.expired, 'bad') : ''}
</div>
${done(view.done)}
${formAlert(view.problem, tokenLabels(frame))}
${view.isExpired ? caution(texts.expiredAbout) : ''}
${freshValue(view, frame)}
<div class="card">
${facts([
  lastUsed(frame, view),
  [words.expires, view.expires === null ? words.never : time(frame, view.expires)],
  [words.created, day(frame, view.createdAt)],
])}
${view.previousExpires === null ? '' : caution(filled(texts.previous, time(frame, view.previousExpires)))}
</div>
<h2>${texts.settings}</h2>
<form class="card" method="post" action="${view.action}">
${formId(frame)}
${nameField(view, frame)}
${scopesField(view, frame)}
<p class="actions"><button type="submit">${common.save}</button></p>
</form>
${rotateForm(view, frame)}
${deleteForm(view, frame)}`,
    { place: { entry: 'applications', isBelow: true } },
  )
}

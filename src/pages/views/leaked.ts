import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import type { LeakActName, LeakedItem, LeakedView } from '../models/leaked.ts'
import { ask } from '../parts/ask.ts'
import { eventName } from '../parts/event-name.ts'
import { badge, facts, lastUsed } from '../parts/facts.ts'
import { described, formId, hintOf, invalid, problemOf } from '../parts/forms.ts'
import { done, formAlert } from '../parts/notices.ts'
import { scopeIds } from '../parts/scopes.ts'
import { time } from '../parts/times.ts'

/** The page on which a user looks up and revokes a leaked secret. */
export const leakedPage: PageTemplate<LeakedView> = (view, frame) => {
  const { leaked: texts } = frame.texts
  const { credentials, problem } = view
  const isFirst = credentials.length === 0
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
${isFirst ? html`<p class="about">${view.isAdmin ? texts.aboutAdmin : texts.about}</p>` : ''}
${done(view.done)}
${formAlert(problem, { credential: texts.paste }, frame)}
${credentials.map((item, at) => card(item, at, view, frame))}
${isFirst ? '' : html`<h2>${texts.again}</h2>`}
${lookUpForm(view, isFirst, frame)}`,
    { place: { entry: 'leaked' } },
  )
}

const lookUpForm = ({ action, problem }: LeakedView, isFirst: boolean, frame: Frame): Html => {
  const { leaked: texts } = frame.texts
  const control = { name: 'credential', hint: texts.pasteHint, problem }
  const focus = html`${invalid(control)}${problem === undefined ? html` autofocus` : ''}`
  return html`<form class="card" method="post" action="${action}">
${formId(frame)}
<div class="field">
<label for="credential">${texts.paste}</label>
${hintOf(control)}
<textarea id="credential" name="credential" rows="4" required autocomplete="off" autocapitalize="off" spellcheck="false" dir="ltr"${described(control)}${isFirst ? focus : ''}></textarea>
${problemOf(control)}
</div>
<p class="actions"><button type="submit"${isFirst ? '' : html` class="quiet"`}>${texts.lookUp}</button></p>
</form>`
}

// The server does not record when these values were created or used.
const withoutTimes: readonly LeakedItem['kind'][] = [
  'client_secret',
  'authorization_code',
  'device_code',
  'registration_token',
  'user_link',
]

const card = (item: LeakedItem, at: number, view: LeakedView, frame: Frame): Html => {
  const { leaked: texts, facts: words, admin } = frame.texts
  const { application } = item
  const isMade = !withoutTimes.includes(item.kind)
  const questions = html`<div class="questions">
${item.acts.map((act) => ask({ ...question(act, item, frame), ...formOf(act, at, view) }, frame))}
</div>`
  return html`<section class="card" aria-labelledby="credential-${at}">
<div class="name">
<h2 id="credential-${at}">${texts.kinds[item.kind]} ${item.kind === 'session' ? '' : html`<bdi>${item.name}</bdi>`}</h2>
${item.isValid ? badge(texts.valid, 'bad') : badge(texts.ended, 'good')}
${application?.isDisabled ? badge(words.disabled) : ''}
</div>
${facts([
  [texts.ending, html`<bdi dir="ltr">…${item.ending}</bdi>`],
  [item.kind === 'client_secret' ? admin.owner : admin.user, userName(item, frame)],
  application === null ? undefined : [texts.application, html`<bdi>${application.name}</bdi>`],
  isMade ? lastUsed(frame, item) : undefined,
  item.createdAt === null ? undefined : [words.created, time(frame, item.createdAt)],
  isMade && item.isValid
    ? [words.expires, item.expires === null ? words.never : time(frame, item.expires)]
    : undefined,
  item.isBound ? [texts.bound, texts.boundAbout] : undefined,
  item.kind === 'session' ? undefined : [words.permissions, scopeIds(item.scopes, frame)],
])}
${item.acts.length === 0 ? '' : questions}
${history(item, frame)}
</section>`
}

const userName = ({ user, userHref }: LeakedItem, frame: Frame): Html | string => {
  if (user === null) return frame.texts.facts.nobody
  return userHref === null
    ? html`<bdi>${user}</bdi>`
    : html`<a href="${userHref}"><bdi>${user}</bdi></a>`
}

const formOf = (act: LeakActName, at: number, { action, found }: LeakedView) => ({
  action,
  fields: { found, at: String(at), act },
})

const question = (
  act: LeakActName,
  item: LeakedItem,
  frame: Frame,
): { readonly label: string; readonly about: string } => {
  const { acts } = frame.texts.leaked
  const { isOwn, isOwner, kind } = item
  if (act === 'end') {
    if (kind === 'client_secret') return acts.endSecret
    return kind === 'session' ? acts.endSession : acts.end
  }
  if (act === 'end_application') {
    const isMine = isOwn && !isOwner && !frame.user?.isAdmin
    return isMine ? acts.revokeApplication : acts.endApplication
  }
  if (act === 'end_user') return isOwn ? acts.endMine : acts.endUser
  if (act === 'disable') return acts.disable
  return isOwn ? acts.logOutElsewhere : acts.logOut
}

const history = ({ events }: LeakedItem, frame: Frame): Html =>
  events.length === 0
    ? html``
    : html`<h3>${frame.texts.leaked.history}</h3>
<ul class="events">
${events.map(
  ({ at, event, address }) =>
    html`<li>${eventName(event, frame)} <small>${time(frame, at)}${address ? html` <bdi>${address}</bdi>` : ''}</small></li>`,
)}
</ul>`

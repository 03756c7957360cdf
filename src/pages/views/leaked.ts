import { addresses } from '../addresses.ts'
import type { FormProblem } from '../form-problem.ts'
import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { ask } from '../parts/ask.ts'
import { eventName } from '../parts/event-name.ts'
import { badge, facts, lastUsed } from '../parts/facts.ts'
import { described, formId, hintOf, invalid, problemOf } from '../parts/forms.ts'
import { done, formAlert } from '../parts/notices.ts'
import { scopeIds } from '../parts/scopes.ts'
import { time } from '../parts/times.ts'
import type { leaked } from '../shapes/leaked.ts'
import type { Json } from '../shapes/shape.ts'

/** The view of the page on which a user looks up and revokes leaked credentials. */
export interface LeakedView extends Json<typeof leaked> {
  /** Whether the result of the look-up has expired, so that the user has to paste the text again. */
  readonly isGone: boolean
}

type Credential = LeakedView['credentials'][number]
type Act = Credential['acts'][number]

/** The page on which a user looks up and revokes a leaked secret. */
export const leakedPage: PageTemplate<LeakedView> = (view, frame) => {
  const { leaked: texts } = frame.texts
  const { credentials, isGone } = view
  const problem = isGone ? { sentence: texts.stale } : frame.outcome.problem
  const isFirst = credentials.length === 0
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
${isFirst ? html`<p class="about">${frame.user?.isAdmin ? texts.aboutAdmin : texts.about}</p>` : ''}
${done(frame.outcome.done)}
${formAlert(problem, { credential: texts.paste }, frame)}
${credentials.map((item, at) => card(item, at, view, frame))}
${isFirst ? '' : html`<h2>${texts.again}</h2>`}
${lookUpForm(problem, isFirst, frame)}`,
    { place: { entry: 'leaked' } },
  )
}

const lookUpForm = (problem: FormProblem | undefined, isFirst: boolean, frame: Frame): Html => {
  const { leaked: texts } = frame.texts
  const control = { name: 'credential', hint: texts.pasteHint, problem }
  const focus = html`${invalid(control)}${problem === undefined ? html` autofocus` : ''}`
  return html`<form class="card" method="post" action="${frame.links.leaked}">
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
const withoutTimes: readonly Credential['kind'][] = [
  'client_secret',
  'authorization_code',
  'device_code',
  'registration_token',
  'user_link',
]

const card = (item: Credential, at: number, { found }: LeakedView, frame: Frame): Html => {
  const { leaked: texts, facts: words, admin } = frame.texts
  const { client_name: application } = item
  const isMade = !withoutTimes.includes(item.kind)
  const questions = html`<div class="questions">
${item.acts.map((act) => ask({ ...question(act, item, frame), action: frame.links.leaked, fields: { found: found ?? '', at: String(at), act } }, frame))}
</div>`
  return html`<section class="card" aria-labelledby="credential-${at}">
<div class="name">
<h2 id="credential-${at}">${texts.kinds[item.kind]} ${item.kind === 'session' ? '' : html`<bdi>${item.name}</bdi>`}</h2>
${item.is_valid ? badge(texts.valid, 'bad') : badge(texts.ended, 'good')}
${item.is_disabled ? badge(words.disabled) : ''}
</div>
${facts([
  [texts.ending, html`<bdi dir="ltr">…${item.ending}</bdi>`],
  [item.kind === 'client_secret' ? admin.owner : admin.user, userName(item, frame)],
  application === null ? undefined : [texts.application, html`<bdi>${application}</bdi>`],
  isMade ? lastUsed(frame, item) : undefined,
  item.created_at === null ? undefined : [words.created, time(frame, item.created_at)],
  isMade && item.is_valid
    ? [words.expires, item.expires === null ? words.never : time(frame, item.expires)]
    : undefined,
  item.is_bound ? [texts.bound, texts.boundAbout] : undefined,
  item.kind === 'session' ? undefined : [words.permissions, scopeIds(item.scopes, frame)],
])}
${item.acts.length === 0 ? '' : questions}
${history(item, frame)}
</section>`
}

const userName = ({ user, user_id: id }: Credential, frame: Frame): Html | string => {
  if (id === null) return frame.texts.facts.nobody
  const name = html`<bdi>${user ?? id}</bdi>`
  return frame.user?.isAdmin
    ? html`<a href="${addresses(frame.links).adminUser(id)}">${name}</a>`
    : name
}

const question = (
  act: Act,
  item: Credential,
  frame: Frame,
): { readonly label: string; readonly about: string } => {
  const { acts } = frame.texts.leaked
  const { is_own: isOwn, is_client_owner: isOwner, kind } = item
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

const history = ({ events }: Credential, frame: Frame): Html =>
  events.length === 0
    ? html``
    : html`<h3>${frame.texts.leaked.history}</h3>
<ul class="events">
${events.map((event) => {
  const address = addressOf(event)
  return html`<li>${eventName(event.event, frame)} <small>${time(frame, event.at)}${address === '' ? '' : html` <bdi>${address}</bdi>`}</small></li>`
})}
</ul>`

/** Returns the IP address of an event; empty if somebody other than the affected user caused the event. */
const addressOf = (event: Credential['events'][number]): string => {
  const isByAnother =
    'actor_id' in event && event.actor === 'user' && event.actor_id !== event.user_id
  return isByAnother ? '' : (event.address ?? '')
}

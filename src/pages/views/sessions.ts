import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import type { Listed } from '../models/applications.ts'
import type { EndedSession } from '../models/ended-session.ts'
import { distinctNames } from '../parts/distinct-names.ts'
import { badge, facts } from '../parts/facts.ts'
import type { FormProblem } from '../parts/forms.ts'
import { formId } from '../parts/forms.ts'
import { paging } from '../parts/navigation.ts'
import { alert, done } from '../parts/notices.ts'
import { time } from '../parts/times.ts'

/** A session of the user. Times are milliseconds since the epoch. */
export interface SessionItem {
  /** The value of `session_id` in the form that ends the session. */
  readonly id: string
  readonly isCurrent: boolean
  readonly browser: string | null
  readonly address: string
  readonly createdAt: number
  readonly lastSeenAt: number
}

/** The view of the page with the sessions of a user. */
export interface SessionsView {
  /** The URL of the form that ends one session (`session_id`) or all other sessions (`others=yes`). */
  readonly action: string
  readonly sessions: Listed<SessionItem>
  readonly ended: readonly EndedSession[]
  /** The e-mail address of the user if it is not verified; otherwise null. */
  readonly unverifiedEmail: string | null
  /** The message about the action that the user has just completed; undefined without one. */
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
}

/** The page with the sessions of a user. */
export const sessionsPage: PageTemplate<SessionsView> = (view, frame) => {
  const { sessions: texts } = frame.texts
  const { items, first, next } = view.sessions
  const names = distinctNames(
    items.map(({ browser }) => browser ?? frame.texts.facts.unknownBrowser),
  )
  const isAlone = first === null && next === null && items.every(({ isCurrent }) => isCurrent)
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
<p class="about">${texts.about}</p>
${alert(view.problem?.sentence)}
${done(view.done)}
<ul class="items">
${items.map((session, index) => html`<li>${row(session, names[index] ?? '', view.action, frame)}</li>`)}
</ul>
${paging(view.sessions, texts.title, frame)}
${isAlone ? html`<p class="hint">${texts.alone}</p>` : othersForm(view.action, frame)}
${view.unverifiedEmail === null || frame.links.verifyEmail === null ? '' : verification(view.unverifiedEmail, frame.links.verifyEmail, frame)}
${frame.links.password === null ? '' : html`<p><a class="button quiet" href="${frame.links.password}">${frame.texts.password.title}</a></p>`}
${ended(view.ended, frame)}`,
    { place: { entry: 'sessions' } },
  )
}

const verification = (email: string, action: string, frame: Frame): Html => {
  const { userLinks: texts } = frame.texts
  return html`<form class="line" method="post" action="${action}">
${formId(frame)}
<p>${texts.verify_email.about} <bdi>${email}</bdi></p>
<button type="submit" class="quiet">${texts.request}</button>
</form>`
}

const ended = (sessions: readonly EndedSession[], frame: Frame): Html => {
  const { sessions: texts } = frame.texts
  if (sessions.length === 0) return html``
  return html`<section>
<h2>${texts.ended}</h2>
<ul class="ended">
${sessions.map(({ reason, at, address }) => html`<li>${texts.endedReasons[reason]} <span class="hint">${time(frame, at)}${address === '' ? '' : html` · <bdi>${address}</bdi>`}</span></li>`)}
</ul>
</section>`
}

/** Renders a session. `name` is the name of the session for screen readers. */
const row = (session: SessionItem, name: string, action: string, frame: Frame): Html => {
  const { facts: words, sessions: texts } = frame.texts
  const browser = session.browser ?? words.unknownBrowser
  return html`<div class="name">
<h2><bdi>${browser}</bdi></h2>
${session.isCurrent ? badge(texts.current, 'good') : ''}
<form method="post" action="${action}">
${formId(frame)}
<input type="hidden" name="session_id" value="${session.id}">
<button type="submit" class="quiet danger" aria-label="${texts.endNamed(name)}">${texts.end}</button>
</form>
</div>
${facts([
  [texts.lastSeen, time(frame, session.lastSeenAt)],
  [texts.since, time(frame, session.createdAt)],
  [texts.address, html`<bdi>${session.address}</bdi>`],
])}`
}

const othersForm = (action: string, frame: Frame): Html => {
  const { sessions: texts } = frame.texts
  return html`<form class="line" method="post" action="${action}">
${formId(frame)}
<input type="hidden" name="others" value="yes">
<p>${texts.othersAbout}</p>
<button type="submit" class="danger quiet">${texts.others}</button>
</form>`
}

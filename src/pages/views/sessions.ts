import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { distinctNames } from '../parts/distinct-names.ts'
import { badge, facts } from '../parts/facts.ts'
import { formId } from '../parts/forms.ts'
import { paging } from '../parts/navigation.ts'
import { outcome } from '../parts/outcome.ts'
import { time } from '../parts/times.ts'
import type { sessions } from '../shapes/sessions.ts'
import type { Json } from '../shapes/shape.ts'

/** The view of the page with the sessions of a user. */
export interface SessionsView extends Json<typeof sessions> {
  /** The URL of the first page; null on the first page. */
  readonly first: string | null
  /** The e-mail address of the user if it is not verified; otherwise null. */
  readonly unverifiedEmail: string | null
}

/** The page with the sessions of a user. */
export const sessionsPage: PageTemplate<SessionsView> = (view, frame) => {
  const { sessions: texts } = frame.texts
  const { sessions: items, first, next } = view
  const names = distinctNames(
    items.map(({ browser }) => browser ?? frame.texts.facts.unknownBrowser),
  )
  const isAlone =
    first === null && next === null && items.every(({ is_current: isCurrent }) => isCurrent)
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
<p class="about">${texts.about}</p>
${outcome(frame)}
<ul class="items">
${items.map((session, index) => html`<li>${row(session, names[index] ?? '', frame)}</li>`)}
</ul>
${paging(view, texts.title, frame)}
${isAlone ? html`<p class="hint">${texts.alone}</p>` : othersForm(frame)}
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

const ended = (sessions: SessionsView['ended'], frame: Frame): Html => {
  const { sessions: texts } = frame.texts
  if (sessions.length === 0) return html``
  return html`<section>
<h2>${texts.ended}</h2>
<ul class="ended">
${sessions.map(({ reason, ended_at: at, address }) => html`<li>${texts.endedReasons[reason]} <span class="hint">${time(frame, at)}${address === '' ? '' : html` · <bdi>${address}</bdi>`}</span></li>`)}
</ul>
</section>`
}

/** Renders a session. `name` is the name of the session for screen readers. */
const row = (session: SessionsView['sessions'][number], name: string, frame: Frame): Html => {
  const { facts: words, sessions: texts } = frame.texts
  const browser = session.browser ?? words.unknownBrowser
  return html`<div class="name">
<h2><bdi>${browser}</bdi></h2>
${session.is_current ? badge(texts.current, 'good') : ''}
<form method="post" action="${frame.links.sessions}">
${formId(frame)}
<input type="hidden" name="session_id" value="${session.id}">
<button type="submit" class="quiet danger" aria-label="${texts.endNamed(name)}">${texts.end}</button>
</form>
</div>
${facts([
  [texts.lastSeen, time(frame, session.last_seen_at)],
  [texts.since, time(frame, session.created_at)],
  [texts.address, html`<bdi>${session.address}</bdi>`],
])}`
}

const othersForm = (frame: Frame): Html => {
  const { sessions: texts } = frame.texts
  return html`<form class="line" method="post" action="${frame.links.sessions}">
${formId(frame)}
<input type="hidden" name="others" value="yes">
<p>${texts.othersAbout}</p>
<button type="submit" class="danger quiet">${texts.others}</button>
</form>`
}

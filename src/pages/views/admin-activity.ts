import type { AuditActor } from '../../model/audit-event.ts'
import type { FormProblem } from '../form-problem.ts'
import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import {
  type ChangedField,
  changeList,
  type Exports,
  eventTitle,
  exportLinks,
  periodFields,
  tokenFact,
} from '../parts/activity-row.ts'
import { adminNavigation } from '../parts/admin-navigation.ts'
import { eventName } from '../parts/event-name.ts'
import { type Fact, facts, labelled } from '../parts/facts.ts'
import { formatsOf } from '../parts/formats.ts'
import { formId } from '../parts/forms.ts'
import type { Listed } from '../parts/lists.ts'
import { paging } from '../parts/navigation.ts'
import { factLine } from '../parts/rows.ts'
import { secretNotice } from '../parts/secret-notice.ts'
import { time } from '../parts/times.ts'

/** A user of an event: the e-mail address, or the ID of a user without a known e-mail address. */
export interface NamedUser {
  readonly name: string
  readonly isId: boolean
}

/** An event of the audit log. */
export interface AdminActivityItem {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The name of the event, such as `client.disabled`. */
  readonly event: string
  /** The name of the client or the personal token; may be empty. */
  readonly subject: string
  readonly actor: AuditActor
  /** The user who caused the event; null if the actor is not a user. */
  readonly actorUser: NamedUser | null
  /** The user whom the event is about; null without one. */
  readonly user: NamedUser | null
  readonly clientId: string | null
  readonly tokenId: number | null
  /** The last four characters of the token; null if they are unknown. */
  readonly ending: string | null
  readonly changes: readonly ChangedField[]
  readonly address: string
  readonly browser: string | null
  readonly requestId: string | null
}

/** The number of routine events with the same name, client and grant within the last 24 hours. */
export interface RoutineItem {
  /** `token.issued` or `token.refreshed`. */
  readonly event: string
  /** The grant of the tokens; empty for tokens that the host issued. */
  readonly grantType: string
  readonly clientId: string
  readonly count: number
}

/** The view of the page with the activity of all accounts. */
export interface AdminActivityView {
  /**
   * The URL of the page. A POST with the fields of `search` redirects to a GET with these fields. The GET lists the
   * events that match each field that is not empty.
   */
  readonly action: string
  readonly search: Readonly<
    Record<'event' | 'user' | 'client' | 'token' | 'address' | 'since' | 'until', string>
  >
  readonly exports: Exports
  readonly problem: FormProblem | undefined
  /** The names of all events. */
  readonly names: readonly string[]
  readonly events: Listed<AdminActivityItem>
  /** The clients and grants with the most routine events; empty on later pages of the list. */
  readonly routine: readonly RoutineItem[]
}

/** The page that lists the events of all accounts, the latest event first. */
export const adminActivityPage: PageTemplate<AdminActivityView> = (view, frame) => {
  const { activity, admin: texts } = frame.texts
  const { events } = view
  return layout(
    frame,
    activity.title,
    html`<h1>${activity.title}</h1>
${adminNavigation('activity', frame)}
${secretNotice(frame)}
<p class="about">${texts.activityAbout}</p>
${searchForm(view, frame)}
${
  events.items.length === 0
    ? html`<div class="empty"><p>${texts.noEvents}</p></div>`
    : html`<ul class="items rows">
${events.items.map((item) => html`<li>${row(item, view.action, frame)}</li>`)}
</ul>`
}
${paging(events, activity.title, frame)}
${exportLinks(view.exports, frame)}
${routineSection(view, frame)}`,
    { place: { entry: 'admin', isBelow: true } },
  )
}

const searchForm = ({ action, search, names }: AdminActivityView, frame: Frame): Html => {
  const { admin: texts, facts: words } = frame.texts
  const { event, user, client, token, address } = search
  const isSearched = Object.values(search).some((text) => text !== '')
  return html`<form class="filter" method="post" action="${action}" role="search" aria-label="${texts.search}">
${formId(frame)}
<p><label for="event">${texts.event}</label>
<select id="event" name="event">
<option value="">${texts.allEvents}</option>
${names.map((name) => html`<option value="${name}"${name === event ? html` selected` : ''}>${eventName(name, frame)}</option>`)}
</select></p>
<p><label for="user">${texts.user}</label>
<input id="user" name="user" type="search" value="${user}" placeholder="${texts.userHint}" autocomplete="off"></p>
<p><label for="client">${words.clientId}</label>
<input id="client" name="client" type="search" value="${client}" autocomplete="off"></p>
<p><label for="token">${texts.token}</label>
<input id="token" name="token" type="search" value="${token}" inputmode="numeric" autocomplete="off"></p>
<p><label for="address">${frame.texts.sessions.address}</label>
<input id="address" name="address" type="search" value="${address}" autocomplete="off"></p>
${periodFields(search, frame)}
<p class="actions"><button type="submit" class="quiet">${texts.search}</button>
${isSearched ? html`<a href="${action}">${texts.all}</a>` : ''}</p>
</form>`
}

const routineSection = ({ routine }: AdminActivityView, frame: Frame): Html | string => {
  const { admin: texts, facts: words } = frame.texts
  if (routine.length === 0) return ''
  const { number } = formatsOf(frame.reader.locale)
  const line = ({ event, grantType, clientId, count }: RoutineItem) => html`<li><div class="name">
<h3>${eventName(event, frame)}</h3>
</div>
${facts([
  [texts.routineCount, number.format(count)],
  [words.clientId, html`<code>${clientId}</code>`],
  grantType === '' ? undefined : [texts.grantType, html`<code>${grantType}</code>`],
])}</li>`
  return html`<section class="list" aria-labelledby="routine">
<h2 id="routine">${texts.routine}</h2>
<p class="about">${texts.routineAbout}</p>
<ul class="items">
${routine.map(line)}
</ul>
</section>`
}

const userName = ({ name, isId }: NamedUser, { texts }: Frame): Html =>
  html`${isId ? `${texts.users.id} ` : ''}<bdi>${name}</bdi>`

const row = (item: AdminActivityItem, action: string, frame: Frame): Html => {
  const { activity, admin: texts, error, facts: words, sessions } = frame.texts
  const { actor, actorUser, user, address, browser, changes, clientId, requestId } = item
  const by = actor === 'user' ? actorUser && userName(actorUser, frame) : texts.actors[actor]
  const people: readonly Fact[] = [
    [texts.actor, by ?? ''],
    user === null ? undefined : [texts.user, userName(user, frame)],
    address === '' ? undefined : [sessions.address, html`<bdi>${address}</bdi>`],
  ]
  return html`${eventTitle(item, frame)}
${factLine([labelled(texts.at, time(frame, item.at)), ...people.map((fact) => (fact ? labelled(...fact) : ''))])}
<details>
<summary>${error.details}</summary>
${facts([
  // Repeat these facts, because the line above truncates long values.
  ...people,
  browser === null ? undefined : [activity.browser, html`<bdi>${browser}</bdi>`],
  tokenFact(item, action, frame),
  clientId === null ? undefined : [words.clientId, html`<code>${clientId}</code>`],
  requestId === null ? undefined : [texts.request, html`<code>${requestId}</code>`],
])}
${changes.length === 0 ? '' : html`<h3>${activity.changes}</h3>${changeList(changes, frame)}`}
</details>`
}

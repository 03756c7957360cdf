import { addresses } from '../addresses.ts'
import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { adminNavigation } from '../parts/admin-navigation.ts'
import { ask } from '../parts/ask.ts'
import { badge, type Fact, facts, lastUsed } from '../parts/facts.ts'
import { paging } from '../parts/navigation.ts'
import { outcome } from '../parts/outcome.ts'
import { scopeIds } from '../parts/scopes.ts'
import { day, time } from '../parts/times.ts'
import type { Json } from '../shapes/shape.ts'
import type { userDetails } from '../shapes/users.ts'
import { userBadges, userName } from './admin-users.ts'

type Details = Json<typeof userDetails>

/** The view of the page on which an administrator manages one user. */
export interface AdminUserView extends Details {
  /** The URL of the first page of each list; null on the first page. */
  readonly first: Details['next']
  /** The URL of the page, which names the page of each list. */
  readonly action: string
  /** Whether the administrator who reads the page is this user. */
  readonly isOwn: boolean
  /** Whether this server can deactivate users. */
  readonly canSetActive: boolean
}

/** The page on which an administrator manages one user. */
export const adminUserPage: PageTemplate<AdminUserView> = (view, frame) => {
  const { users: texts, activity } = frame.texts
  const { user } = view
  const name = userName(user)
  const events = `${frame.links.adminActivity}?${new URLSearchParams({ user: String(user.id) })}`
  return layout(
    frame,
    name,
    html`<div class="name">
<h1><bdi>${name}</bdi></h1>
${userBadges(user, frame)}
</div>
${adminNavigation('users', frame, true)}
${outcome(frame)}
<section class="card" aria-labelledby="acts">
<h2 id="acts">${frame.texts.frame.navigation}</h2>
${facts([
  [texts.id, html`<bdi>${user.id}</bdi>`],
  [activity.title, html`<a href="${events}">${texts.allActivity}</a>`],
])}
${limits(view, frame)}
<div class="questions">
${questions(view, frame)}
</div>
</section>
${frame.links.sessions === null ? '' : list(view, 'sessions', texts.sessions, texts.noSessions, (item) => sessionRow(item, frame), frame)}
${list(view, 'personal_tokens', texts.tokens, texts.noTokens, (item) => tokenRow(item, view, frame), frame)}
${list(view, 'clients', texts.clients, texts.noClients, (item) => clientRow(item, frame), frame)}
${list(view, 'authorized', texts.authorized, texts.noAuthorized, (item) => authorizedRow(item, frame), frame)}`,
    { place: { entry: 'admin', isBelow: true } },
  )
}

/** Explains which acts the page does not offer for this user. */
const limits = ({ isOwn, canSetActive }: AdminUserView, frame: Frame): Html => {
  const { users: texts, problems } = frame.texts
  const sentences = [
    ...(isOwn ? [problems.ownAccount] : canSetActive ? [] : [problems.usersElsewhere]),
    ...(frame.links.sessions === null ? [texts.hostSessions] : []),
  ]
  return html`${sentences.map((sentence) => html`<p class="hint">${sentence}</p>`)}`
}

const questions = (view: AdminUserView, frame: Frame): Html => {
  const { users: texts, leaked } = frame.texts
  const { action, isOwn, user, canSetActive } = view
  const act = (name: string, label: string, about: string): Html =>
    ask({ label, about, action, fields: { act: name } }, frame)
  const endTokens = isOwn ? leaked.acts.endMine : leaked.acts.endUser
  const logOut = isOwn ? leaked.acts.logOutElsewhere : leaked.acts.logOut
  const setActive = user.is_active ? texts.deactivate : texts.activate
  const active = user.is_active ? 'deactivate' : 'activate'
  return html`${act('end_tokens', endTokens.label, endTokens.about)}
${frame.links.sessions === null ? '' : act('log_out', logOut.label, logOut.about)}
${!canSetActive || isOwn ? '' : act(active, setActive.label, setActive.about)}`
}

type ListName = keyof Details['next']

const list = <Name extends ListName>(
  view: AdminUserView,
  name: Name,
  title: string,
  none: string,
  row: (item: Details[Name][number]) => Html,
  frame: Frame,
): Html => {
  const id = name === 'personal_tokens' ? 'tokens' : name
  const items: readonly Details[Name][number][] = view[name]
  return html`<section class="list" aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${
  items.length === 0
    ? html`<p class="about">${none}</p>`
    : html`<ul class="items">
${items.map((item) => html`<li>${row(item)}</li>`)}
</ul>`
}
${paging({ first: view.first[name], next: view.next[name] }, title, frame)}
</section>`
}

const sessionRow = (item: Details['sessions'][number], frame: Frame): Html => {
  const { sessions: texts, facts: words } = frame.texts
  return html`<div class="name">
<h3><bdi>${item.browser ?? words.unknownBrowser}</bdi></h3>
</div>
${facts([
  [texts.lastSeen, time(frame, item.last_seen_at)],
  [texts.since, time(frame, item.created_at)],
  [texts.address, html`<bdi>${item.address}</bdi>`],
])}`
}

const tokenRow = (
  item: Details['personal_tokens'][number],
  { action }: AdminUserView,
  frame: Frame,
): Html => {
  const { admin, facts: words, leaked } = frame.texts
  return html`<div class="name">
<h3><bdi>${item.name}</bdi></h3>
</div>
${facts([
  lastUsed(frame, item),
  [words.expires, item.expires === null ? words.never : time(frame, item.expires)],
  [words.created, day(frame, item.created_at)],
  [words.permissions, scopeIds(item.scopes, frame)],
])}
${ask(
  {
    label: admin.deleteNamed(item.name),
    name: admin.deleteNamed(`${item.name} #${item.id}`),
    about: leaked.acts.end.about,
    submit: admin.delete,
    action,
    fields: { act: 'delete_token', token_id: String(item.id) },
  },
  frame,
)}`
}

const clientRow = (client: Details['clients'][number], frame: Frame): Html =>
  applicationRow(client, [frame.texts.facts.created, day(frame, client.created_at)], frame)

const authorizedRow = (application: Details['authorized'][number], frame: Frame): Html => {
  const { granted_at: at } = application
  const since = frame.texts.facts.since
  return applicationRow(application, at === null ? undefined : [since, day(frame, at)], frame)
}

const applicationRow = (
  item: Details['clients' | 'authorized'][number],
  since: Fact,
  frame: Frame,
): Html => {
  const { facts: words } = frame.texts
  return html`<div class="name">
<h3><a href="${addresses(frame.links).adminApplication(item.client_id)}"><bdi>${item.name}</bdi></a></h3>
${item.is_disabled ? badge(words.disabled, 'bad') : ''}
</div>
${facts([since, [words.clientId, html`<code dir="ltr">${item.client_id}</code>`]])}`
}

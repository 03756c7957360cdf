import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import type {
  AdminUserView,
  UserApplicationItem,
  UserSessionItem,
  UserTokenItem,
} from '../models/admin-users.ts'
import { adminNavigation } from '../parts/admin-navigation.ts'
import { ask } from '../parts/ask.ts'
import { badge, facts, lastUsed } from '../parts/facts.ts'
import type { Listed } from '../parts/lists.ts'
import { paging } from '../parts/navigation.ts'
import { alert, done } from '../parts/notices.ts'
import { scopeIds } from '../parts/scopes.ts'
import { day, time } from '../parts/times.ts'
import { userBadges } from './admin-users.ts'

/** The page on which an administrator manages one user. */
export const adminUserPage: PageTemplate<AdminUserView> = (view, frame) => {
  const { users: texts, activity } = frame.texts
  const { user } = view
  return layout(
    frame,
    user.name,
    html`<div class="name">
<h1><bdi>${user.name}</bdi></h1>
${userBadges(user, frame)}
</div>
${adminNavigation('users', frame, true)}
${done(view.done)}
${alert(view.problem?.sentence)}
<section class="card" aria-labelledby="acts">
<h2 id="acts">${frame.texts.frame.navigation}</h2>
${facts([
  [texts.id, html`<bdi>${user.id}</bdi>`],
  [activity.title, html`<a href="${view.activity}">${texts.allActivity}</a>`],
])}
${limits(view, frame)}
<div class="questions">
${questions(view, frame)}
</div>
</section>
${list('sessions', texts.sessions, view.sessions, texts.noSessions, (item) => sessionRow(item, frame), frame)}
${list('tokens', texts.tokens, view.tokens, texts.noTokens, (item) => tokenRow(item, view, frame), frame)}
${list('clients', texts.clients, view.clients, texts.noClients, (item) => applicationRow(item, frame.texts.facts.created, frame), frame)}
${list('authorized', texts.authorized, view.authorized, texts.noAuthorized, (item) => applicationRow(item, frame.texts.facts.since, frame), frame)}`,
    { place: { entry: 'admin', isBelow: true } },
  )
}

/** Explains which acts the page does not offer for this user. */
const limits = ({ isOwn, canSetActive, sessions }: AdminUserView, frame: Frame): Html => {
  const { users: texts, problems } = frame.texts
  const sentences = [
    ...(isOwn ? [problems.ownAccount] : canSetActive ? [] : [problems.usersElsewhere]),
    ...(sessions === null ? [texts.hostSessions] : []),
  ]
  return html`${sentences.map((sentence) => html`<p class="hint">${sentence}</p>`)}`
}

const questions = (view: AdminUserView, frame: Frame): Html => {
  const { users: texts, leaked } = frame.texts
  const { action, isOwn, user, sessions, canSetActive } = view
  const act = (name: string, label: string, about: string): Html =>
    ask({ label, about, action, fields: { act: name } }, frame)
  const endTokens = isOwn ? leaked.acts.endMine : leaked.acts.endUser
  const logOut = isOwn ? leaked.acts.logOutElsewhere : leaked.acts.logOut
  const setActive = user.isActive ? texts.deactivate : texts.activate
  const active = user.isActive ? 'deactivate' : 'activate'
  return html`${act('end_tokens', endTokens.label, endTokens.about)}
${sessions === null ? '' : act('log_out', logOut.label, logOut.about)}
${!canSetActive || isOwn ? '' : act(active, setActive.label, setActive.about)}`
}

const list = <T>(
  id: string,
  title: string,
  listed: Listed<T> | null,
  none: string,
  row: (item: T) => Html,
  frame: Frame,
): Html =>
  listed === null
    ? html``
    : html`<section class="list" aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${
  listed.items.length === 0
    ? html`<p class="about">${none}</p>`
    : html`<ul class="items">
${listed.items.map((item) => html`<li>${row(item)}</li>`)}
</ul>`
}
${paging(listed, title, frame)}
</section>`

const sessionRow = (item: UserSessionItem, frame: Frame): Html => {
  const { sessions: texts, facts: words } = frame.texts
  return html`<div class="name">
<h3><bdi>${item.browser ?? words.unknownBrowser}</bdi></h3>
</div>
${facts([
  [texts.lastSeen, time(frame, item.lastSeenAt)],
  [texts.since, time(frame, item.createdAt)],
  [texts.address, html`<bdi>${item.address}</bdi>`],
])}`
}

const tokenRow = (item: UserTokenItem, { action }: AdminUserView, frame: Frame): Html => {
  const { admin, facts: words, leaked } = frame.texts
  return html`<div class="name">
<h3><bdi>${item.name}</bdi></h3>
</div>
${facts([
  lastUsed(frame, item),
  [words.expires, item.expires === null ? words.never : time(frame, item.expires)],
  [words.created, day(frame, item.createdAt)],
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

const applicationRow = (item: UserApplicationItem, since: string, frame: Frame): Html => {
  const { facts: words } = frame.texts
  return html`<div class="name">
<h3><a href="${item.href}"><bdi>${item.name}</bdi></a></h3>
${item.isDisabled ? badge(words.disabled, 'bad') : ''}
</div>
${facts([
  item.createdAt === null ? undefined : [since, day(frame, item.createdAt)],
  [words.clientId, html`<code dir="ltr">${item.clientId}</code>`],
])}`
}

import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import type { AdminUsersView, UserItem } from '../models/admin-users.ts'
import { adminNavigation } from '../parts/admin-navigation.ts'
import { badge } from '../parts/facts.ts'
import { formId } from '../parts/forms.ts'
import { paging } from '../parts/navigation.ts'
import { secretNotice } from '../parts/secret-notice.ts'

/** The page on which an administrator finds users. */
export const adminUsersPage: PageTemplate<AdminUsersView> = (view, frame) => {
  const { users: texts } = frame.texts
  const { users, isSearchable, search } = view
  const isAsked = isSearchable || search !== ''
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
${adminNavigation('users', frame)}
${secretNotice(view.problem, frame)}
${isSearchable ? '' : html`<p class="about">${texts.notSearchable}</p>`}
${searchForm(view, frame)}
${
  users.items.length > 0
    ? html`<ul class="items">
${users.items.map((user) => html`<li>${row(user, frame)}</li>`)}
</ul>`
    : isAsked
      ? html`<div class="empty"><p>${texts.none}</p></div>`
      : ''
}
${paging(users, texts.title, frame)}`,
    { place: { entry: 'admin', isBelow: true } },
  )
}

const searchForm = ({ action, search, isSearchable }: AdminUsersView, frame: Frame): Html => {
  const { admin, users: texts } = frame.texts
  return html`<form class="search" method="post" action="${action}" role="search" aria-label="${texts.search}">
${formId(frame)}
<label for="user">${texts.search}</label>
<input id="user" name="user" type="search" value="${search}" placeholder="${isSearchable ? texts.hint : texts.exactHint}" autocomplete="off">
<button type="submit" class="quiet">${admin.search}</button>
${search === '' ? '' : html`<a href="${action}">${admin.all}</a>`}
</form>`
}

const row = (user: UserItem, frame: Frame): Html => html`<div class="name">
<h2><a href="${user.href}"><bdi>${user.name}</bdi></a></h2>
${userBadges(user, frame)}
<small class="hint">${frame.texts.users.id} <bdi>${user.id}</bdi></small>
</div>`

/** Renders the state of a user. */
export const userBadges = (user: UserItem, { texts: { users: texts } }: Frame): Html =>
  html`${user.isAdmin ? badge(texts.administrator) : ''}
${user.isActive ? '' : badge(texts.inactive, 'bad')}
${user.isVerified ? '' : badge(texts.unverified)}`

import { shownEmail } from '../../model/email-address.ts'
import { addresses } from '../addresses.ts'
import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { adminNavigation } from '../parts/admin-navigation.ts'
import { badge } from '../parts/facts.ts'
import { formId } from '../parts/forms.ts'
import { paging } from '../parts/navigation.ts'
import { secretNotice } from '../parts/secret-notice.ts'
import type { Json } from '../shapes/shape.ts'
import type { user as userShape, users as usersShape } from '../shapes/users.ts'

type User = Json<typeof userShape>

/** The view of the page on which an administrator finds users. */
export interface AdminUsersView extends Json<typeof usersShape> {
  /** The URL of the first page; null on the first page. */
  readonly first: string | null
  /** The text of the search field. */
  readonly search: string
}

/** The page on which an administrator finds users. */
export const adminUsersPage: PageTemplate<AdminUsersView> = (view, frame) => {
  const { users: texts } = frame.texts
  const { users, is_searchable: isSearchable, search } = view
  const isAsked = isSearchable || search !== ''
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
${adminNavigation('users', frame)}
${secretNotice(frame)}
${isSearchable ? '' : html`<p class="about">${texts.notSearchable}</p>`}
${searchForm(view, frame)}
${
  users.length > 0
    ? html`<ul class="items">
${users.map((user) => html`<li>${row(user, frame)}</li>`)}
</ul>`
    : isAsked
      ? html`<div class="empty"><p>${texts.none}</p></div>`
      : ''
}
${paging(view, texts.title, frame)}`,
    { place: { entry: 'admin', isBelow: true } },
  )
}

const searchForm = (
  { search, is_searchable: isSearchable }: AdminUsersView,
  frame: Frame,
): Html => {
  const { admin, users: texts } = frame.texts
  const { adminUsers: action } = frame.links
  return html`<form class="search" method="post" action="${action}" role="search" aria-label="${texts.search}">
${formId(frame)}
<label for="user">${texts.search}</label>
<input id="user" name="user" type="search" value="${search}" placeholder="${isSearchable ? texts.hint : texts.exactHint}" autocomplete="off">
<button type="submit" class="quiet">${admin.search}</button>
${search === '' ? '' : html`<a href="${action}">${admin.all}</a>`}
</form>`
}

const row = (user: User, frame: Frame): Html => html`<div class="name">
<h2><a href="${addresses(frame.links).adminUser(user.id)}"><bdi>${userName(user)}</bdi></a></h2>
${userBadges(user, frame)}
<small class="hint">${frame.texts.users.id} <bdi>${user.id}</bdi></small>
</div>`

/** Returns the e-mail address of a user, or the ID of a user without an e-mail address. */
export const userName = ({ id, email }: User): string => shownEmail(email ?? '') || String(id)

/** Renders the state of a user. */
export const userBadges = (user: User, { texts: { users: texts } }: Frame): Html =>
  html`${user.is_admin ? badge(texts.administrator) : ''}
${user.is_active ? '' : badge(texts.inactive, 'bad')}
${user.email_verified ? '' : badge(texts.unverified)}`

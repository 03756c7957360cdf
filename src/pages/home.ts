import { html } from 'hono/html'
import { type Html, layout, type PageBase } from './layout.ts'
import { messages } from './messages.ts'

export interface HomeView {
  readonly base: PageBase
  /** The e-mail address of who is logged in; undefined where nobody is. */
  readonly user: string | undefined
  readonly login: string
  readonly logout: string
  readonly csrfToken: string
}

export const homePage = ({ base, user, login, logout, csrfToken }: HomeView): Html => {
  const { home } = messages
  return layout(
    base,
    home.title,
    user === undefined
      ? html`<h1>${home.title}</h1>
<p>${home.nobody}</p>
<p><a href="${login}">${home.login}</a></p>`
      : html`<h1>${home.title}</h1>
<p>${home.user} <strong><bdi>${user}</bdi></strong>.</p>
<form method="post" action="${logout}">
<input type="hidden" name="csrf_token" value="${csrfToken}">
<p><button type="submit">${home.logout}</button></p>
</form>`,
  )
}

import type { Frame, PageTemplate } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { csrf } from '../parts/forms.ts'
import { alert, caution, done, note } from '../parts/notices.ts'

/** The view of the login page. */
export interface LoginView {
  readonly action: string
  /** The path to which the server redirects after the login. */
  readonly next: string
  readonly email: string
  /** The e-mail address of the user who is already logged in, for instance in another tab. */
  readonly user?: string | undefined
  /** The name of the client whose authorization request waits for the login; undefined without one. */
  readonly client: string | undefined
  /** Whether the session of this browser has expired. */
  readonly hasExpired: boolean
  /** Whether the login leads back to a form whose content the server has stored. */
  readonly hasDraft: boolean
  /** The message about an action that the user has just completed, such as setting a new password. */
  readonly done: string | undefined
  readonly problem: string | undefined
  /** Whether the browser, such as Safari, rejects the session cookie of a server that uses http. */
  readonly dropsCookies: boolean
}

/** The page on which users log in. */
export const loginPage: PageTemplate<LoginView> = (view, frame) => {
  const { action, next, email, client, problem } = view
  const { login, userLinks } = frame.texts
  const { forgotPassword, signUp } = frame.links
  const autofocus = html` autofocus`
  return layout(
    frame,
    login.title,
    html`<div class="card">
<h1>${login.title}</h1>
${client === undefined ? '' : html`<p class="about">${filled(login.continueTo, html`<strong><bdi>${client}</bdi></strong>`)}</p>`}
${view.hasExpired ? caution(login.expired) : ''}
${view.hasDraft ? note(login.loggedOut) : ''}
${done(view.done)}
${alert(problem)}
${view.user === undefined ? '' : loggedIn(view.user, next, frame)}
${view.dropsCookies ? caution(login.dropsCookies) : ''}
<form method="post" action="${action}">
${csrf(frame)}
<input type="hidden" name="next" value="${next}">
<div class="field">
<label for="email">${login.email}</label>
<input id="email" name="email" type="text" inputmode="email" value="${email}" dir="ltr" autocapitalize="none" spellcheck="false" autocomplete="username" required${email === '' ? autofocus : ''}>
</div>
<div class="field">
<label for="password">${login.password}</label>
<input id="password" name="password" type="password" dir="ltr" autocomplete="current-password" required${email === '' ? '' : autofocus}>
</div>
<p class="actions"><button type="submit">${login.submit}</button></p>
</form>
${link(forgotPassword, userLinks.reset_password.title, next)}
${link(signUp, userLinks.sign_up.title, next)}
</div>`,
    { narrow: true, navigation: false },
  )
}

const loggedIn = (user: string, next: string, { texts }: Frame): Html =>
  html`<p class="notice neutral" role="status">${texts.home.user} <strong><bdi>${user}</bdi></strong> <a href="${next}">${texts.device.submit}</a></p>`

const link = (href: string | null, text: string, next: string): Html =>
  href === null
    ? html``
    : html`<p><a href="${href}?next=${encodeURIComponent(next)}">${text}</a></p>`

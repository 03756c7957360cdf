import { html } from 'hono/html'
import { type Html, layout, notice, type PageBase } from './layout.ts'
import { messages } from './messages.ts'

export interface LoginView {
  readonly base: PageBase
  readonly action: string
  readonly csrfToken: string
  readonly next: string
  readonly email: string
  readonly problem: string | undefined
}

export const loginPage = ({ base, action, csrfToken, next, email, problem }: LoginView): Html => {
  const { login } = messages
  return layout(
    base,
    login.title,
    html`<h1>${login.title}</h1>
${notice(problem)}
<form method="post" action="${action}">
<input type="hidden" name="csrf_token" value="${csrfToken}">
<input type="hidden" name="next" value="${next}">
<p>
<label for="email">${login.email}</label>
<input id="email" name="email" type="email" value="${email}" autocomplete="username" required${email === '' ? html` autofocus` : ''}>
</p>
<p>
<label for="password">${login.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${email === '' ? '' : html` autofocus`}>
</p>
<p><button type="submit">${login.submit}</button></p>
</form>`,
  )
}

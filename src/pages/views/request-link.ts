import type { FormProblem } from '../form-problem.ts'
import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { formId, textField } from '../parts/forms.ts'
import { done, formAlert } from '../parts/notices.ts'

/** The view of the page on which a visitor requests a link by e-mail. */
export interface RequestLinkView {
  readonly purpose: 'reset_password' | 'sign_up'
  readonly action: string
  /** The path to open after the login. */
  readonly next: string
  readonly email: string
  /** Whether the request was accepted. The page does not reveal whether an account exists. */
  readonly isSent: boolean
  readonly problem: FormProblem | undefined
}

/** The page on which a visitor requests a link by e-mail, to set a new password or to create an account. */
export const requestLinkPage: PageTemplate<RequestLinkView> = (view, frame) => {
  const { userLinks: texts, login } = frame.texts
  const { purpose, action, next, email, isSent, problem } = view
  const { title, about } = texts[purpose]
  return layout(
    frame,
    title,
    html`<div class="card">
<h1>${title}</h1>
${
  isSent
    ? done(texts.sent(email))
    : html`<p class="about">${about}</p>
${formAlert(problem, { email: login.email }, frame)}
<form method="post" action="${action}">
${formId(frame)}
<input type="hidden" name="next" value="${next}">
${textField({
  name: 'email',
  label: login.email,
  value: email,
  problem,
  attributes: html` type="text" inputmode="email" autocapitalize="none" spellcheck="false" dir="ltr" autocomplete="username" required`,
})}
<p class="actions"><button type="submit">${texts.request}</button></p>
</form>`
}
<p><a href="${frame.links.login}?next=${encodeURIComponent(next)}">${texts.toLogin}</a></p>
</div>`,
    { narrow: true, navigation: false },
  )
}

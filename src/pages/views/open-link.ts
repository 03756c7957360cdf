import type { UserLinkPurpose } from '../../model/user-link.ts'
import type { FormProblem } from '../form-problem.ts'
import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { csrf, textField } from '../parts/forms.ts'
import { formAlert } from '../parts/notices.ts'

/** The view of the page that a link in an e-mail opens. */
export interface OpenLinkView {
  readonly purpose: UserLinkPurpose
  readonly email: string
  /** The secret of the link, which the form returns. */
  readonly token: string
  readonly action: string
  /** The minimum length of a password, in characters. */
  readonly minLength: number
  readonly problem: FormProblem | undefined
}

/** The page that a link in an e-mail opens: a form for a new password, or a button that verifies the address. */
export const openLinkPage: PageTemplate<OpenLinkView> = (view, frame) => {
  const { userLinks: texts, password } = frame.texts
  const { purpose, email, token, action, minLength, problem } = view
  const { openTitle, submit } = texts[purpose]
  return layout(
    frame,
    openTitle,
    html`<div class="card">
<h1>${openTitle}</h1>
<p class="about"><bdi>${email}</bdi></p>
${formAlert(problem, { new_password: frame.texts.password.next }, frame)}
<form method="post" action="${action}">
${csrf(frame)}
<input type="hidden" name="token" value="${token}">
${
  purpose === 'verify_email'
    ? ''
    : html`<div hidden><input type="text" value="${email}" autocomplete="username"></div>
${textField({
  name: 'new_password',
  label: password.next,
  hint: password.hint(minLength),
  value: '',
  problem,
  attributes: html` type="password" dir="ltr" autocomplete="new-password" minlength="${minLength}" required`,
})}`
}
<p class="actions"><button type="submit">${submit}</button></p>
</form>
</div>`,
    { narrow: true, navigation: false },
  )
}

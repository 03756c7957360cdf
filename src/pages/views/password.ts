import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { type FormProblem, formId, textField } from '../parts/forms.ts'
import { formAlert } from '../parts/notices.ts'

/** The view of the page on which a user changes the password. */
export interface PasswordView {
  readonly action: string
  /** The e-mail address of the user, with which a password manager finds the entry to update. */
  readonly email: string
  /** The minimum length of a password, in characters. */
  readonly minLength: number
  readonly problem: FormProblem | undefined
}

/** The page on which a user changes the password. */
export const passwordPage: PageTemplate<PasswordView> = (view, frame) => {
  const { password: texts } = frame.texts
  const { action, email, minLength, problem } = view
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
<p class="about">${texts.about}</p>
${formAlert(problem, { current_password: texts.current, new_password: texts.next }, frame)}
<form method="post" action="${action}">
${formId(frame)}
<div hidden><input type="text" value="${email}" autocomplete="username"></div>
${textField({
  name: 'current_password',
  label: texts.current,
  value: '',
  problem,
  attributes: html` type="password" dir="ltr" autocomplete="current-password" required`,
})}
${textField({
  name: 'new_password',
  label: texts.next,
  hint: texts.hint(minLength),
  value: '',
  problem,
  attributes: html` type="password" dir="ltr" autocomplete="new-password" minlength="${minLength}" required`,
})}
<p class="actions"><button type="submit">${texts.submit}</button></p>
</form>`,
    { place: { entry: 'sessions', isBelow: true } },
  )
}

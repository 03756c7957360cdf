import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { formId, textField } from '../parts/forms.ts'
import { formAlert } from '../parts/notices.ts'
import type { passwordRules } from '../shapes/password.ts'
import type { Json } from '../shapes/shape.ts'

/** The page on which a user changes the password. */
export const passwordPage: PageTemplate<Json<typeof passwordRules>> = (
  { min_length: minLength },
  frame,
) => {
  const { password: texts } = frame.texts
  const { problem } = frame.outcome
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
<p class="about">${texts.about}</p>
${formAlert(problem, { current_password: texts.current, new_password: texts.next }, frame)}
<form method="post" action="${frame.links.password}">
${formId(frame)}
<div hidden><input type="text" value="${frame.user?.email}" autocomplete="username"></div>
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

import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'

/** The view of the page that sends an authorization response to a client in a form. */
export interface FormPostView {
  /** The redirect URI. */
  readonly action: string
  /** The parameters of the response. The form contains no other field. */
  readonly fields: readonly { readonly name: string; readonly value: string }[]
}

/** The page that sends an authorization response. The script of the page or the user submits the form. */
export const formPostPage: PageTemplate<FormPostView> = ({ action, fields }, frame) => {
  const { formPost: texts } = frame.texts
  return layout(
    frame,
    texts.title,
    html`<div class="card">
<h1>${texts.title}</h1>
<p>${texts.sentence}</p>
<form method="post" action="${action}" data-submit>
${fields.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">`)}
<p class="actions"><button type="submit">${texts.submit}</button></p>
</form>
</div>`,
    { narrow: true, navigation: false, keepsForms: false },
  )
}

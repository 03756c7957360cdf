import type { PageTemplate } from '../frame.ts'
import { filled, html } from '../html.ts'
import { layout } from '../layout.ts'
import { csrf } from '../parts/forms.ts'
import { alert } from '../parts/notices.ts'

/** The view of the page on which a user decides about a logout that a client or a link requests. */
export interface LogoutView {
  readonly action: string
  /** The sealed logout request, which the form returns. */
  readonly request: string
  /** The name of the client; undefined if the client is unknown. */
  readonly client: string | undefined
  /** The e-mail address of the logged-in user. */
  readonly user: string
  readonly problem: string | undefined
}

/** The page on which a user decides about a logout. */
export const logoutPage: PageTemplate<LogoutView> = (view, frame) => {
  const { logout: texts } = frame.texts
  const { action, request, client, user, problem } = view
  return layout(
    frame,
    texts.title,
    html`<div class="card">
<h1>${texts.title}</h1>
${alert(problem)}
${client === undefined ? '' : html`<p>${filled(texts.asks, html`<bdi>${client}</bdi>`)}</p>`}
<p>${texts.user} <strong><bdi>${user}</bdi></strong></p>
<form method="post" action="${action}">
${csrf(frame)}
<input type="hidden" name="logout_request" value="${request}">
<p class="actions"><button type="submit" name="confirm" value="yes">${texts.submit}</button>
<button type="submit" name="confirm" value="no" class="quiet">${texts.stay}</button></p>
</form>
</div>`,
    { narrow: true, navigation: false },
  )
}

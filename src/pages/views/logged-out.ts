import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'

/** The view of the page after a logout. */
export interface LoggedOutView {
  /** The URL of the client that requested the logout; undefined without one. */
  readonly back: string | undefined
}

/** The page that confirms that nobody is logged in. */
export const loggedOutPage: PageTemplate<LoggedOutView> = ({ back }, frame) => {
  const { logout: texts, error } = frame.texts
  return layout(
    frame,
    texts.doneTitle,
    html`<div class="card">
<h1>${texts.doneTitle}</h1>
<p>${texts.done}</p>
<p>${
      back === undefined
        ? html`<a href="${frame.links.home}">${error.home}</a>`
        : html`<a href="${back}" rel="noreferrer">${texts.back}</a>`
    }</p>
</div>`,
    { narrow: true, navigation: false },
  )
}

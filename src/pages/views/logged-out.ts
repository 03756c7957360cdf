import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'

/** The view of the page after a logout. */
export interface LoggedOutView {
  /** The post-logout redirect URI of the client that requested the logout; undefined without one. */
  readonly back: string | undefined
}

// Show where the link leads: the page may not have redirected, because the server does not trust the client.
const hostOf = (address: string): string => {
  const { origin, host, protocol } = new URL(address)
  return origin === 'null' ? protocol : host
}

/** The page that confirms the logout. */
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
        : html`<a href="${back}" rel="noreferrer">${texts.back}</a> <small><bdi>${hostOf(back)}</bdi></small>`
    }</p>
</div>`,
    { narrow: true, navigation: false },
  )
}

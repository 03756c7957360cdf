import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { copyable } from './secret.ts'

/** The view with a new secret, which no later page can show. */
export interface ShownOnceView {
  /** The confirmation of the completed action. */
  readonly done: string | undefined
  /** A sentence that says that the secret is shown only once. */
  readonly once: string | undefined
  readonly secret: string
  /** The URL of the next page. */
  readonly next: string
}

/**
 * The page that displays a new secret in the response to a form. The server uses this page only if it could not store
 * the secret for the next page.
 */
export const shownOncePage: PageTemplate<ShownOnceView> = (
  { done = '', once = '', secret, next },
  frame,
) => {
  const { applications } = frame.texts.frame
  return layout(
    frame,
    done,
    html`<div class="card fresh">
<h1>${done}</h1>
<p role="status"><strong>${once}</strong></p>
<p>${copyable('secret', secret, frame, '')}</p>
<p><a href="${next}">${applications}</a></p>
</div>`,
    { narrow: true },
  )
}

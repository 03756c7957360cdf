import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'

/** Why something was not done. */
export interface ProblemView {
  readonly title: string
  readonly sentence: string
  /** What the protocol says about it, in English. */
  readonly details?: string
}

/** The page that says why something was not done, or that nothing is there. */
export const problemPage: PageTemplate<ProblemView> = ({ title, sentence, details = '' }, frame) =>
  layout(
    frame,
    title,
    html`<div class="card">
<h1>${title}</h1>
<p>${sentence}</p>
${details === '' ? '' : html`<p class="details" lang="en" dir="ltr">${details}</p>`}
<p><a href="${frame.links.home}">${frame.texts.error.home}</a></p>
</div>`,
    { narrow: true },
  )

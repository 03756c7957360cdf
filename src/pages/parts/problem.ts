import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'

/** The view of a page about a problem. */
export interface ProblemView {
  readonly title: string
  readonly sentence: string
  /** The error description of the protocol, in English. */
  readonly details?: string
  /** Links with which the user can continue. */
  readonly ways?: readonly { readonly href: string; readonly text: string }[]
}

/** The page about a problem, such as a missing page. */
export const problemPage: PageTemplate<ProblemView> = (view, frame) => {
  const { title, sentence, details = '', ways = [] } = view
  return layout(
    frame,
    title,
    html`<div class="card">
<h1>${title}</h1>
<p>${sentence}</p>
${details === '' ? '' : html`<p class="details" lang="en" dir="ltr">${details}</p>`}
${ways.map(({ href, text }) => html`<p><a href="${href}">${text}</a></p>`)}
<p><a href="${frame.links.home}">${frame.texts.error.home}</a></p>
</div>`,
    { narrow: true },
  )
}

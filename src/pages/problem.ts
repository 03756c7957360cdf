import { html } from 'hono/html'
import { type Html, layout, type PageBase } from './layout.ts'
import { messages } from './messages.ts'

/** A page that says why something was not done, for people. */
export const problemPage = (view: {
  readonly base: PageBase
  readonly title: string
  readonly sentence: string
}): Html =>
  layout(
    view.base,
    view.title,
    html`<h1>${view.title}</h1>
<p>${view.sentence}</p>
<p><a href="${view.base.home}">${messages.error.home}</a></p>`,
  )

import { html } from 'hono/html'
import { type Html, layout, type PageBase } from './layout.ts'
import { messages } from './messages.ts'

export interface ErrorView {
  readonly base: PageBase
  /** Whatever stood in the address: shown as text, believed in nothing. */
  readonly error: string
  readonly description: string
}

export const errorPage = ({ base, error, description }: ErrorView): Html => {
  const { error: texts } = messages
  const explanation = Object.hasOwn(texts.explanation, error) ? texts.explanation[error] : undefined
  return layout(
    base,
    texts.title,
    html`<h1>${texts.title}</h1>
<p>${explanation ?? texts.unknown}</p>
<p>${texts.advice}</p>
<dl>
${error === '' ? '' : html`<dt>${texts.code}</dt><dd><code>${error}</code></dd>`}
${description === '' ? '' : html`<dt>${texts.details}</dt><dd><bdi>${description}</bdi></dd>`}
</dl>
<p><a href="${base.home}">${texts.home}</a></p>`,
  )
}

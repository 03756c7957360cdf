import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { formId } from './forms.ts'

/** An act that the page carries out after one question. */
export interface Act {
  /** The label of the question and, unless `submit` is set, of the button. */
  readonly label: Html | string
  /** The label for screen readers, if `label` does not say to which entry of the page the act applies. */
  readonly name?: string
  /** What the act does, and whether it can be undone. */
  readonly about: string
  readonly submit?: string
  /** The URL of the form. */
  readonly action: string
  /** The hidden fields of the form. */
  readonly fields: Readonly<Record<string, string>>
  /** Whether the question is open. */
  readonly isOpen?: boolean
  /** A control between the question and the button. */
  readonly control?: Html
}

/** Renders an act as a question that opens on request, and a button. Works without a script and without another page. */
export const ask = (act: Act, frame: Frame): Html => {
  const name = act.name === undefined ? '' : html` aria-label="${act.name}"`
  return html`<details class="danger"${act.isOpen ? html` open` : ''}>
<summary${name}>${act.label}</summary>
<form method="post" action="${act.action}">
${formId(frame)}
${Object.entries(act.fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<p>${act.about}</p>
${act.control}
<p class="actions"><button type="submit" class="danger"${name}>${act.submit ?? act.label}</button></p>
</form>
</details>`
}

import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { formId } from './forms.ts'

/** An act that the user must confirm. */
export interface Act {
  /** The label of the question, and also of the button if `submit` is missing. */
  readonly label: Html | string
  /** The label for screen readers, with the name of the entry; omitted if `label` contains the name. */
  readonly name?: string
  /** A text that says what the act does, and whether it can be undone. */
  readonly about: string
  /** The label of the button. */
  readonly submit?: string
  /** The URL of the form. */
  readonly action: string
  /** The hidden fields of the form. */
  readonly fields: Readonly<Record<string, string>>
  /** Whether the question is initially open. */
  readonly isOpen?: boolean
  /** A control between the question and the button. */
  readonly control?: Html
}

/** Renders an act as an expandable question with a button. The question needs neither a script nor a separate page. */
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

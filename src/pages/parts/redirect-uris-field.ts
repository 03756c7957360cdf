import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { Control, FormProblem, InvalidControl } from './forms.ts'
import { described, hintOf, invalid, problemOf } from './forms.ts'

/** Renders the field for redirect URIs. */
export const redirectUrisField = (
  typed: string,
  problem: FormProblem | undefined,
  frame: Frame,
): Html => {
  const { redirectUris: label, redirectUrisHint: hint } = frame.texts.client
  return uriLinesField({ name: 'redirect_uris', label, hint, problem, typed }, frame)
}

/** Renders a field with one URI per line. Renders the problem of a line below the field. */
export const uriLinesField = (
  control: Control & { readonly label: string; readonly typed: string },
  frame: Frame,
): Html => {
  const { name, label, typed } = control
  const rows = Math.min(Math.max(typed.split('\n').length + 1, 3), 12)
  return html`<div class="field">
<label for="${name}">${label}</label>
${hintOf(control)}
<textarea id="${name}" name="${name}" rows="${rows}" dir="ltr" spellcheck="false" autocapitalize="off" autocomplete="off"${described(control)}${invalid(control)}>
${typed}</textarea>
${problemOf(control, wrongLine(typed, frame))}
</div>`
}

const wrongLine =
  (typed: string, { texts }: Frame) =>
  ({ sentence, line: number }: InvalidControl): Html => {
    if (number === undefined) return html`${sentence}`
    const line = typed.split(/\r?\n/)[number - 1]?.trim() ?? ''
    return html`${texts.frame.line({ line: number, sentence })}
${line === '' ? '' : html`<code dir="ltr">${line}</code>`}`
  }

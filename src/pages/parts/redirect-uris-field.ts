import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { FormProblem, InvalidControl } from './forms.ts'
import { described, hintOf, invalid, problemOf } from './forms.ts'

/** Renders the field for redirect URIs, with one URI per line. Renders the problem of a line below the field. */
export const redirectUrisField = (
  typed: string,
  problem: FormProblem | undefined,
  frame: Frame,
): Html => {
  const { client: texts } = frame.texts
  const control = { name: 'redirect_uris', hint: texts.redirectUrisHint, problem }
  const rows = Math.min(Math.max(typed.split('\n').length + 1, 3), 12)
  return html`<div class="field">
<label for="redirect_uris">${texts.redirectUris}</label>
${hintOf(control)}
<textarea id="redirect_uris" name="redirect_uris" rows="${rows}" dir="ltr" spellcheck="false" autocapitalize="off" autocomplete="off"${described(control)}${invalid(control)}>
${typed}</textarea>
${problemOf(control, wrongLine(typed, frame))}
</div>`
}

const wrongLine =
  (typed: string, { texts }: Frame) =>
  ({ sentence, line: number }: InvalidControl): Html => {
    if (number === undefined) return html`${sentence}`
    const line = typed.split(/\r?\n/)[number - 1]?.trim() ?? ''
    return html`${texts.frame.line(number, sentence)}
${line === '' ? '' : html`<code dir="ltr">${line}</code>`}`
  }

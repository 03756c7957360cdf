import type { FormProblem, InvalidControl } from '../form-problem.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'

/** Returns the problems of a field. A field with several invalid lines has several problems. */
export const problemsOf = (
  problem: FormProblem | undefined,
  name: string,
): readonly InvalidControl[] => problem?.fields?.filter((field) => field.name === name) ?? []

/** Renders the hidden field with the CSRF token, which every POST form needs. */
export const csrf = ({ csrfToken }: Frame): Html =>
  html`<input type="hidden" name="csrf_token" value="${csrfToken}">`

/** Renders the hidden fields of an idempotent form. If the form is sent twice, the server processes one submission. */
export const formId = (frame: Frame): Html => html`${csrf(frame)}
<input type="hidden" name="form_id" value="${frame.formId}">`

/** The properties of a form control. */
export interface Control {
  readonly name: string
  readonly hint?: Html | string | undefined
  readonly problem: FormProblem | undefined
}

const isAbout = ({ name, problem }: Control): boolean => problemsOf(problem, name).length > 0

/** Renders the attributes that connect a control with its hint and its problem. */
export const described = (control: Control): Html => {
  const { name, hint } = control
  const ids = [hint ? `${name}-hint` : '', isAbout(control) ? `${name}-problem` : '']
  const by = ids.filter((id) => id !== '').join(' ')
  return by === '' ? html`` : html` aria-describedby="${by}"`
}

/** Renders the attribute that marks a control with a problem; nothing for a control without a problem. */
export const invalid = (control: Control): Html =>
  isAbout(control) ? html` aria-invalid="true"` : html``

/** Renders the hint of a control below its label. */
export const hintOf = ({ name, hint }: Control): Html =>
  hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : html``

/** Renders the problems of a control; nothing for a control without a problem. */
export const problemOf = (
  control: Control,
  render: (problem: InvalidControl) => Html = ({ sentence }) => html`${sentence}`,
): Html =>
  isAbout(control)
    ? html`<p class="wrong" id="${control.name}-problem">${problemsOf(control.problem, control.name).map((problem) => html`<span>${render(problem)}</span> `)}</p>`
    : html``

/** Renders a label, a hint, an input field and its problems. `attributes` are the attributes of the `input` element. */
export const textField = (
  control: Control & {
    readonly label: Html | string
    readonly value: string
    readonly attributes?: Html
  },
): Html => html`<div class="field">
<label for="${control.name}">${control.label}</label>
${hintOf(control)}
<input id="${control.name}" name="${control.name}" value="${control.value}"${control.attributes}${described(control)}${invalid(control)}>
${problemOf(control)}
</div>`

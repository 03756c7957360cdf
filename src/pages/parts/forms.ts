import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'

/** A problem of a submitted form, in the reader's language. */
export interface FormProblem {
  /** The sentence that describes the problem. */
  readonly sentence: string
  /** The name of the field with the problem; undefined if the problem concerns the whole form. */
  readonly field?: string | undefined
  /** The number of the line with the problem, from 1, if the field has one entry per line. */
  readonly line?: number | undefined
}

/** Renders the hidden field with the CSRF token, which every form needs. */
export const csrf = ({ csrfToken }: Frame): Html =>
  html`<input type="hidden" name="csrf_token" value="${csrfToken}">`

/** Renders the hidden fields of an idempotent form. */
export const formId = (frame: Frame): Html => html`${csrf(frame)}
<input type="hidden" name="form_id" value="${frame.formId}">`

/** The properties of a form control. */
export interface Control {
  readonly name: string
  readonly hint?: Html | string | undefined
  readonly problem: FormProblem | undefined
}

const isAbout = ({ name, problem }: Control): boolean => problem?.field === name

/** Renders the attributes that connect a control with its hint and its problem. */
export const described = (control: Control): Html => {
  const { name, hint } = control
  const ids = [hint ? `${name}-hint` : '', isAbout(control) ? `${name}-problem` : '']
  const by = ids.filter((id) => id !== '').join(' ')
  return by === '' ? html`` : html` aria-describedby="${by}"`
}

/** Renders attributes that mark a control with a problem and focus it; nothing for a control without a problem. */
export const invalid = (control: Control): Html =>
  isAbout(control) ? html` aria-invalid="true" autofocus` : html``

/** Renders the hint of a control below its label. */
export const hintOf = ({ name, hint }: Control): Html =>
  hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : html``

/** Renders the problem of a control; nothing for a control without a problem. */
export const problemOf = (control: Control, sentence: Html | string = ''): Html =>
  isAbout(control)
    ? html`<p class="wrong" id="${control.name}-problem">${sentence || control.problem?.sentence}</p>`
    : html``

/** Renders a field below its label. `attributes` are the attributes of the `input` element. */
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

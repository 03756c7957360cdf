import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'

/** What is wrong with a form that was sent, in the reader's language. */
export interface FormProblem {
  /** Stands above the form. */
  readonly sentence: string
  /** The field that it is about, by its name in the form; undefined: the form as a whole. */
  readonly field?: string | undefined
  /** The line of a field with one entry a line, counted from 1. */
  readonly line?: number | undefined
}

/** The hidden field that every form has: without it nothing is done. */
export const csrf = ({ csrfToken }: Frame): Html =>
  html`<input type="hidden" name="csrf_token" value="${csrfToken}">`

/** The hidden fields of a form that does one thing, also when it is sent twice. */
export const formId = (frame: Frame): Html => html`${csrf(frame)}
<input type="hidden" name="form_id" value="${frame.formId}">`

/** What a control of a form is told about. */
export interface Control {
  readonly name: string
  readonly hint?: Html | string | undefined
  readonly problem: FormProblem | undefined
}

const isAbout = ({ name, problem }: Control): boolean => problem?.field === name

/** The attributes that tie a control to its hint, and to what is wrong with it. */
export const described = (control: Control): Html => {
  const { name, hint } = control
  const ids = [hint ? `${name}-hint` : '', isAbout(control) ? `${name}-problem` : '']
  const by = ids.filter((id) => id !== '').join(' ')
  return by === '' ? html`` : html` aria-describedby="${by}"`
}

/** The attributes of the control in which something is wrong: that is where one goes on typing. */
export const invalid = (control: Control): Html =>
  isAbout(control) ? html` aria-invalid="true" autofocus` : html``

/** The hint of a control, below its label. */
export const hintOf = ({ name, hint }: Control): Html =>
  hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : html``

/** What is wrong with a control, next to it. */
export const problemOf = (control: Control, sentence: Html | string = ''): Html =>
  isAbout(control)
    ? html`<p class="wrong" id="${control.name}-problem">${sentence || control.problem?.sentence}</p>`
    : html``

/** A field with its label above it; `attributes` are those of an `input`. */
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

import type { z } from 'zod'
import { camelCase } from '../../model/camel-case.ts'
import type { Parameters } from '../../model/parameters.ts'
import type { Scope } from '../../model/scope.ts'
import type { FormProblem, InvalidControl } from '../form-problem.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { Messages } from '../messages/en.ts'
import type { EditedField } from '../parts/edit-form.ts'
import { type Control, described, hintOf, invalid, problemOf, textField } from '../parts/forms.ts'
import { scopeChoices } from '../parts/scopes.ts'
import { formList, formText } from '../shapes/form-fields.ts'

type TextOf = (texts: Messages) => string

/** A field of a form: its shape in a request of a script, its value, and its control on a page. */
export interface FormField<Value> {
  readonly shape: z.ZodType
  readonly label: TextOf
  /** The option of the command line that sets the field of the record with the same name in camel case. */
  readonly option?: CommandOption | undefined
  /** The value in the form of a new object. */
  readonly blank: Value
  /** Returns the value that the user submitted. */
  typed(params: Parameters, name: string): Value
  /** Returns the value of a stored object, from the member of its JSON with the name of the field. */
  stored(member: unknown): Value
  /** Returns the value as text, with which two versions are compared. */
  text(value: Value, frame: Frame): string
  render(control: FieldControl<Value>, frame: Frame): Html
}

/** An option of the command line. */
export interface CommandOption {
  /** The placeholder of the value, such as `url`. */
  readonly value: string
  readonly about: string
}

/** A field with its value, as a page shows it. */
export interface FieldControl<Value> extends Omit<Control, 'hint'> {
  readonly value: Value
  readonly label: string
  /** The scopes that the user can choose. */
  readonly scopes: readonly Scope[]
}

interface Described {
  readonly label: TextOf
  readonly hint: TextOf
  /** The shape in a request of a script. Default: an optional text, or an optional list. */
  readonly shape?: z.ZodType
  /** What the option of the command line does; omitted if it has none. */
  readonly option?: string
}

const firstIn = (params: Parameters, name: string): string => params.repeated(name)[0] ?? ''

const text = {
  blank: '',
  typed: firstIn,
  stored: (member: unknown) => String(member ?? ''),
  // Browsers send line breaks as CRLF.
  text: (value: string) => value.replaceAll('\r', '').trim(),
}

/** A field with one line of text. */
export const line = ({
  label,
  hint,
  shape = formText.optional(),
  option,
  attributes,
  value = 'text',
}: Described & { readonly attributes: Html; readonly value?: string }): FormField<string> => ({
  ...text,
  shape,
  label,
  option: optionOf(value, option),
  render: (control, { texts }) => textField({ ...control, hint: hint(texts), attributes }),
})

/** A field with the URL of a page or an image. */
export const url = (described: Described): FormField<string> =>
  line({
    ...described,
    attributes: html` type="url" dir="ltr" autocomplete="off"`,
    value: 'url',
  })

const optionOf = (value: string, about: string | undefined): CommandOption | undefined =>
  about === undefined ? undefined : { value, about }

/** A field with several lines of text. */
export const area = ({
  label,
  hint,
  shape = formText.optional(),
  option,
}: Described): FormField<string> => ({
  ...text,
  shape,
  label,
  option: optionOf('text', option),
  render: (control, { texts }) =>
    textArea({ ...control, hint: hint(texts) }, html` rows="3" dir="auto"`),
})

const textArea = (
  control: Control & { readonly label: string; readonly value: string },
  attributes: Html,
  render?: (problem: InvalidControl) => Html,
): Html => {
  const { name, label, value } = control
  return html`<div class="field">
<label for="${name}">${label}</label>
${hintOf(control)}
<textarea id="${name}" name="${name}"${attributes}${described(control)}${invalid(control)}>
${value}</textarea>
${problemOf(control, render)}
</div>`
}

/** A field with one URI per line. The problem of a line is shown below the field, with the line. */
export const uriLines = ({
  label,
  hint,
  shape = formList.optional(),
}: Described): FormField<string> => ({
  ...text,
  shape,
  label,
  typed: (params, name) => params.repeated(name).join('\n'),
  stored: (member) => ((member ?? []) as readonly string[]).join('\n'),
  render(control, frame) {
    const { value } = control
    const rows = Math.min(Math.max(value.split('\n').length + 1, 3), 12)
    return textArea(
      { ...control, hint: hint(frame.texts) },
      html` rows="${rows}" dir="ltr" spellcheck="false" autocapitalize="off" autocomplete="off"`,
      wrongLine(value, frame),
    )
  },
})

const wrongLine =
  (typed: string, { texts }: Frame) =>
  ({ sentence, line: number }: InvalidControl): Html => {
    if (number === undefined) return html`${sentence}`
    const line = typed.split(/\r?\n/)[number - 1]?.trim() ?? ''
    return html`${texts.frame.line({ line: number, sentence })}
${line === '' ? '' : html`<code dir="ltr">${line}</code>`}`
  }

/** A field with a checkbox for each scope. */
export const scopes = ({
  label,
  hint,
  shape = formList.optional(),
}: Described): FormField<readonly string[]> => ({
  shape,
  label,
  blank: [],
  typed: (params, name) => params.repeated(name).filter((value) => value !== ''),
  stored: (member) => (member ?? []) as readonly string[],
  text: (ids) => [...ids].sort().join(' '),
  render: ({ value, label: legend, ...control }, frame) =>
    scopeChoices({ ...control, legend, ticked: value, hint: hint(frame.texts) }, frame),
})

/** A choice between the values of a field, as radio buttons. The first value is the default. */
export const choice = <Value extends string | boolean | undefined>({
  label,
  shape,
  values,
  typed,
}: Pick<Described, 'label'> & {
  readonly shape: z.ZodType
  /** The values in their order, each with its name and its explanation. */
  readonly values: readonly {
    readonly value: Value
    readonly name: TextOf
    readonly hint: TextOf
  }[]
  readonly typed: (params: Parameters, name: string) => Value
}): FormField<Value> => ({
  shape,
  label,
  blank: values[0]?.value as Value,
  typed,
  stored: (member) => member as Value,
  text: (chosen, { texts }) => values.find(({ value }) => value === chosen)?.name(texts) ?? '',
  render: (control, { texts }) => html`<fieldset${described(control)}>
<legend>${control.label}</legend>
${problemOf(control)}
${values.map(
  ({ value, name, hint }, index) =>
    html`<label class="choice"><input type="radio" name="${control.name}" value="${String(value)}"${value === control.value ? html` checked` : ''}${index === 0 ? html` id="${control.name}"${invalid(control)}` : ''}>
<span><strong>${name(texts)}</strong> <small>${hint(texts)}</small></span></label>
`,
)}</fieldset>`,
})

// biome-ignore lint/suspicious/noExplicitAny: a form has fields with values of several types
type Fields = Readonly<Record<string, FormField<any>>>

/** The values of the fields of a form: the submitted values, or the stored values. */
export type ValuesOf<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends FormField<infer Value> ? Value : never
}

const mapped = <F extends Fields, Result>(
  fields: F,
  convert: (field: F[string], name: string) => Result,
): { readonly [Name in keyof F]: Result } =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, convert(field as F[string], name)]),
  ) as { readonly [Name in keyof F]: Result }

/** Derives everything that the server and the pages know about a form from its fields. */
export const formOf = <F extends Fields>(fields: F) => ({
  /** The shapes of the fields in a request of a script. */
  shapes: mapped(fields, ({ shape }) => shape) as { readonly [Name in keyof F]: F[Name]['shape'] },
  /** The values in the form of a new object. */
  blank: mapped(fields, ({ blank }) => blank) as ValuesOf<F>,
  /** Returns the submitted values. */
  typed: (params: Parameters): ValuesOf<F> =>
    mapped(fields, (field, name) => field.typed(params, name)) as ValuesOf<F>,
  /** Returns the values of a stored object from its JSON. */
  stored: (json: object): ValuesOf<F> =>
    mapped(fields, (field, name) => field.stored(Reflect.get(json, name))) as ValuesOf<F>,
  /** The options of the command line, and the field of the record that each sets. */
  options: Object.entries(fields).flatMap(([name, { option }]) =>
    option
      ? [
          {
            flags: `--${name.replaceAll('_', '-')} <${option.value}>`,
            about: option.about,
            field: camelCase(name),
          },
        ]
      : [],
  ),
  /** Returns the texts of a form for the fields of the record that have an option of the command line. */
  inputs: (textIn: (name: string) => string | undefined) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, { option }]) =>
        option ? [[camelCase(name), textIn(name)]] : [],
      ),
    ),
  labels: ({ texts }: Frame) => mapped(fields, ({ label }) => label(texts)),
  /** Returns the fields with which an edit form compares two versions. */
  edited: (frame: Frame): readonly EditedField<ValuesOf<F>>[] =>
    Object.entries(fields).map(([name, { label, text }]) => ({
      name,
      label: label(frame.texts),
      text: (values) => text(values[name], frame),
    })),
  /** Renders the control of each field. */
  controls: (
    {
      values,
      ...rest
    }: {
      readonly values: ValuesOf<F>
      readonly scopes: readonly Scope[]
      readonly problem: FormProblem | undefined
    },
    frame: Frame,
  ) =>
    mapped(fields, ({ label, render }, name) =>
      render({ ...rest, name, label: label(frame.texts), value: values[name] }, frame),
    ),
})

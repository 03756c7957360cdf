import type { Scope } from '../../model/scope.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { NewPersonalTokenView, PersonalTokenFormValues } from '../models/personal-token.ts'
import type { FormProblem } from './forms.ts'
import { textField } from './forms.ts'
import { scopeChoices } from './scopes.ts'
import { dayText } from './times.ts'

interface TokenForm {
  readonly values: { readonly name: string; readonly scopes: readonly string[] }
  readonly scopes: readonly Scope[]
  readonly problem: FormProblem | undefined
}

/** Maps the name of each form field to its label. */
export const tokenLabels = ({
  texts: { token },
}: Frame): Readonly<Record<keyof PersonalTokenFormValues | 'overlap', string>> => ({
  name: token.name,
  expires: token.expires,
  scopes: token.scopes,
  overlap: token.rotate,
})

/** Renders the field for the name of a personal token. */
export const nameField = ({ values, problem }: TokenForm, { texts }: Frame): Html =>
  textField({
    name: 'name',
    label: texts.token.name,
    hint: texts.token.nameHint,
    value: values.name,
    attributes: html` required autocomplete="off"`,
    problem,
  })

/** Renders the field for the expiry of a new token. The field is required if the application limits the lifetime. */
export const expiresField = (view: NewPersonalTokenView, frame: Frame): Html => {
  const { token: texts } = frame.texts
  const { firstDay, lastDay, values, problem } = view
  return textField({
    name: 'expires',
    label: texts.expires,
    hint: lastDay === null ? texts.expiresHint : texts.expiresLast(dayText(frame, lastDay)),
    value: values.expires,
    attributes: html` type="date" min="${firstDay}"${lastDay === null ? '' : html` max="${lastDay}" required`}`,
    problem,
  })
}

/** Renders the checkboxes for the scopes of a personal token. */
export const scopesField = ({ values, scopes, problem }: TokenForm, frame: Frame): Html => {
  const { token: texts } = frame.texts
  if (scopes.length === 0) return html`<p class="hint">${texts.noScopes}</p>`
  return scopeChoices(
    {
      name: 'scopes',
      legend: texts.scopes,
      hint: texts.scopesHint,
      ticked: values.scopes,
      scopes,
      problem,
    },
    frame,
  )
}

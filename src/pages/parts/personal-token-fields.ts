import type { Scope } from '../../model/scope.ts'
import type { FormProblem } from '../form-problem.ts'
import type { Frame } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import type {
  EditedToken,
  ExpiryChoices,
  NewPersonalTokenView,
  PersonalTokenFormValues,
} from '../models/personal-token.ts'
import { type EditedField, sorted } from './edit-form.ts'
import { described, hintOf, invalid, problemOf, problemsOf, textField } from './forms.ts'
import { scopeChoices } from './scopes.ts'
import { day, dayText, durationText } from './times.ts'

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
  expiry: token.expires,
  scopes: token.scopes,
  overlap: token.rotate,
})

/**
 * Returns the fields of a personal token's form, each with a function that returns its text, to compare two versions.
 */
export const editedFields = (frame: Frame): readonly EditedField<EditedToken>[] => {
  const { facts, token } = frame.texts
  const fields: Readonly<Record<keyof EditedToken, Omit<EditedField<EditedToken>, 'name'>>> = {
    name: { label: token.name, text: ({ name }) => name },
    expires: {
      label: token.expires,
      text: ({ expires }) => String(expires),
      render: ({ expires }) => (expires === null ? html`${facts.never}` : day(frame, expires)),
    },
    scopes: { label: token.scopes, text: ({ scopes }) => sorted(scopes) },
  }
  return Object.entries(fields).map(([name, field]) => ({ name, ...field }))
}

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

/**
 * Renders the choice of the expiry. The date field is only visible while the choice of a day is selected.
 * @param options.canKeep whether the user can leave the expiry of an existing token unchanged
 */
export const expiryField = (
  { values, problem }: Pick<NewPersonalTokenView, 'values' | 'problem'>,
  choices: ExpiryChoices,
  { canKeep, frame }: { readonly canKeep: boolean; readonly frame: Frame },
): Html => {
  const { facts, token: texts } = frame.texts
  const { presets, mayNeverExpire, firstDay, lastDay } = choices
  const control = { name: 'expires', hint: texts.expiresHint, problem }
  const selected = problemsOf(problem, 'expires').length > 0 ? 'day' : values.expiry
  const choice = (value: string, label: Html | string, hint: Html | string = ''): Html =>
    html`<label class="choice">
<input type="radio" name="expiry" value="${value}"${value === selected ? html` checked` : ''}>
<span>${label}${hint === '' ? '' : html` <small>${hint}</small>`}</span>
</label>`
  return html`<fieldset class="expiry"${described(control)}>
<legend>${texts.expires}</legend>
${hintOf(control)}
${canKeep ? choice('keep', texts.unchanged) : ''}
${presets.map(({ days, at }) => choice(String(days), durationText(frame, days * 86_400), filled(texts.until, day(frame, at))))}
${choice('day', texts.onDay, lastDay === null ? texts.onDayHint : texts.onDayLast(dayText(frame, lastDay)))}
<div class="day">
<input id="expires" name="expires" type="date" value="${values.expires}" min="${firstDay}"${lastDay === null ? '' : html` max="${lastDay}"`} aria-label="${texts.onDay}"${described(control)}${invalid(control)}>
${problemOf(control)}
</div>
${mayNeverExpire ? choice('never', facts.never, texts.neverHint) : ''}
<input type="hidden" name="time_zone" value="" data-time-zone>
</fieldset>`
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

import { z } from 'zod'
import type { Scope } from '../../model/scope.ts'
import type { Frame } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import type { EditedField } from '../parts/edit-form.ts'
import { described, hintOf, invalid, problemOf, problemsOf } from '../parts/forms.ts'
import { day, dayText, durationText } from '../parts/times.ts'
import { formName, formText, noText } from '../shapes/form-fields.ts'
import { nameShapes } from '../shapes/shape.ts'
import { formOf, line, scopes, type ValuesOf } from './form.ts'

const fields = {
  name: line({
    shape: formName,
    label: ({ token }) => token.name,
    hint: ({ token }) => token.nameHint,
    attributes: html` required autocomplete="off"`,
  }),
  scopes: scopes({
    label: ({ token }) => token.scopes,
    hint: ({ token }) => token.scopesHint,
  }),
}

/** The fields of a personal token, apart from its expiry. */
export const tokenForm = formOf(fields)

/** The values of a personal token that its form edits. */
export interface EditedToken extends ValuesOf<typeof fields> {
  /** An ISO time; null if the token does not expire. */
  readonly expires: string | null
}

/** The values of the fields in a personal token's form: the values that the user submitted, or the stored values. */
export interface TokenValues extends ValuesOf<typeof fields> {
  /**
   * The chosen expiry: a number of days such as `90`, `day` for the day in `expires`, `never`, or `keep` for the
   * current expiry.
   */
  readonly expiry: string
  /** The chosen day of expiry, such as `2027-01-31`; empty without one. */
  readonly expires: string
}

/** The choices for the expiry of a personal token. */
export interface ExpiryChoices {
  /** The offered numbers of days, each with the resulting expiry in milliseconds since the epoch. */
  readonly presets: readonly { readonly days: number; readonly at: number }[]
  /** Whether the token may be valid forever. */
  readonly mayNeverExpire: boolean
  /** The first day that can be chosen: the `min` of the date field. */
  readonly firstDay: string
  /** The last day that can be chosen: the `max` of the date field. Null if tokens may be valid forever. */
  readonly lastDay: string | null
}

/** The syntax of an expiry day. The token expires at the end of this day. */
export const dayPattern = /^\d{4}-\d\d-\d\d$/
export const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/

const timeZone = formText
  .optional()
  .describe('The time zone in which a day in `expires` ends, such as Europe/Berlin; default: UTC.')
const expiry = formText
  .optional()
  .describe(
    'A number of days, `never`, or `day` for the day in `expires`. In a change, also `keep`.',
  )

export const expires = formText
  .meta({ pattern: `${dayPattern.source}|${timePattern.source}` })
  .describe('A time, or a day such as 2027-01-31. A token expires at the end of its day.')

export const newPersonalToken = z.looseObject({
  ...tokenForm.shapes,
  expires: z
    .union([expires, noText], { error: 'a text or null' })
    .optional()
    .describe('Null: the token does not expire. Omitted: the default lifetime of the server.'),
  expiry,
  time_zone: timeZone,
})

export const personalTokenChange = z
  .looseObject({
    ...tokenForm.shapes,
    name: formName.optional(),
    expires: z
      .union([expires, noText], { error: 'a text or null' })
      .optional()
      .describe('Null: the token does not expire.'),
    expiry,
    time_zone: timeZone,
    end_former: formText.optional().describe('`yes` revokes the previous value.'),
    reduce: formText.optional().describe('`yes` removes the scopes that no guard required.'),
    delete: formText.optional().describe('`yes` deletes the token.'),
  })
  .describe('In JSON, an omitted field is not changed.')

nameShapes({ PersonalTokenChange: personalTokenChange })

/** Returns the label of each field. */
export const tokenLabels = (frame: Frame) => {
  const { token } = frame.texts
  const expires = token.expires
  return { ...tokenForm.labels(frame), expires, expiry: expires, overlap: token.rotate }
}

/** Returns the fields with which the form compares two versions. */
export const editedFields = (frame: Frame): readonly EditedField<EditedToken>[] => {
  const { facts, token } = frame.texts
  const expires: EditedField<EditedToken> = {
    name: 'expires',
    label: token.expires,
    text: ({ expires }) => String(expires),
    render: ({ expires }) => (expires === null ? html`${facts.never}` : day(frame, expires)),
  }
  return [...tokenForm.edited(frame), expires]
}

/** Renders the fields of a personal token. @param expiry the choice of the expiry */
export const tokenFields = (
  { values, choices }: { readonly values: TokenValues; readonly choices: readonly Scope[] },
  expiry: Html | string,
  frame: Frame,
): Html => {
  const { problem } = frame.outcome
  const controls = tokenForm.controls({ values, scopes: choices, problem }, frame)
  return html`${controls.name}
${expiry}
${choices.length === 0 ? html`<p class="hint">${frame.texts.token.noScopes}</p>` : controls.scopes}`
}

/**
 * Renders the choice of the expiry. The date field is only visible while the choice of a day is selected.
 * @param options.canKeep whether the user can leave the expiry of an existing token unchanged
 */
export const expiryField = (
  values: TokenValues,
  choices: ExpiryChoices,
  { canKeep, frame }: { readonly canKeep: boolean; readonly frame: Frame },
): Html => {
  const { facts, token: texts } = frame.texts
  const { problem } = frame.outcome
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

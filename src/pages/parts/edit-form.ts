import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { formId } from './forms.ts'

/** The state of a form that edits stored values. */
export interface EditState<Values> {
  /** The version of the stored values. The form submits the version, so that the server detects a concurrent change. */
  readonly version: string
  /** The stored values, if they have changed since the user opened the form; otherwise undefined. */
  readonly stored: Values | undefined
  /**
   * The names of the consequences that the user must confirm before the server saves the change, such as `tokens` if
   * the server would revoke all tokens.
   */
  readonly losses: readonly string[]
}

/** A field of an edit form. */
export interface EditedField<Values> {
  readonly name: string
  readonly label: string
  /** Returns the value as text, to detect a difference between two versions. */
  readonly text: (values: Values) => string
  /** Renders the value. Default: the result of `text`. */
  readonly render?: (values: Values) => Html
}

/** Returns scopes as text in a fixed order, so that lists with the same scopes have the same text. */
export const sorted = (scopes: readonly string[]): string => [...scopes].sort().join(' ')

/** Renders the hidden fields of an edit form. */
export const editFields = ({ version, losses }: EditState<unknown>, frame: Frame): Html =>
  html`${formId(frame)}
<input type="hidden" name="version" value="${version}">
${losses.map((loss) => html`<input type="hidden" name="confirmed" value="${loss}">`)}`

/** Renders the button that saves the form. */
export const saveButton = ({ losses }: EditState<unknown>, { texts }: Frame): Html =>
  losses.length === 0
    ? html`<button type="submit">${texts.frame.save}</button>`
    : html`<button type="submit" class="danger">${texts.frame.saveAnyway}</button>`

/**
 * Renders the consequences that the user must confirm. Without consequences, but with changed stored values, renders the
 * stored and the submitted version of each field that differs. Otherwise renders nothing.
 */
export const editNotice = <Values>(
  { stored, losses }: EditState<Values>,
  {
    typed,
    fields,
    lossTexts,
  }: {
    readonly typed: Values
    readonly fields: readonly EditedField<Values>[]
    readonly lossTexts: Readonly<Record<string, string>>
  },
  { texts }: Frame,
): Html => {
  const { frame } = texts
  if (losses.length > 0)
    return html`<div class="notice caution" role="alert" tabindex="-1" autofocus>
<p>${frame.confirmLosses}</p>
<ul>
${losses.map((loss) => html`<li>${lossTexts[loss]}</li>`)}
</ul>
</div>`
  if (stored === undefined) return html``
  const shown = ({ text, render }: EditedField<Values>, values: Values): Html => {
    if (render) return render(values)
    const value = text(values)
    return value === '' ? html`–` : html`<bdi class="version">${value}</bdi>`
  }
  return html`<div class="notice" role="alert" tabindex="-1" autofocus>
<p>${frame.conflict}</p>
<ul>
${fields
  .filter(({ text }) => text(stored) !== text(typed))
  .map(
    (field) => html`<li><a href="#${field.name}">${field.label}</a>
<dl><dt>${frame.savedVersion}</dt><dd>${shown(field, stored)}</dd><dt>${frame.yourVersion}</dt><dd>${shown(field, typed)}</dd></dl></li>`,
  )}
</ul>
</div>`
}

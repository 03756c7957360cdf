import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { formId } from './forms.ts'

/** The ID of the form whose checkboxes are in the rows of a list. */
export const selectionForm = 'selected'

/** An entry of a list: the first line with its name and marks, and the second line with its facts. */
export interface Row {
  /** The value of the checkbox that selects the entry; undefined in a list without selection. */
  readonly pick?: { readonly id: string; readonly label: string } | undefined
  readonly name: Html
  readonly marks?: readonly (Html | string)[]
  /** The facts of the second line. An empty fact is omitted. */
  readonly line: readonly (Html | string)[]
  /** The form that acts on the entry, for instance deletes it. */
  readonly act?: Html
}

/** Renders an entry of a list in two lines. */
export const listRow = ({ pick, name, marks = [], line, act }: Row): Html =>
  html`${pick === undefined ? '' : html`<label class="pick"><input type="checkbox" name="id" value="${pick.id}" form="${selectionForm}" aria-label="${pick.label}"></label>`}<div class="name">
<h3>${name}</h3>
${marks.map((mark) => html`${mark} `)}
</div>
${factLine(line)}
${act}`

/** Renders the second line of an entry. An empty fact is omitted. */
export const factLine = (facts: readonly (Html | string)[]): Html =>
  html`<div class="line">${facts.map((fact) => (fact === '' ? '' : html`<div class="fact">${fact}</div> `))}</div>`

/**
 * Renders a form with the button that acts on an entry, for instance deletes it. `back` is the query of the list to
 * which the user returns.
 */
export const endForm = (
  {
    action,
    fields = {},
    label,
    name,
    back,
    isHarmless = false,
  }: {
    readonly action: string
    readonly fields?: Readonly<Record<string, string>>
    readonly label: string
    /** The label for screen readers, with the name of the entry. */
    readonly name: string
    readonly back: string | undefined
    /**
     * Whether the act harms nobody, such as enabling a client. Otherwise the button has the style of a dangerous act.
     */
    readonly isHarmless?: boolean
  },
  frame: Frame,
): Html => html`<form method="post" action="${action}">
${formId(frame)}
${Object.entries(fields).map(([field, value]) => html`<input type="hidden" name="${field}" value="${value}">`)}
${back === undefined ? '' : html`<input type="hidden" name="back" value="${back}">`}
<button type="submit" class="${isHarmless ? 'quiet' : 'quiet danger'}" aria-label="${name}">${label}</button>
</form>`

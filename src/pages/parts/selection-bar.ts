import { type Html, html } from '../html.ts'
import { selectionForm } from './rows.ts'

/** Renders the form of the checkboxes in a list. The form opens a page on which the user confirms the act. */
export const selectionBar = (action: string, back: string, label: string): Html =>
  html`<form class="actions" method="get" action="${action}" id="${selectionForm}">
<input type="hidden" name="back" value="${back}">
<button type="submit" class="quiet danger">${label}</button>
</form>`

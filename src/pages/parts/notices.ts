import { type Html, html } from '../html.ts'
import type { FormProblem } from './forms.ts'

/** Renders the problem of a form. */
export const alert = (problem: string | undefined): Html =>
  problem === undefined ? html`` : html`<p class="notice" role="alert">${problem}</p>`

/** Renders the problem of a form. If the problem concerns one field, the label of the field links to the field. */
export const formAlert = (
  problem: FormProblem | undefined,
  labels: Readonly<Record<string, string>>,
): Html => {
  const { field = '', sentence } = problem ?? {}
  if (sentence === undefined || !Object.hasOwn(labels, field)) return alert(sentence)
  return html`<p class="notice" role="alert"><a href="#${field}">${labels[field]}</a> ${sentence}</p>`
}

/** Renders the confirmation of a completed action. */
export const done = (sentence: string | undefined): Html =>
  sentence === undefined ? html`` : html`<p class="notice" role="status">${sentence}</p>`

/** Renders a warning. */
export const caution = (sentence: Html | string): Html =>
  html`<p class="notice caution">${sentence}</p>`

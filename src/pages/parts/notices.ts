import { type Html, html } from '../html.ts'
import type { FormProblem } from './forms.ts'

/** What went wrong with a form, above it. */
export const alert = (problem: string | undefined): Html =>
  problem === undefined ? html`` : html`<p class="notice" role="alert">${problem}</p>`

/** The same, with a link to the field that it is about, by the label of the field. */
export const formAlert = (
  problem: FormProblem | undefined,
  labels: Readonly<Record<string, string>>,
): Html => {
  const { field = '', sentence } = problem ?? {}
  if (sentence === undefined || !Object.hasOwn(labels, field)) return alert(sentence)
  return html`<p class="notice" role="alert"><a href="#${field}">${labels[field]}</a> ${sentence}</p>`
}

/** What was just done. */
export const done = (sentence: string | undefined): Html =>
  sentence === undefined ? html`` : html`<p class="notice" role="status">${sentence}</p>`

/** What one should know before going on. */
export const caution = (sentence: Html | string): Html =>
  html`<p class="notice caution">${sentence}</p>`

import type { FormProblem } from '../form-problem.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'

/** Renders the problem of a form. */
export const alert = (problem: string | undefined): Html =>
  problem === undefined ? html`` : html`<p class="notice" role="alert">${problem}</p>`

/**
 * Renders the problem of a form, with a link to each invalid field. The notice receives the focus, so that keyboard
 * users and screen readers begin there.
 */
export const formAlert = (
  problem: FormProblem | undefined,
  labels: Readonly<Record<string, string>>,
  { texts }: Frame,
): Html => {
  const listed = (problem?.fields ?? []).filter(({ name }) => Object.hasOwn(labels, name))
  if (problem?.isNeutral) return note(problem.sentence)
  if (listed.length === 0) return alert(problem?.sentence)
  return html`<div class="notice" role="alert" tabindex="-1" autofocus>
<p>${texts.frame.correct}</p>
<ul>
${listed.map(({ name, sentence, line }) => html`<li><a href="#${name}">${labels[name]}</a> ${line === undefined ? sentence : texts.frame.line({ line, sentence })}</li>`)}
</ul>
</div>`
}

/** Renders the confirmation of a completed action. */
export const done = (sentence: string | undefined): Html =>
  sentence === undefined ? html`` : html`<p class="notice" role="status">${sentence}</p>`

/** Renders a notice that reports neither a success nor a problem. */
export const note = (sentence: string): Html =>
  html`<p class="notice neutral" role="status">${sentence}</p>`

/** Renders a warning. */
export const caution = (sentence: Html | string): Html =>
  html`<p class="notice caution">${sentence}</p>`

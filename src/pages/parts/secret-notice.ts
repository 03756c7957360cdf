import type { FormProblem } from '../form-problem.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { alert } from './notices.ts'

/** Renders the problem of a form. If the user searched for a secret, adds a link to the page for leaked secrets. */
export const secretNotice = (problem: FormProblem | undefined, frame: Frame): Html =>
  problem?.sentence === frame.texts.problems.looksLikeSecret
    ? html`<p class="notice" role="alert">${problem.sentence} <a href="${frame.links.leaked}">${frame.texts.leaked.title}</a></p>`
    : alert(problem?.sentence)

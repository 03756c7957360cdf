import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { alert } from './notices.ts'

/** Renders the problem of the last form. If the user searched for a secret, adds a link to the page for leaked secrets. */
export const secretNotice = ({ links, outcome: { problem }, texts }: Frame): Html =>
  problem?.sentence === texts.problems.looksLikeSecret
    ? html`<p class="notice" role="alert">${problem.sentence} <a href="${links.leaked}">${texts.leaked.title}</a></p>`
    : alert(problem?.sentence)

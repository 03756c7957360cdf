import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { AdminView } from '../models/admin.ts'
import { type FormProblem, formId } from './forms.ts'
import { alert } from './notices.ts'

/**
 * Renders the form that searches one list without changing the search in the other list. The form is sent by POST, so that
 * a secret that somebody pastes appears in no URL.
 */
export const searchForm = (view: AdminView, field: 'client' | 'token', frame: Frame): Html => {
  const { admin: texts } = frame.texts
  const { action, search } = view
  const other = field === 'client' ? 'token' : 'client'
  const [label, hint] =
    field === 'client'
      ? [texts.searchClients, texts.searchClientsHint]
      : [texts.searchTokens, texts.searchTokensHint]
  const rest = search[other] === '' ? '' : `?${new URLSearchParams({ [other]: search[other] })}`
  return html`<form class="search" method="post" action="${action}" role="search" aria-label="${label}">
${formId(frame)}
<input type="hidden" name="search" value="${field}">
${search[other] === '' ? '' : html`<input type="hidden" name="${other}" value="${search[other]}">`}
<label for="search-${field}">${label}</label>
<input id="search-${field}" name="${field}" type="search" value="${search[field]}" placeholder="${hint}" autocomplete="off">
<button type="submit" class="quiet">${texts.search}</button>
${search[field] === '' ? '' : html`<a href="${action}${rest}">${texts.all}</a>`}
</form>`
}

/** Renders the problem of a form. For a search for a secret, links to the page for leaked secrets. */
export const secretNotice = (problem: FormProblem | undefined, frame: Frame): Html =>
  problem?.sentence === frame.texts.problems.looksLikeSecret
    ? html`<p class="notice" role="alert">${problem.sentence} <a href="${frame.links.leaked}">${frame.texts.leaked.title}</a></p>`
    : alert(problem?.sentence)

import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { AdminView } from '../models/admin.ts'

/** Renders the form that searches one list without changing the search in the other list. */
export const searchForm = (view: AdminView, field: 'client' | 'token', frame: Frame): Html => {
  const { admin: texts } = frame.texts
  const { action, search } = view
  const other = field === 'client' ? 'token' : 'client'
  const [label, hint] =
    field === 'client'
      ? [texts.searchClients, texts.searchClientsHint]
      : [texts.searchTokens, texts.searchTokensHint]
  const rest = search[other] === '' ? '' : `?${new URLSearchParams({ [other]: search[other] })}`
  return html`<form class="search" method="get" action="${action}" role="search" aria-label="${label}">
${search[other] === '' ? '' : html`<input type="hidden" name="${other}" value="${search[other]}">`}
<label for="search-${field}">${label}</label>
<input id="search-${field}" name="${field}" type="search" value="${search[field]}" placeholder="${hint}" autocomplete="off">
<button type="submit" class="quiet">${texts.search}</button>
${search[field] === '' ? '' : html`<a href="${action}${rest}">${texts.all}</a>`}
</form>`
}

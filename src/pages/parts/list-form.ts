import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { ArrangedList } from '../models/list.ts'
import { numberText } from './facts.ts'

/** Renders the form with which a user searches, sorts and filters a list. */
export const listForm = (list: ArrangedList<unknown>, frame: Frame): Html => {
  const { list: texts } = frame.texts
  const { action, chosen, orders, filters, scopes } = list
  const isChanged = chosen.q !== '' || chosen.filter !== '' || chosen.scope !== ''
  return html`<form class="filter" method="get" action="${action}#list" role="search" aria-label="${texts.search}">
<div>
<label for="q">${texts.search}</label>
<input id="q" name="q" type="search" value="${chosen.q}" placeholder="${texts.searchHint}" autocomplete="off" maxlength="255">
</div>
${select(
  'sort',
  texts.order,
  orders.map((order): Option => [order, texts.orders[order]]),
  chosen.sort,
)}
${select(
  'filter',
  texts.filter,
  [['', texts.everything], ...filters.map((filter): Option => [filter, texts.filters[filter]])],
  chosen.filter,
)}
${
  scopes.length < 2
    ? ''
    : select(
        'scope',
        texts.scope,
        [['', texts.anyScope], ...scopes.map((scope): Option => [scope, scope])],
        chosen.scope,
      )
}
<p>
<button type="submit" class="quiet">${texts.apply}</button>
${isChanged ? html`<a href="${action}#list">${texts.clear}</a>` : ''}
</p>
</form>`
}

type Option = readonly [value: string, label: string]

const select = (
  name: string,
  label: string,
  options: readonly Option[],
  chosen: string,
): Html => html`<div>
<label for="${name}">${label}</label>
<select id="${name}" name="${name}">
${options.map(([value, text]) => html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`)}
</select>
</div>`

/** Returns the number of found entries, and the number of all entries if they differ. */
export const listCount = (list: ArrangedList<unknown>, frame: Frame): string => {
  const { list: texts, facts } = frame.texts
  const { found, searched, hasMore } = list
  if (found === searched)
    return hasMore ? facts.moreThan(texts.entries(searched)) : texts.entries(found)
  return texts.found(numberText(frame, found), texts.entries(searched))
}

/** Renders links to the neighbouring pages of a list. The links lead to the list and not to the top of the page. */
export const listPaging = (
  { previous, next }: Pick<ArrangedList<unknown>, 'previous' | 'next'>,
  title: string,
  { texts: { frame: texts } }: Frame,
): Html =>
  previous === null && next === null
    ? html``
    : html`<nav class="paging" aria-label="${texts.pages}: ${title}">
${previous === null ? '' : html`<a class="button quiet" href="${previous}" rel="prev">${texts.previous}</a>`}
${next === null ? '' : html`<a class="button quiet" href="${next}" rel="next">${texts.next}</a>`}
</nav>`

import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { numberText } from './facts.ts'
import { formId } from './forms.ts'
import type { Arranged } from './lists.ts'

/** The search field of a list in the administration. */
export interface AdminSearch {
  /** The name of the search field, and the value of the hidden field `search`. */
  readonly field: 'client' | 'token'
  readonly label: string
  readonly hint: string
}

/** Returns whether the user searches or filters a list. */
export const isNarrowed = ({ chosen }: Arranged): boolean =>
  [chosen.q, chosen.filter, chosen.kind, chosen.scope].some((part) => part !== '')

/**
 * Renders the form with which a user searches, sorts and filters a list. In the administration, the form is sent by
 * POST, so that a pasted secret does not appear in a URL.
 */
export const listForm = (list: Arranged, frame: Frame, search?: AdminSearch): Html => {
  const { list: texts } = frame.texts
  const { action, chosen, orders, filters, kinds, scopes } = list
  const { field, label, hint } = search ?? {
    field: 'q',
    label: texts.search,
    hint: texts.searchHint,
  }
  const [method, target] = search ? ['post', action] : ['get', `${action}#list`]
  return html`<form class="filter" method="${method}" action="${target}" role="search" aria-label="${label}">
${search ? html`${formId(frame)}<input type="hidden" name="search" value="${field}">` : ''}
<div>
<label for="q">${label}</label>
<input id="q" name="${field}" type="search" value="${chosen.q}" placeholder="${hint}" autocomplete="off"${search ? '' : html` maxlength="255"`}>
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
  kinds.length === 0
    ? ''
    : select(
        'kind',
        texts.kind,
        [['', texts.anyKind], ...kinds.map((kind): Option => [kind, texts.kinds[kind]])],
        chosen.kind,
      )
}
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
${isNarrowed(list) ? html`<a href="${action}#list">${texts.clear}</a>` : ''}
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

/** Returns the number of found entries as text, with the number of searched entries if the numbers differ. */
export const listCount = (list: Arranged, frame: Frame): string => {
  const { list: texts, facts } = frame.texts
  const { count, searched, is_partial: isPartial } = list
  if (count === searched)
    return isPartial ? facts.moreThan(texts.entries(searched)) : texts.entries(count)
  return texts.found({ found: numberText(frame, count), all: texts.entries(searched) })
}

/** Renders links to the neighbouring pages of a list. The links lead to the list instead of the top of the page. */
export const listPaging = (
  { previous, next }: Pick<Arranged, 'previous' | 'next'>,
  title: string,
  { texts: { frame: texts } }: Frame,
): Html =>
  previous === null && next === null
    ? html``
    : html`<nav class="paging" aria-label="${texts.pages}: ${title}">
${previous === null ? '' : html`<a class="button quiet" href="${previous}#list" rel="prev">${texts.previous}</a>`}
${next === null ? '' : html`<a class="button quiet" href="${next}#list" rel="next">${texts.next}</a>`}
</nav>`

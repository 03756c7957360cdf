import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { Listed } from './lists.ts'

/** Renders a link back to a list. */
export const back = (
  href: string,
  list: 'tokens' | 'clients' | 'authorized',
  { texts }: Frame,
): Html => html`<p class="back"><a href="${href}">${texts.applications[list].title}</a></p>`

/** Renders links to the first and the next page of a list. */
export const paging = (
  { first, next }: Pick<Listed<unknown>, 'first' | 'next'>,
  title: string,
  { texts }: Frame,
): Html =>
  first === null && next === null
    ? html``
    : html`<nav class="paging" aria-label="${texts.frame.pages}: ${title}">
${first === null ? '' : html`<a class="button quiet" href="${first}">${texts.frame.first}</a>`}
${next === null ? '' : html`<a class="button quiet" href="${next}" rel="next">${texts.frame.next}</a>`}
</nav>`

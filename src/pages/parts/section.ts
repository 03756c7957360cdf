import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { Listed } from './lists.ts'
import { paging } from './navigation.ts'

/** A section of a page with a list. */
export interface Section<Item> {
  /** The `id` of the heading. */
  readonly id: string
  readonly title: string
  readonly about: string
  /** The link next to the title, such as a link to the page that creates an item. */
  readonly action?: Html
  /** The markup between the title and the list. */
  readonly above?: Html
  readonly list: Listed<Item>
  readonly row: (item: Item, index: number) => Html
  /** The markup that replaces an empty list. */
  readonly empty: Html
  /** Whether each entry has two lines. */
  readonly isCompact?: boolean
}

/** Renders a heading, a sentence, and one page of a list with links to other pages. */
export const section = <Item>(parts: Section<Item>, frame: Frame): Html => {
  const { id, title, about, action, above, list, row, empty, isCompact = false } = parts
  return html`<section class="list" aria-labelledby="${id}">
<div class="title">
<h2 id="${id}">${title}</h2>
${action}
</div>
<p class="about">${about}</p>
${above}
${
  list.items.length === 0
    ? html`<div class="empty">${empty}</div>`
    : html`<ul class="${isCompact ? 'items rows' : 'items'}">
${list.items.map((item, index) => html`<li>${row(item, index)}</li>`)}
</ul>`
}
${paging(list, title, frame)}
</section>`
}

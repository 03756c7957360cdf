import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { type AdminSearch, isNarrowed, listCount, listForm, listPaging } from './list-form.ts'
import type { Arranged } from './lists.ts'

/** A section of a page with a list that users can search, sort and filter. */
export interface ArrangedSection<Item> {
  readonly list: Arranged
  /** The entries of this page of the list. */
  readonly items: readonly Item[]
  readonly title: string
  /** The search field of a list in the administration; undefined in other lists. */
  readonly search?: AdminSearch
  readonly row: (item: Item) => Html
  /** The markup that replaces an empty list. */
  readonly empty: Html
  /** The form `selected`, with the button that acts on the selected entries. */
  readonly act?: Html
}

/**
 * Renders the form that arranges a list, the number of entries, one page of the list, and links to other pages. If the
 * list has no entries at all, renders only `empty`.
 */
export const arrangedSection = <Item>(
  { list, items, title, search, row, empty, act }: ArrangedSection<Item>,
  frame: Frame,
): Html => {
  const { list: texts } = frame.texts
  if (list.searched === 0 && !list.is_partial && !isNarrowed(list))
    return html`<div class="empty">${empty}</div>`
  return html`${listForm(list, frame, search)}
<section class="list" aria-labelledby="list">
<h2 id="list" tabindex="-1">${listCount(list, frame)}</h2>
${list.is_partial ? html`<p class="hint">${texts.partial}</p>` : ''}
${
  items.length === 0
    ? html`<div class="empty"><p>${list.next === null ? texts.nothing : texts.nothingYet}</p></div>`
    : html`<ul class="items rows">
${items.map((item) => html`<li>${row(item)}</li>`)}
</ul>`
}
${items.length === 0 ? '' : act}
${listPaging(list, title, frame)}
</section>`
}

import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import {
  type ActivityItem,
  activityRow,
  type Exports,
  exportLinks,
  periodFields,
} from '../parts/activity-row.ts'
import type { Listed } from '../parts/lists.ts'
import { paging } from '../parts/navigation.ts'

/** The view of the page with the activity of a user's account. */
export interface ActivityView {
  /** The URL of the page. A GET with `since`, `until` or `token` lists the matching events. */
  readonly action: string
  readonly search: { readonly since: string; readonly until: string; readonly token: string }
  readonly exports: Exports
  readonly events: Listed<ActivityItem>
}

/** The page that lists the events of a user's account, the latest event first. */
export const activityPage: PageTemplate<ActivityView> = (view, frame) => {
  const { events, action } = view
  const { activity: texts, admin } = frame.texts
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
<p class="about">${texts.about}</p>
${searchForm(view, frame)}
${
  events.items.length === 0
    ? html`<div class="empty"><p>${isSearched(view) ? admin.noEvents : texts.none}</p></div>`
    : html`<ul class="items">
${events.items.map((item) => html`<li>${activityRow(item, action, frame)}</li>`)}
</ul>`
}
${paging(events, texts.title, frame)}
${exportLinks(view.exports, frame)}`,
    { place: { entry: 'activity' } },
  )
}

const isSearched = ({ search }: ActivityView): boolean =>
  Object.values(search).some((text) => text !== '')

const searchForm = (view: ActivityView, frame: Frame): Html => {
  const { action, search } = view
  const { admin } = frame.texts
  return html`<form class="filter" method="get" action="${action}" role="search" aria-label="${admin.search}">
${search.token === '' ? '' : html`<input type="hidden" name="token" value="${search.token}">`}
${periodFields(search, frame)}
<p class="actions"><button type="submit" class="quiet">${admin.search}</button>
${isSearched(view) ? html`<a href="${action}">${admin.all}</a>` : ''}</p>
</form>`
}

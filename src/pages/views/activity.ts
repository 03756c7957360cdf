import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { activityRow, type Exports, exportLinks, periodFields } from '../parts/activity-row.ts'
import { paging } from '../parts/navigation.ts'
import type { activity } from '../shapes/activity.ts'
import type { Json } from '../shapes/shape.ts'

/** The view of the page with the activity of a user's account. */
export interface ActivityView extends Json<typeof activity> {
  /** The URL of the first page; null on the first page. */
  readonly first: string | null
  /** The condition of the listed events: a GET with these fields lists the matching events. */
  readonly search: { readonly since: string; readonly until: string; readonly token: string }
  readonly exports: Exports
}

/** The page that lists the events of a user's account, the latest event first. */
export const activityPage: PageTemplate<ActivityView> = (view, frame) => {
  const { events } = view
  const { activity: texts, admin } = frame.texts
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
<p class="about">${texts.about}</p>
${searchForm(view, frame)}
${
  events.length === 0
    ? html`<div class="empty"><p>${isSearched(view) ? admin.noEvents : texts.none}</p></div>`
    : html`<ul class="items">
${events.map((event) => html`<li>${activityRow(event, frame.links.activity, frame)}</li>`)}
</ul>`
}
${paging(view, texts.title, frame)}
${exportLinks(view.exports, frame)}`,
    { place: { entry: 'activity' } },
  )
}

const isSearched = ({ search }: ActivityView): boolean =>
  Object.values(search).some((text) => text !== '')

const searchForm = (view: ActivityView, frame: Frame): Html => {
  const { search } = view
  const action = frame.links.activity
  const { admin } = frame.texts
  return html`<form class="filter" method="get" action="${action}" role="search" aria-label="${admin.search}">
${search.token === '' ? '' : html`<input type="hidden" name="token" value="${search.token}">`}
${periodFields(search, frame)}
<p class="actions"><button type="submit" class="quiet">${admin.search}</button>
${isSearched(view) ? html`<a href="${action}">${admin.all}</a>` : ''}</p>
</form>`
}

import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import type { Listed } from '../models/applications.ts'
import { type ActivityItem, activityRow } from '../parts/activity-row.ts'
import { paging } from '../parts/navigation.ts'

/** The view of the page with the activity of a user's account. */
export interface ActivityView {
  readonly events: Listed<ActivityItem>
}

/** The page that lists the events of a user's account, the latest event first. */
export const activityPage: PageTemplate<ActivityView> = ({ events }, frame) => {
  const { activity: texts } = frame.texts
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
<p class="about">${texts.about}</p>
${
  events.items.length === 0
    ? html`<div class="empty"><p>${texts.none}</p></div>`
    : html`<ul class="items">
${events.items.map((item) => html`<li>${activityRow(item, frame)}</li>`)}
</ul>`
}
${paging(events, texts.title, frame)}`,
    { place: { entry: 'activity' } },
  )
}

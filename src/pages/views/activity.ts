import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import type { Listed } from '../models/applications.ts'
import { eventName } from '../parts/event-name.ts'
import { facts } from '../parts/facts.ts'
import { paging } from '../parts/navigation.ts'
import { time } from '../parts/times.ts'

/** An event of the user's account. */
export interface ActivityItem {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The name of the event, such as `login.succeeded`. */
  readonly event: string
  /** The name of the application or the personal token; may be empty. */
  readonly subject: string
  /** Whether somebody other than the user of the account caused the event. */
  readonly isByAnother: boolean
  readonly address: string | null
  readonly browser: string | null
}

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
${events.items.map((item) => html`<li>${row(item, frame)}</li>`)}
</ul>`
}
${paging(events, texts.title, frame)}`,
    { place: { entry: 'activity' } },
  )
}

const row = (item: ActivityItem, frame: Frame): Html => {
  const { activity: texts, admin } = frame.texts
  const { at, event, subject, isByAnother, address, browser } = item
  return html`<div class="name">
<h2>${eventName(event, frame)}</h2>
${subject === '' ? '' : html`<bdi>${subject}</bdi>`}
</div>
${facts([
  [admin.at, time(frame, at)],
  isByAnother ? [admin.actor, texts.somebodyElse] : undefined,
  address === null ? undefined : [texts.from, html`<bdi>${address}</bdi>`],
  browser === null ? undefined : [texts.browser, html`<bdi>${browser}</bdi>`],
])}`
}

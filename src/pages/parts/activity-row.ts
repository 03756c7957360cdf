import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { eventName } from './event-name.ts'
import { facts } from './facts.ts'
import { time } from './times.ts'

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

/** Renders an event of the user's account. */
export const activityRow = (item: ActivityItem, frame: Frame): Html => {
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

import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { eventName } from './event-name.ts'
import { type Fact, facts, numberText } from './facts.ts'
import { time } from './times.ts'

/** A changed field with its texts before and after the change. */
export interface ChangedField {
  readonly field: string
  readonly before: string
  readonly after: string
}

/** The URLs of files with the found events, and the maximum number of events in a file. */
export interface Exports {
  readonly csv: string
  readonly jsonLines: string
  readonly max: number
}

/** An event of the user's account. */
export interface ActivityItem {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The name of the event, such as `login.succeeded`. */
  readonly event: string
  /** The name of the application or of the personal token; may be empty. */
  readonly subject: string
  readonly tokenId: number | null
  /** The last four characters of the token; null if they are unknown. */
  readonly ending: string | null
  readonly changes: readonly ChangedField[]
  /** Whether somebody other than the user of the account caused the event. */
  readonly isByAnother: boolean
  readonly address: string | null
  readonly browser: string | null
}

/** Renders an event of the user's account. `action` is the URL of the page. */
export const activityRow = (item: ActivityItem, action: string, frame: Frame): Html => {
  const { activity: texts, admin } = frame.texts
  const { at, isByAnother, address, browser } = item
  return html`${eventTitle(item, frame)}
${facts([
  [admin.at, time(frame, at)],
  isByAnother ? [admin.actor, texts.somebodyElse] : undefined,
  address === null ? undefined : [texts.from, html`<bdi>${address}</bdi>`],
  browser === null ? undefined : [texts.browser, html`<bdi>${browser}</bdi>`],
  tokenFact(item, action, frame),
])}
${changesOf(item.changes, frame)}`
}

/** Renders the name of an event, the name of its subject, and the last characters of its token. */
export const eventTitle = (
  { event, subject, ending }: Pick<ActivityItem, 'event' | 'subject' | 'ending'>,
  frame: Frame,
): Html => html`<div class="name">
<h2>${eventName(event, frame)}</h2>
${subject === '' ? '' : html`<bdi>${subject}</bdi>`}
${ending === null ? '' : html`<bdi dir="ltr">…${ending}</bdi>`}
</div>`

/** Returns the ID of the token with a link to its events; undefined for an event without a token. */
export const tokenFact = (
  { tokenId }: Pick<ActivityItem, 'tokenId'>,
  action: string,
  frame: Frame,
): Fact =>
  tokenId === null
    ? undefined
    : [frame.texts.admin.token, html`<a href="${action}?token=${tokenId}">${tokenId}</a>`]

/** Renders the changed fields of an event, hidden until the user opens them; nothing without changes. */
export const changesOf = (changes: readonly ChangedField[], frame: Frame): Html =>
  changes.length === 0
    ? html``
    : html`<details>
<summary>${frame.texts.activity.changes} (${numberText(frame, changes.length)})</summary>
${changeList(changes, frame)}
</details>`

/** Renders the changed fields of an event. */
export const changeList = (changes: readonly ChangedField[], frame: Frame): Html => {
  const { activity: texts } = frame.texts
  const shown = (text: string): Html =>
    text === '' ? html`<i>${texts.emptyValue}</i>` : html`<bdi>${text}</bdi>`
  return html`<dl class="changes">
${changes.map(({ field, before, after }) => html`<div><dt><code>${field}</code></dt><dd><del>${shown(before)}</del> <ins>${shown(after)}</ins></dd></div>`)}
</dl>`
}

/** Renders the fields for the first and the last day of the listed events. */
export const periodFields = (
  { since, until }: { readonly since: string; readonly until: string },
  { texts: { activity } }: Frame,
): Html => html`<p><label for="since">${activity.since} (UTC)</label>
<input id="since" name="since" type="date" value="${since}"></p>
<p><label for="until">${activity.until} (UTC)</label>
<input id="until" name="until" type="date" value="${until}"></p>`

/** Renders the links to files with the found events. */
export const exportLinks = ({ csv, jsonLines, max }: Exports, frame: Frame): Html => {
  const { activity: texts } = frame.texts
  return html`<p class="exports">${texts.download}: <a href="${csv}" download>CSV</a> <a href="${jsonLines}" download>JSON Lines</a> <small>${texts.atMost(numberText(frame, max))}</small></p>`
}

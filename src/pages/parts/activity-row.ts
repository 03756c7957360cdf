import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { ownEvent } from '../shapes/activity.ts'
import type { Json } from '../shapes/shape.ts'
import { deviceName } from './device-name.ts'
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

/** Renders an event of the user's account. `action` is the URL of the page. */
export const activityRow = (item: Json<typeof ownEvent>, action: string, frame: Frame): Html => {
  const { activity: texts, admin } = frame.texts
  const { at, actor, address, user_agent: userAgent, token_id: tokenId } = item
  const browser = userAgent === null ? null : deviceName(userAgent)
  return html`${eventTitle({ ...item, ending: endingIn(item) }, frame)}
${facts([
  [admin.at, time(frame, at)],
  actor === 'another_user' ? [admin.actor, texts.somebodyElse] : undefined,
  address ? [texts.from, html`<bdi>${address}</bdi>`] : undefined,
  browser === null ? undefined : [texts.browser, html`<bdi>${browser}</bdi>`],
  tokenFact({ tokenId }, action, frame),
])}
${changesOf(changesIn(item), frame)}`
}

/** The members of an event that depend on its name. */
interface Details {
  readonly details: Readonly<Record<string, unknown>>
}

/** Returns the last characters of the token of an event; null if the event does not contain them. */
export const endingIn = ({ details }: Details): string | null =>
  typeof details.ending === 'string' ? details.ending : null

/** Returns the changed fields of an event. */
export const changesIn = ({ details }: Details): readonly ChangedField[] =>
  typeof details.changes === 'object' && details.changes !== null
    ? Object.entries(details.changes).flatMap(([field, texts]: [string, unknown]) =>
        Array.isArray(texts) ? [{ field, before: String(texts[0]), after: String(texts[1]) }] : [],
      )
    : []

/** Renders the name of an event, the name of its subject, and the last characters of its token. */
export const eventTitle = (
  {
    event,
    subject,
    ending,
  }: { readonly event: string; readonly subject: string; readonly ending: string | null },
  frame: Frame,
): Html => html`<div class="name">
<h2>${eventName(event, frame)}</h2>
${subject === '' ? '' : html`<bdi>${subject}</bdi>`}
${ending === null ? '' : html`<bdi dir="ltr">…${ending}</bdi>`}
</div>`

/** Returns the ID of the token with a link to its events; undefined for an event without a token. */
export const tokenFact = (
  { tokenId }: { readonly tokenId: number | null },
  action: string,
  frame: Frame,
): Fact =>
  tokenId === null
    ? undefined
    : [frame.texts.admin.token, html`<a href="${action}?token=${tokenId}">${tokenId}</a>`]

/** Renders the changed fields of an event, hidden until the user opens them; nothing without changes. */
const changesOf = (changes: readonly ChangedField[], frame: Frame): Html =>
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

import { addresses } from '../addresses.ts'
import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { adminEntries } from '../parts/admin-navigation.ts'
import { numberText } from '../parts/facts.ts'
import { time } from '../parts/times.ts'
import type { overview } from '../shapes/administration.ts'
import type { Json } from '../shapes/shape.ts'

/** The overview of the administration. */
export const adminPage: PageTemplate<Json<typeof overview>> = ({ refused }, frame) => {
  const { admin: texts } = frame.texts
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
<ul class="ways">
${adminEntries(frame).map(({ href, title, about }) => html`<li><a href="${href}">${title}</a><p>${about}</p></li>`)}
</ul>
${refused.length === 0 ? '' : mostRefused(refused, frame)}`,
    { place: { entry: 'admin' } },
  )
}

/** Renders the clients whose requests were refused most often. */
const mostRefused = (clients: Json<typeof overview>['refused'], frame: Frame): Html => {
  const { admin: texts } = frame.texts
  const to = addresses(frame.links)
  const times = (count: number): string => `${numberText(frame, count)} ×`
  return html`<details class="card">
<summary>${texts.mostRefused}</summary>
<p class="hint">${texts.mostRefusedAbout}</p>
<ul class="refusals">
${clients.map(
  (client) => html`<li>${time(frame, client.last_at)}
<a href="${to.adminApplication(client.client_id)}"><bdi>${client.name}</bdi></a> ${times(client.count)}
<ul>
${client.reasons.map(({ count, description }) => html`<li>${times(count)} <span lang="en" dir="ltr">${description}</span></li>`)}
</ul></li>`,
)}
</ul>
</details>`
}

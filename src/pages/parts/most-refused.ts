import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { RefusedClientItem } from '../models/admin.ts'
import { numberText } from './facts.ts'
import { time } from './times.ts'

/** Renders the clients whose requests were refused most often; nothing without refused requests. */
export const mostRefused = (clients: readonly RefusedClientItem[], frame: Frame): Html => {
  if (clients.length === 0) return html``
  const { admin: texts } = frame.texts
  const times = (count: number): string => `${numberText(frame, count)} ×`
  return html`<details class="card">
<summary>${texts.mostRefused}</summary>
<p class="hint">${texts.mostRefusedAbout}</p>
<ul class="refusals">
${clients.map(
  ({ name, href, count, at, reasons }) => html`<li>${time(frame, at)}
<a href="${href}"><bdi>${name}</bdi></a> ${times(count)}
<ul>
${reasons.map((reason) => html`<li>${times(reason.count)} <span lang="en" dir="ltr">${reason.description}</span></li>`)}
</ul></li>`,
)}
</ul>
</details>`
}

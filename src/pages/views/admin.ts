import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import type { AdminView } from '../models/admin.ts'
import { adminEntries } from '../parts/admin-navigation.ts'
import { mostRefused } from '../parts/most-refused.ts'

/** The overview of the administration. */
export const adminPage: PageTemplate<AdminView> = (view, frame) => {
  const { admin: texts } = frame.texts
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
<ul class="ways">
${adminEntries(frame).map(({ href, title, about }) => html`<li><a href="${href}">${title}</a><p>${about}</p></li>`)}
</ul>
${mostRefused(view.mostRefused, frame)}`,
    { place: { entry: 'admin' } },
  )
}

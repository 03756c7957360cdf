import { addresses } from '../addresses.ts'
import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { arrangedSection } from '../parts/arranged-section.ts'
import { authorizedRow, revokeAllForm } from '../parts/authorized-row.ts'
import type { ListChoices } from '../parts/lists.ts'
import { outcome } from '../parts/outcome.ts'
import { selectionBar } from '../parts/selection-bar.ts'
import type { authorizedApplications } from '../shapes/applications.ts'
import type { Json } from '../shapes/shape.ts'

/** The view of the page that lists the applications that a user authorized. */
export interface AuthorizedView extends Json<typeof authorizedApplications>, ListChoices {}

/** The page that lists the applications that a user authorized. */
export const authorizedPage: PageTemplate<AuthorizedView> = (view, frame) => {
  const { authorized: texts } = frame.texts.applications
  const { authorized } = view
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
<p class="about">${texts.about}</p>
${outcome(frame)}
${arrangedSection(
  {
    list: view,
    items: authorized,
    title: texts.title,
    row: (item) => authorizedRow(item, { items: authorized, back: view.back }, frame),
    empty: html`<p>${texts.none}</p><p>${texts.invite}</p>`,
    act: selectionBar(addresses(frame.links).selectedApplications, view.back, texts.revokeSelected),
  },
  frame,
)}
${view.searched > 1 || view.is_partial ? revokeAllForm(frame) : ''}`,
    { place: { entry: 'authorized' } },
  )
}

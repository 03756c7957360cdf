import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import type { AuthorizedView } from '../models/applications.ts'
import { arrangedSection } from '../parts/arranged-section.ts'
import { authorizedRow, revokeAllForm } from '../parts/authorized-row.ts'
import { outcome } from '../parts/outcome.ts'
import { selectionBar } from '../parts/selection-bar.ts'

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
    list: authorized,
    title: texts.title,
    row: (item) => authorizedRow(item, authorized, frame),
    empty: html`<p>${texts.none}</p><p>${texts.invite}</p>`,
    act: selectionBar(view.revokeSelected, authorized.back, texts.revokeSelected),
  },
  frame,
)}
${authorized.searched > 1 || authorized.hasMore ? revokeAllForm(view.revokeAllAction, frame) : ''}`,
    { place: { entry: 'authorized' } },
  )
}

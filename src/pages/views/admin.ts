import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import type { AdminView } from '../models/admin.ts'
import { adminClientsSection } from '../parts/admin-clients.ts'
import { adminNavigation } from '../parts/admin-navigation.ts'
import { secretNotice } from '../parts/admin-search.ts'
import { adminTokensSection } from '../parts/admin-tokens.ts'
import { mostRefused } from '../parts/most-refused.ts'
import { formAlert } from '../parts/notices.ts'

/** The administration page. */
export const adminPage: PageTemplate<AdminView> = (view, frame) => {
  const { admin: texts } = frame.texts
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
${adminNavigation('applications', frame)}
${view.notDeleted === undefined ? secretNotice(view.problem, frame) : formAlert(view.problem, { confirm_name: texts.delete }, frame)}
${mostRefused(view.mostRefused, frame)}
${adminClientsSection(view, frame)}
${adminTokensSection(view, frame)}`,
    { place: { entry: 'admin' } },
  )
}

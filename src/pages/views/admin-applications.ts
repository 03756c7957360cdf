import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import type { AdminApplicationsView } from '../models/admin.ts'
import { adminClientRow } from '../parts/admin-client-row.ts'
import { adminNavigation } from '../parts/admin-navigation.ts'
import { arrangedSection } from '../parts/arranged-section.ts'
import { done } from '../parts/notices.ts'
import { secretNotice } from '../parts/secret-notice.ts'

/** The page on which administrators find applications. */
export const adminApplicationsPage: PageTemplate<AdminApplicationsView> = (view, frame) => {
  const { admin: texts } = frame.texts
  const { clients } = view
  return layout(
    frame,
    texts.clients,
    html`<h1>${texts.clients}</h1>
${adminNavigation('applications', frame)}
${secretNotice(frame)}
${done(view.done)}
${arrangedSection(
  {
    list: clients,
    items: clients.items,
    title: texts.clients,
    search: { field: 'client', label: texts.searchClients, hint: texts.searchClientsHint },
    row: (client) => adminClientRow(client, clients, frame),
    empty: html`<p>${texts.noClients}</p>`,
  },
  frame,
)}`,
    { place: { entry: 'admin', isBelow: true } },
  )
}

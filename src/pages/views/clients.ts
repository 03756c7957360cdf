import { addresses } from '../addresses.ts'
import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { arrangedSection } from '../parts/arranged-section.ts'
import { clientRow } from '../parts/client-row.ts'
import type { ListChoices } from '../parts/lists.ts'
import { outcome } from '../parts/outcome.ts'
import type { clients } from '../shapes/applications.ts'
import type { Json } from '../shapes/shape.ts'

/** The view of the page that lists the applications that a user registered. */
export interface ClientsView extends Json<typeof clients>, ListChoices {}

/** The page that lists the applications that a user registered. */
export const clientsPage: PageTemplate<ClientsView> = (view, frame) => {
  const { clients: texts } = frame.texts.applications
  return layout(
    frame,
    texts.title,
    html`<div class="title">
<h1>${texts.title}</h1>
<a class="button" href="${addresses(frame.links).newClient}">${texts.create}</a>
</div>
<p class="about">${texts.about}</p>
${outcome(frame)}
${arrangedSection(
  {
    list: view,
    items: view.clients,
    title: texts.title,
    row: (client) => clientRow(client, frame),
    empty: html`<p>${texts.none}</p><p>${texts.invite}</p>`,
  },
  frame,
)}`,
    { place: { entry: 'clients' } },
  )
}

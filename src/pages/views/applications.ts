import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import type { ApplicationsView } from '../models/applications.ts'
import { authorizedSection } from '../parts/authorized-section.ts'
import { clientsSection } from '../parts/clients-section.ts'
import { alert, done } from '../parts/notices.ts'
import { tokensSection } from '../parts/tokens-section.ts'

/** The page that lists a user's own applications, personal tokens and authorized applications. */
export const applicationsPage: PageTemplate<ApplicationsView> = (view, frame) => {
  const { applications: texts } = frame.texts
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
${alert(view.problem?.sentence)}
${done(view.done)}
${clientsSection(view, frame)}
${tokensSection(view, frame)}
${authorizedSection(view, frame)}`,
    { place: { entry: 'applications' } },
  )
}

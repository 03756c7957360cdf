import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import type { AdminView } from '../models/admin.ts'
import { adminClientsSection } from '../parts/admin-clients.ts'
import { adminTokensSection } from '../parts/admin-tokens.ts'
import { alert, done } from '../parts/notices.ts'

/** The administration page. */
export const adminPage: PageTemplate<AdminView> = (view, frame) => {
  const { admin: texts, activity } = frame.texts
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
${done(view.done)}
${alert(view.problem?.sentence)}
${adminClientsSection(view, frame)}
${adminTokensSection(view, frame)}
<section class="list" aria-labelledby="activity">
<h2 id="activity">${activity.title}</h2>
<p class="about">${texts.activityAbout}</p>
<p><a class="button quiet" href="${frame.links.adminActivity}">${activity.title}</a></p>
</section>`,
    { place: { entry: 'admin' } },
  )
}

import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import type { AdminTokensView } from '../models/admin.ts'
import { adminNavigation } from '../parts/admin-navigation.ts'
import { adminTokenRow } from '../parts/admin-token-row.ts'
import { arrangedSection } from '../parts/arranged-section.ts'
import { done } from '../parts/notices.ts'
import { secretNotice } from '../parts/secret-notice.ts'

/** The page on which administrators find tokens. */
export const adminTokensPage: PageTemplate<AdminTokensView> = (view, frame) => {
  const { admin: texts } = frame.texts
  const { tokens } = view
  return layout(
    frame,
    texts.tokens,
    html`<h1>${texts.tokens}</h1>
${adminNavigation('tokens', frame)}
${secretNotice(frame)}
${done(view.done)}
${arrangedSection(
  {
    list: tokens,
    items: tokens.items,
    title: texts.tokens,
    search: { field: 'token', label: texts.searchTokens, hint: texts.searchTokensHint },
    row: (token) => adminTokenRow(token, tokens, frame),
    empty: html`<p>${texts.noTokens}</p>`,
  },
  frame,
)}`,
    { place: { entry: 'admin', isBelow: true } },
  )
}

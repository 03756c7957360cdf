import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import type { PersonalTokensView } from '../models/applications.ts'
import { arrangedSection } from '../parts/arranged-section.ts'
import { outcome } from '../parts/outcome.ts'
import { selectionBar } from '../parts/selection-bar.ts'
import { tokenRow } from '../parts/token-row.ts'

/** The page that lists a user's personal tokens. */
export const personalTokensPage: PageTemplate<PersonalTokensView> = (view, frame) => {
  const { tokens: texts } = frame.texts.applications
  const { tokens } = view
  return layout(
    frame,
    texts.title,
    html`<div class="title">
<h1>${texts.title}</h1>
<a class="button" href="${view.newToken}">${texts.create}</a>
</div>
<p class="about">${texts.about}</p>
${outcome(frame)}
${arrangedSection(
  {
    list: tokens,
    title: texts.title,
    row: (token) => tokenRow(token, tokens.back, frame),
    empty: html`<p>${texts.none}</p><p>${texts.invite}</p>`,
    act: selectionBar(view.deleteSelected, tokens.back, texts.deleteSelected),
  },
  frame,
)}`,
    { place: { entry: 'tokens' } },
  )
}

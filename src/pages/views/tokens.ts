import { addresses } from '../addresses.ts'
import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { arrangedSection } from '../parts/arranged-section.ts'
import type { ListChoices } from '../parts/lists.ts'
import { outcome } from '../parts/outcome.ts'
import { selectionBar } from '../parts/selection-bar.ts'
import { tokenRow } from '../parts/token-row.ts'
import type { personalTokens } from '../shapes/applications.ts'
import type { Json } from '../shapes/shape.ts'

/** The view of the page that lists a user's personal tokens. */
export interface PersonalTokensView extends Json<typeof personalTokens>, ListChoices {}

/** The page that lists a user's personal tokens. */
export const personalTokensPage: PageTemplate<PersonalTokensView> = (view, frame) => {
  const { tokens: texts } = frame.texts.applications
  const to = addresses(frame.links)
  return layout(
    frame,
    texts.title,
    html`<div class="title">
<h1>${texts.title}</h1>
<a class="button" href="${to.newToken}">${texts.create}</a>
</div>
<p class="about">${texts.about}</p>
${outcome(frame)}
${arrangedSection(
  {
    list: view,
    items: view.personal_tokens,
    title: texts.title,
    row: (token) => tokenRow(token, view.back, frame),
    empty: html`<p>${texts.none}</p><p>${texts.invite}</p>`,
    act: selectionBar(to.selectedTokens, view.back, texts.deleteSelected),
  },
  frame,
)}`,
    { place: { entry: 'tokens' } },
  )
}

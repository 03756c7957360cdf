import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { AdminTokenItem, AdminView } from '../models/admin.ts'
import { searchForm } from './admin-search.ts'
import { ask } from './ask.ts'
import { badge, facts, lastUsed } from './facts.ts'
import { done } from './notices.ts'
import { scopeIds } from './scopes.ts'
import { section } from './section.ts'
import { day, time } from './times.ts'

/** Renders all tokens, which an administrator may delete. */
export const adminTokensSection = (view: AdminView, frame: Frame): Html => {
  const { admin: texts } = frame.texts
  return section(
    {
      id: 'tokens',
      title: texts.tokens,
      about: texts.tokensAbout,
      above: html`${view.actedOn === 'tokens' ? done(view.done) : ''}${searchForm(view, 'token', frame)}`,
      list: view.tokens,
      row: (token) => row(token, view.actAction, frame),
      empty: html`<p>${texts.noTokens}</p>`,
    },
    frame,
  )
}

const row = (token: AdminTokenItem, action: string, frame: Frame): Html => {
  const { admin: texts, facts: words } = frame.texts
  return html`<div class="name">
<h3><bdi>${token.name}</bdi></h3>
${badge(token.isPersonal ? texts.personal : texts.issued)}
</div>
${facts([
  [texts.user, token.user === null ? words.nobody : html`<bdi>${token.user}</bdi>`],
  lastUsed(frame, token),
  [words.expires, token.expires === null ? words.never : time(frame, token.expires)],
  [words.created, day(frame, token.createdAt)],
  token.isPersonal ? undefined : [words.clientId, html`<code dir="ltr">${token.clientId}</code>`],
  [words.permissions, scopeIds(token.scopes, frame)],
])}
${ask(
  {
    label: texts.deleteNamed(token.name),
    about: frame.texts.token.deleteAbout,
    submit: texts.delete,
    action,
    fields: { token_id: String(token.id), act: 'delete' },
  },
  frame,
)}`
}

import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { AdminTokenItem } from '../models/admin.ts'
import type { ArrangedList } from '../models/list.ts'
import { ask } from './ask.ts'
import { badge, labelled, lastUsed } from './facts.ts'
import { listRow } from './rows.ts'
import { scopeIds } from './scopes.ts'
import { time } from './times.ts'
import { expiryBadge } from './token-row.ts'

/** Renders a token as an entry of the list for administrators, with the question before its deletion. */
export const adminTokenRow = (
  token: AdminTokenItem,
  { action, back }: ArrangedList<AdminTokenItem>,
  frame: Frame,
): Html => {
  const { admin: texts, facts: words } = frame.texts
  const { id, name, applicationHref } = token
  const used = lastUsed(frame, token)
  return listRow({
    name:
      applicationHref === null
        ? html`<bdi>${name}</bdi>`
        : html`<a href="${applicationHref}"><bdi>${name}</bdi></a>`,
    marks: [
      html`<code class="end" title="${texts.token}" dir="ltr">#${id}</code>`,
      badge(token.isPersonal ? texts.personal : texts.issued),
      // Every access token of an application expires soon.
      token.isPersonal ? expiryBadge(token.expires, frame) : '',
    ],
    line: [
      labelled(texts.user, user(token, frame)),
      used ? labelled(...used) : '',
      labelled(words.expires, token.expires === null ? words.never : time(frame, token.expires)),
      scopeIds(token.scopes, frame),
    ],
    act: ask(
      {
        label: texts.delete,
        // Many tokens have the name of the same application.
        name: texts.deleteNamed(`${name} #${id}`),
        about: frame.texts.token.deleteAbout,
        action,
        fields: { token_id: String(id), act: 'delete', back },
      },
      frame,
    ),
  })
}

const user = ({ user: name, userHref }: AdminTokenItem, frame: Frame): Html | string => {
  if (name === null) return frame.texts.facts.nobody
  return html`<bdi>${userHref === null ? name : html`<a href="${userHref}">${name}</a>`}</bdi>`
}

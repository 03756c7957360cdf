import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { AdminTokenItem } from '../models/admin.ts'
import { ask } from './ask.ts'
import { badge, facts, labelled, lastUsed } from './facts.ts'
import type { ArrangedList } from './lists.ts'
import { listRow } from './rows.ts'
import { scopeIds, scopesInShort } from './scopes.ts'
import { day, time } from './times.ts'
import { expiryBadge } from './token-row.ts'

/** Renders a token as an entry of the list for administrators, with an expandable form that deletes the token. */
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
      // Tokens of applications usually expire soon, so a warning would appear on nearly all of these tokens.
      token.isPersonal ? expiryBadge(token.expires, frame) : '',
    ],
    line: [
      html`<span class="for-screen-readers">${texts.user}: </span>${user(token, frame)}`,
      used ? labelled(...used) : '',
      labelled(words.expires, token.expires === null ? words.never : time(frame, token.expires)),
      scopesInShort(token.scopes, frame),
    ],
    act: ask(
      {
        label: texts.delete,
        // Add the ID, because all tokens of an application have the same name in this list.
        name: texts.deleteNamed(`${name} #${id}`),
        about: frame.texts.leaked.acts.end.about,
        control: facts([
          [words.created, day(frame, token.createdAt)],
          [words.permissions, scopeIds(token.scopes, frame)],
        ]),
        action,
        fields: { token_id: String(id), act: 'delete', back },
      },
      frame,
    ),
  })
}

const user = ({ user: name, userHref }: AdminTokenItem, frame: Frame): Html | string => {
  if (name === null) return frame.texts.facts.nobody
  return userHref === null
    ? html`<bdi>${name}</bdi>`
    : html`<a href="${userHref}"><bdi>${name}</bdi></a>`
}

import { addresses } from '../addresses.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { personalToken } from '../shapes/personal-tokens.ts'
import type { Json } from '../shapes/shape.ts'
import { badge, labelled, lastUsed } from './facts.ts'
import { endForm, listRow } from './rows.ts'
import { scopesInShort } from './scopes.ts'
import { daysUntil, time } from './times.ts'

/** Lists show a warning for a token that expires within this number of days. */
const soon = 7

/**
 * Renders a personal token as an entry of a list.
 * @param back the query of the list to which the user returns; undefined for a list without checkboxes
 */
export const tokenRow = (
  token: Json<typeof personalToken>,
  back: string | undefined,
  frame: Frame,
): Html => {
  const { facts: texts, applications, list } = frame.texts
  const { id, name, last_four: ending, expires } = token
  const href = addresses(frame.links).token(id)
  const used = lastUsed(frame, token)
  return listRow({
    pick: back === undefined ? undefined : { id: String(id), label: list.select(name) },
    name: html`<a href="${href}"><bdi>${name}</bdi></a>`,
    marks: [
      html`<code class="end" title="${texts.endsWith(ending)}" dir="ltr">…${ending}</code>`,
      expiryBadge(expires, frame),
      scopesInShort(token.scopes, frame),
    ],
    line: [
      used ? labelled(...used) : '',
      labelled(texts.expires, expires === null ? texts.never : time(frame, expires)),
    ],
    act: endForm(
      {
        action: href,
        fields: { delete: 'yes' },
        label: applications.tokens.delete,
        name: applications.tokens.deleteNamed(`${name} …${ending}`),
        back,
      },
      frame,
    ),
  })
}

/** Renders a label for an expired token, and for a token that expires within a week; nothing for other tokens. */
export const expiryBadge = (expires: number | string | null, frame: Frame): Html | string => {
  const { facts: texts } = frame.texts
  if (expires === null) return ''
  const at = new Date(expires).getTime()
  if (at <= frame.now) return badge(texts.expired, 'bad')
  const days = daysUntil(frame, at)
  return days.count > soon ? '' : badge(texts.expiresSoon(days.text), 'care')
}

import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { AdminClientItem } from '../models/admin.ts'
import { nameAmong } from './distinct-names.ts'
import { badge, countText, labelled } from './facts.ts'
import type { ArrangedList } from './lists.ts'
import { logo } from './logo.ts'
import { endForm, listRow } from './rows.ts'
import { day } from './times.ts'

/** Renders an application as an entry of the list for administrators, with the button that disables or enables it. */
export const adminClientRow = (
  client: AdminClientItem,
  { action, items, back }: ArrangedList<AdminClientItem>,
  frame: Frame,
): Html => {
  const { admin: texts, facts: words } = frame.texts
  const { name, clientId, isDisabled } = client
  const label = isDisabled ? texts.enable : texts.disable
  return listRow({
    name: html`${logo(client.logo)}<a href="${client.href}"><bdi>${name}</bdi></a>`,
    marks: clientMarks(client, frame),
    line: [
      labelled(
        texts.owner,
        client.owner === null ? words.nobody : html`<bdi>${client.owner}</bdi>`,
      ),
      labelled(words.users, countText(frame, client.users)),
      labelled(words.created, day(frame, client.createdAt)),
      labelled(words.clientId, html`<bdi dir="ltr"><code>${clientId}</code></bdi>`),
    ],
    act: endForm(
      {
        action,
        fields: { client_id: clientId, act: isDisabled ? 'enable' : 'disable' },
        label,
        name: `${label}: ${nameAmong(client, items)}`,
        back,
        isHarmless: isDisabled,
      },
      frame,
    ),
  })
}

/** Renders the state of an application as small labels. */
export const clientMarks = (
  client: AdminClientItem,
  { texts: { facts: words } }: Frame,
): readonly (Html | string)[] => [
  badge(client.isConfidential ? words.confidential : words.public),
  client.origin === 'registration' ? badge(words.selfRegistered) : '',
  client.origin === 'metadata_document' ? badge(words.selfDescribed) : '',
  client.isVerified ? badge(words.verified, 'good') : '',
  client.isDisabled ? badge(words.disabled, 'bad') : '',
  client.isPinned ? badge(words.pinned) : '',
]

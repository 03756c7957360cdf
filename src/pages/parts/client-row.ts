import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { ClientItem } from '../models/applications.ts'
import { badge, countText, labelled } from './facts.ts'
import { listRow } from './rows.ts'
import { day } from './times.ts'

/** Renders an application as an entry of the list for its owner. */
export const clientRow = (client: ClientItem, frame: Frame): Html => {
  const { facts: texts } = frame.texts
  return listRow({
    name: html`<a href="${client.href}"><bdi>${client.name}</bdi></a>`,
    marks: [
      badge(client.isConfidential ? texts.confidential : texts.public),
      client.isVerified ? badge(texts.verified, 'good') : '',
      client.isDisabled ? badge(texts.disabled, 'bad') : '',
    ],
    line: [
      labelled(texts.users, countText(frame, client.users)),
      labelled(texts.created, day(frame, client.createdAt)),
      labelled(texts.clientId, html`<code dir="ltr">${client.clientId}</code>`),
    ],
  })
}

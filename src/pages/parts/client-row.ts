import { addresses } from '../addresses.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { client as clientShape } from '../shapes/clients.ts'
import type { Json } from '../shapes/shape.ts'
import { badge, countText, labelled } from './facts.ts'
import { listRow } from './rows.ts'
import { day } from './times.ts'

/** Renders an application as an entry of the list for its owner. */
export const clientRow = (client: Json<typeof clientShape>, frame: Frame): Html => {
  const { facts: texts } = frame.texts
  const { client_id: clientId } = client
  return listRow({
    name: html`<a href="${addresses(frame.links).client(clientId)}"><bdi>${client.name}</bdi></a>`,
    marks: [
      badge(client.is_confidential ? texts.confidential : texts.public),
      client.is_verified ? badge(texts.verified, 'good') : '',
      client.is_disabled ? badge(texts.disabled, 'bad') : '',
    ],
    line: [
      labelled(texts.users, countText(frame, client.users)),
      labelled(texts.created, day(frame, client.created_at)),
      labelled(texts.clientId, html`<code dir="ltr">${clientId}</code>`),
    ],
  })
}

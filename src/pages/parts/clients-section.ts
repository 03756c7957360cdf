import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { ApplicationsView, ClientItem } from '../models/applications.ts'
import { badge, countText, facts } from './facts.ts'
import { section } from './section.ts'
import { day } from './times.ts'

/** Renders the applications that a user registered. */
export const clientsSection = (view: ApplicationsView, frame: Frame): Html => {
  const { clients: texts } = frame.texts.applications
  return section(
    {
      id: 'clients',
      title: texts.title,
      about: texts.about,
      action: html`<a class="button" href="${view.newClient}">${texts.create}</a>`,
      list: view.clients,
      row: (client) => row(client, frame),
      empty: html`<p>${texts.none}</p><p>${texts.invite}</p>`,
    },
    frame,
  )
}

const row = (client: ClientItem, frame: Frame): Html => {
  const { facts: texts } = frame.texts
  return html`<div class="name">
<h3><a href="${client.href}"><bdi>${client.name}</bdi></a></h3>
${badge(client.isConfidential ? texts.confidential : texts.public)}
${client.isVerified ? badge(texts.verified, 'good') : ''}
${client.isDisabled ? badge(texts.disabled, 'bad') : ''}
</div>
${facts([
  [texts.users, countText(frame, client.users)],
  [texts.created, day(frame, client.createdAt)],
  [texts.clientId, html`<code dir="ltr">${client.clientId}</code>`],
])}`
}

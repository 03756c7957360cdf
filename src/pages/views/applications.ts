import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import type { ApplicationsView, Listed } from '../models/applications.ts'
import { authorizedRow } from '../parts/authorized-row.ts'
import { clientRow } from '../parts/client-row.ts'
import { outcome } from '../parts/outcome.ts'
import { section } from '../parts/section.ts'
import { tokenRow } from '../parts/token-row.ts'

/** The page with the first entries of a user's tokens, own applications and authorized applications. */
export const applicationsPage: PageTemplate<ApplicationsView> = (view, frame) => {
  const { applications: texts } = frame.texts
  const { links } = frame
  const overview = <Item>(
    id: 'clients' | 'tokens' | 'authorized',
    list: Listed<Item>,
    row: (item: Item) => Html,
    create?: Html,
  ): Html =>
    section(
      {
        id,
        title: texts[id].title,
        about: texts[id].about,
        action: html`<span class="actions"><a href="${links[id]}" aria-label="${showAll(id, frame)}">${frame.texts.list.showAll}</a>${create}</span>`,
        list,
        row,
        empty: html`<p>${texts[id].none}</p><p>${texts[id].invite}</p>`,
        isCompact: true,
      },
      frame,
    )
  const create = (id: 'clients' | 'tokens', href: string): Html =>
    html`<a class="button" href="${href}">${texts[id].create}</a>`
  return layout(
    frame,
    texts.title,
    html`<h1>${texts.title}</h1>
${outcome(frame)}
${overview('tokens', view.personalTokens, (token) => tokenRow(token, undefined, frame), create('tokens', view.newToken))}
${overview('clients', view.clients, (client) => clientRow(client, frame), create('clients', view.newClient))}
${overview('authorized', view.authorized, (item) => authorizedRow(item, { items: view.authorized.items }, frame))}`,
  )
}

const showAll = (id: 'clients' | 'tokens' | 'authorized', { texts }: Frame): string =>
  `${texts.list.showAll}: ${texts.applications[id].title}`

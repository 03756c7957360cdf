import { addresses } from '../addresses.ts'
import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { authorizedRow } from '../parts/authorized-row.ts'
import { clientRow } from '../parts/client-row.ts'
import type { Listed } from '../parts/lists.ts'
import { outcome } from '../parts/outcome.ts'
import { section } from '../parts/section.ts'
import { tokenRow } from '../parts/token-row.ts'
import type { applications } from '../shapes/applications.ts'
import type { Json } from '../shapes/shape.ts'

/** The view of the page with the first entries of each list of a user. */
export interface ApplicationsView extends Json<typeof applications> {
  /** The URL of the first page of each list; null on the first page. */
  readonly first: Json<typeof applications>['next']
}

/** The page with the first entries of a user's tokens, own applications and authorized applications. */
export const applicationsPage: PageTemplate<ApplicationsView> = (view, frame) => {
  const { applications: texts } = frame.texts
  const { links } = frame
  const to = addresses(links)
  const { personal_tokens: tokens, clients, authorized, first, next } = view
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
${overview('tokens', { items: tokens, next: next.personal_tokens, first: first.personal_tokens }, (token) => tokenRow(token, undefined, frame), create('tokens', to.newToken))}
${overview('clients', { items: clients, next: next.clients, first: first.clients }, (client) => clientRow(client, frame), create('clients', to.newClient))}
${overview('authorized', { items: authorized, next: next.authorized, first: first.authorized }, (item) => authorizedRow(item, { items: authorized }, frame))}`,
  )
}

const showAll = (id: 'clients' | 'tokens' | 'authorized', { texts }: Frame): string =>
  `${texts.list.showAll}: ${texts.applications[id].title}`

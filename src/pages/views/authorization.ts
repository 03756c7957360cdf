import type { Scope } from '../../model/scope.ts'
import type { Frame, PageTemplate } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import type { DeviceItem } from '../models/applications.ts'
import { badge, facts, lastUsed } from '../parts/facts.ts'
import { formId } from '../parts/forms.ts'
import { logo } from '../parts/logo.ts'
import { back } from '../parts/navigation.ts'
import { websiteLink } from '../parts/outside.ts'
import { scopeList } from '../parts/scopes.ts'
import { day, time } from '../parts/times.ts'

/** The view of the page of one authorization. */
export interface AuthorizationView {
  readonly back: string
  readonly client: {
    readonly clientId: string
    readonly name: string
    /** The URL of the stored logo of a verified client; null without one. */
    readonly logo: string | null
    readonly website: string
    readonly description: string
    readonly owner: string | null
    readonly isVerified: boolean
  }
  readonly device: DeviceItem
  readonly scopes: readonly Scope[]
  /**
   * The latest expiry of the current tokens, in milliseconds since the epoch; null if the access token never expires.
   */
  readonly ends: number | null
  /** The URL of the form that revokes the application on all devices. */
  readonly revokeAllAction: string
}

/** The page of one authorization of an application. */
export const authorizationPage: PageTemplate<AuthorizationView> = (view, frame) => {
  const { authorization: texts, facts: words } = frame.texts
  const { client, device, scopes } = view
  const title = texts.title(client.name)
  return layout(
    frame,
    title,
    html`${back(view.back, 'authorized', frame)}
<div class="name">
<h1>${logo(client.logo)}${filled(texts.title, html`<bdi>${client.name}</bdi>`)}</h1>
${client.isVerified ? badge(words.verified, 'good') : ''}
</div>
${client.description === '' ? '' : html`<p class="about" dir="auto">${client.description}</p>`}
<div class="card">
${
  scopes.length === 0
    ? html`<p>${words.noPermissions}</p>`
    : html`<h2>${texts.permissions}</h2>
${scopeList(scopes, frame)}`
}
</div>
<div class="card">
${facts([
  [texts.device, html`<bdi>${device.browser ?? words.unknownBrowser}</bdi>`],
  [words.since, day(frame, device.createdAt)],
  lastUsed(frame, device),
  [texts.ends, view.ends === null ? words.never : time(frame, view.ends)],
  client.owner === null ? undefined : [words.owner, html`<bdi>${client.owner}</bdi>`],
  client.website === '' ? undefined : [words.website, websiteLink(client.website)],
  [words.clientId, html`<code dir="ltr">${client.clientId}</code>`],
])}
</div>
${revokeForm(device.revokeAction, texts.revoke, texts.revokeAbout, frame)}
${revokeForm(view.revokeAllAction, texts.revokeAll, texts.revokeAllAbout, frame)}`,
    { place: { entry: 'authorized', isBelow: true } },
  )
}

const revokeForm = (action: string, label: string, about: string, frame: Frame): Html =>
  html`<form class="line" method="post" action="${action}">
${formId(frame)}
<p>${about}</p>
<button type="submit" class="danger quiet">${label}</button>
</form>`

import type { Scope } from '../../model/scope.ts'
import { addresses } from '../addresses.ts'
import type { Frame, PageTemplate } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { badge, facts, lastUsed } from '../parts/facts.ts'
import { formId } from '../parts/forms.ts'
import { logo } from '../parts/logo.ts'
import { back } from '../parts/navigation.ts'
import { websiteLink } from '../parts/outside.ts'
import { scopeList } from '../parts/scopes.ts'
import { day, time } from '../parts/times.ts'
import type { application, device } from '../shapes/applications.ts'
import type { Json } from '../shapes/shape.ts'

/** The view of the page of one authorization. */
export interface AuthorizationView extends Json<typeof device> {
  readonly application: Json<typeof application>
  /** The scopes of the authorization, with their texts. */
  readonly permissions: readonly Scope[]
}

/** The page of one authorization of an application. */
export const authorizationPage: PageTemplate<AuthorizationView> = (view, frame) => {
  const { authorization: texts, facts: words } = frame.texts
  const { id, application, permissions } = view
  const to = addresses(frame.links)
  const title = texts.title(application.name)
  return layout(
    frame,
    title,
    html`${back(to.authorized, 'authorized', frame)}
<div class="name">
<h1>${logo(application.logo)}${filled(texts.title, html`<bdi>${application.name}</bdi>`)}</h1>
${application.is_verified ? badge(words.verified, 'good') : ''}
</div>
${application.description === '' ? '' : html`<p class="about" dir="auto">${application.description}</p>`}
<div class="card">
${
  permissions.length === 0
    ? html`<p>${words.noPermissions}</p>`
    : html`<h2>${texts.permissions}</h2>
${scopeList(permissions, frame)}`
}
</div>
<div class="card">
${facts([
  [texts.device, html`<bdi>${view.browser ?? words.unknownBrowser}</bdi>`],
  [words.since, day(frame, view.created_at)],
  lastUsed(frame, view),
  [texts.ends, view.ends === null ? words.never : time(frame, view.ends)],
  application.maker === null ? undefined : [words.owner, html`<bdi>${application.maker}</bdi>`],
  application.website === '' ? undefined : [words.website, websiteLink(application.website)],
  [words.clientId, html`<code dir="ltr">${view.client_id}</code>`],
])}
</div>
${revokeForm(to.revoke(id), texts.revoke, texts.revokeAbout, frame)}
${revokeForm(to.revokeApplication(view.client_id), texts.revokeAll, texts.revokeAllAbout, frame)}`,
    { place: { entry: 'authorized', isBelow: true } },
  )
}

const revokeForm = (action: string, label: string, about: string, frame: Frame): Html =>
  html`<form class="line" method="post" action="${action}">
${formId(frame)}
<p>${about}</p>
<button type="submit" class="danger quiet">${label}</button>
</form>`

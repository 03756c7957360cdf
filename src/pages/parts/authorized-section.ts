import { countLimit } from '../../model/count-limit.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { ApplicationsView, AuthorizedItem, DeviceItem } from '../models/applications.ts'
import { badge, facts, lastUsed } from './facts.ts'
import { formId } from './forms.ts'
import { websiteLink } from './outside.ts'
import { scopeIds } from './scopes.ts'
import { section } from './section.ts'
import { day } from './times.ts'

/** Renders the applications that a user authorized. */
export const authorizedSection = (view: ApplicationsView, frame: Frame): Html => {
  const { authorized: texts } = frame.texts.applications
  const isLong = view.authorized.items.length > 1 || view.authorized.first !== null
  return html`${section(
    {
      id: 'authorized',
      title: texts.title,
      about: texts.about,
      list: view.authorized,
      row: (item) => row(item, frame),
      empty: html`<p>${texts.none}</p><p>${texts.invite}</p>`,
    },
    frame,
  )}
${isLong ? revokeAll(view.revokeAllAction, frame) : ''}`
}

const revokeAll = (action: string, frame: Frame): Html => {
  const { authorized: texts } = frame.texts.applications
  return html`<details class="danger">
<summary>${texts.revokeAll}</summary>
<form method="post" action="${action}">
${formId(frame)}
<p>${texts.revokeAllAbout}</p>
<p class="actions"><button type="submit" class="danger">${texts.revokeAll}</button></p>
</form>
</details>`
}

const row = (item: AuthorizedItem, frame: Frame): Html => {
  const { applications, facts: texts } = frame.texts
  return html`<div class="name">
<h3><bdi>${item.name}</bdi></h3>
${item.isVerified ? badge(texts.verified, 'good') : ''}
<form method="post" action="${item.revokeAction}">
${formId(frame)}
<button type="submit" class="quiet danger" aria-label="${applications.authorized.revokeNamed(item.name)}">${applications.authorized.revoke}</button>
</form>
</div>
${facts([
  item.owner === null ? undefined : [texts.owner, html`<bdi>${item.owner}</bdi>`],
  item.website === '' ? undefined : [texts.website, websiteLink(item.website)],
  item.grantedAt === null ? undefined : [texts.since, day(frame, item.grantedAt)],
  lastUsed(frame, item),
  [texts.permissions, scopeIds(item.scopes, frame)],
])}
${devices(item, frame)}`
}

const devices = (item: AuthorizedItem, frame: Frame): Html => {
  const { authorized: texts } = frame.texts.applications
  const { devices, moreDevices } = item
  if (devices.length === 0) return html``
  const count = devices.length + moreDevices
  const isCounted = count < countLimit
  const { moreThan } = frame.texts.facts
  return html`<details>
<summary>${isCounted ? texts.devices(count) : moreThan(texts.devices(countLimit - 1))}</summary>
<ul class="devices">
${devices.map((device) => html`<li>${deviceRow(device, frame)}</li>`)}
</ul>
${moreDevices === 0 || !isCounted ? '' : html`<p class="hint">${texts.moreDevices(moreDevices)}</p>`}
</details>`
}

const deviceRow = (device: DeviceItem, frame: Frame): Html => {
  const { applications, facts: texts } = frame.texts
  const browser = device.browser ?? texts.unknownBrowser
  return html`<div class="name">
<a href="${device.href}"><bdi>${browser}</bdi></a>
<form method="post" action="${device.revokeAction}">
${formId(frame)}
<button type="submit" class="quiet danger" aria-label="${applications.authorized.revokeNamed(browser)}">${applications.authorized.revoke}</button>
</form>
</div>
${facts([
  [texts.since, day(frame, device.createdAt)],
  lastUsed(frame, device),
  [texts.permissions, scopeIds(device.scopes, frame)],
])}`
}

import { countLimit } from '../../model/count-limit.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { AuthorizedItem, DeviceItem } from '../models/applications.ts'
import { distinctNames, nameAmong } from './distinct-names.ts'
import { badge, facts, labelled, lastUsed } from './facts.ts'
import { formId } from './forms.ts'
import { logo } from './logo.ts'
import { websiteLink } from './outside.ts'
import { endForm, listRow } from './rows.ts'
import { scopeIds, scopesInShort } from './scopes.ts'
import { day } from './times.ts'

/**
 * Renders an authorized application as an entry of a list.
 * @param list `items` are all entries of the list. `back` is the query of the list to which the user returns; undefined
 * for a list without checkboxes.
 */
export const authorizedRow = (
  item: AuthorizedItem,
  { items, back }: { readonly items: readonly AuthorizedItem[]; readonly back?: string },
  frame: Frame,
): Html => {
  const name = nameAmong(item, items)
  const { applications, facts: texts, list } = frame.texts
  const used = lastUsed(frame, item)
  return listRow({
    pick: back === undefined ? undefined : { id: item.clientId, label: list.select(name) },
    name: html`${logo(item.logo)}<bdi>${item.name}</bdi>`,
    marks: [
      item.isVerified ? badge(texts.verified, 'good') : '',
      scopesInShort(item.scopes, frame),
      item.description === '' ? '' : html`<p class="in-short" dir="auto">${item.description}</p>`,
    ],
    line: [
      devices(item, name, frame),
      used ? labelled(...used) : '',
      item.grantedAt === null ? '' : labelled(texts.since, day(frame, item.grantedAt)),
      // The line is too narrow for all facts. The list of devices contains the permissions, the owner and the website.
      ...(item.devices.length > 0
        ? []
        : [allPermissions(item, frame), ...ownerAndWebsite(item, frame)]),
    ],
    act: endForm(
      {
        action: item.revokeAction,
        label: applications.authorized.revoke,
        name: applications.authorized.revokeNamed(name),
        back,
      },
      frame,
    ),
  })
}

// Omit a single permission, because the first line of the entry already contains it.
const allPermissions = ({ scopes }: AuthorizedItem, frame: Frame): Html | string =>
  scopes.length < 2
    ? ''
    : html`<details>
<summary>${frame.texts.facts.permissions}</summary>
<p>${scopeIds(scopes, frame)}</p>
</details>`

/** Renders the form that revokes the access of all authorized applications. */
export const revokeAllForm = (action: string, frame: Frame): Html => {
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

const ownerAndWebsite = (item: AuthorizedItem, frame: Frame): readonly (Html | string)[] => [
  item.owner === null ? '' : labelled(frame.texts.facts.owner, html`<bdi>${item.owner}</bdi>`),
  item.website === '' ? '' : websiteLink(item.website),
]

const devices = (item: AuthorizedItem, application: string, frame: Frame): Html | string => {
  const { authorized: texts } = frame.texts.applications
  const { devices, moreDevices } = item
  if (devices.length === 0) return ''
  const count = devices.length + moreDevices
  const isCounted = count < countLimit
  const { moreThan, unknownBrowser } = frame.texts.facts
  const names = distinctNames(devices.map(({ browser }) => browser ?? unknownBrowser))
  return html`<details>
<summary>${isCounted ? texts.devices(count) : moreThan(texts.devices(countLimit - 1))}</summary>
<p class="origin">${ownerAndWebsite(item, frame).map((fact) => html`${fact} `)}</p>
<ul class="devices">
${devices.map((device, index) => html`<li>${deviceRow(device, `${names[index]}, ${application}`, frame)}</li>`)}
</ul>
${moreDevices === 0 || !isCounted ? '' : html`<p class="hint">${texts.moreDevices(moreDevices)}</p>`}
</details>`
}

/** Renders a device. `name` is the name of the device for screen readers. */
const deviceRow = (device: DeviceItem, name: string, frame: Frame): Html => {
  const { applications, facts: texts } = frame.texts
  const browser = device.browser ?? texts.unknownBrowser
  return html`<div class="name">
<a href="${device.href}"><bdi>${browser}</bdi></a>
<form method="post" action="${device.revokeAction}">
${formId(frame)}
<button type="submit" class="quiet danger" aria-label="${applications.authorized.revokeNamed(name)}">${applications.authorized.revoke}</button>
</form>
</div>
${facts([
  [texts.since, day(frame, device.createdAt)],
  lastUsed(frame, device),
  [texts.permissions, scopeIds(device.scopes, frame)],
])}`
}

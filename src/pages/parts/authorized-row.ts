import { countLimit } from '../../model/count-limit.ts'
import { addresses } from '../addresses.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { authorizedApplication, device as deviceShape } from '../shapes/applications.ts'
import type { Json } from '../shapes/shape.ts'
import { distinctNames, nameAmong } from './distinct-names.ts'
import { badge, facts, labelled, lastUsed } from './facts.ts'
import { formId } from './forms.ts'
import { logo } from './logo.ts'
import { websiteLink } from './outside.ts'
import { endForm, listRow } from './rows.ts'
import { scopeIds, scopesInShort } from './scopes.ts'
import { day } from './times.ts'

type Authorized = Json<typeof authorizedApplication>

/** The maximum length of a description in a list, in characters. The list shows only one line of the description. */
const maxListedDescription = 140

/**
 * Renders an authorized application as an entry of a list.
 * @param list `items` are all entries of the list. `back` is the query of the list to which the user returns; undefined
 * for a list without checkboxes.
 */
export const authorizedRow = (
  item: Authorized,
  { items, back }: { readonly items: readonly Authorized[]; readonly back?: string },
  frame: Frame,
): Html => {
  const name = nameAmong(item, items)
  const { applications, facts: texts, list } = frame.texts
  const { client_id: clientId } = item
  const description = [...item.description].slice(0, maxListedDescription).join('')
  const used = lastUsed(frame, { last_used_at: lastUseOf(item) })
  return listRow({
    pick: back === undefined ? undefined : { id: clientId, label: list.select(name) },
    name: html`${logo(item.logo)}<bdi>${item.name}</bdi>`,
    marks: [
      item.is_verified ? badge(texts.verified, 'good') : '',
      scopesInShort(item.scopes, frame),
      description === '' ? '' : html`<p class="in-short" dir="auto">${description}</p>`,
    ],
    line: [
      devices(item, name, frame),
      used ? labelled(...used) : '',
      item.granted_at === null ? '' : labelled(texts.since, day(frame, item.granted_at)),
      // The line is too narrow for all facts. The list of devices contains the permissions, the owner and the website.
      ...(item.devices.length > 0
        ? []
        : [allPermissions(item, frame), ...ownerAndWebsite(item, frame)]),
    ],
    act: endForm(
      {
        action: addresses(frame.links).revokeApplication(clientId),
        label: applications.authorized.revoke,
        name: applications.authorized.revokeNamed(name),
        back,
      },
      frame,
    ),
  })
}

const lastUseOf = ({ devices }: Authorized): string | null => {
  const times = devices.flatMap(({ last_used_at: at }) => at ?? [])
  return times.sort().at(-1) ?? null
}

// Omit a single permission, because the first line of the entry already contains it.
const allPermissions = ({ scopes }: Authorized, frame: Frame): Html | string =>
  scopes.length < 2
    ? ''
    : html`<details>
<summary>${frame.texts.facts.permissions}</summary>
<p>${scopeIds(scopes, frame)}</p>
</details>`

/** Renders the form that revokes the access of all authorized applications. */
export const revokeAllForm = (frame: Frame): Html => {
  const { authorized: texts } = frame.texts.applications
  return html`<details class="danger">
<summary>${texts.revokeAll}</summary>
<form method="post" action="${addresses(frame.links).revokeAll}">
${formId(frame)}
<p>${texts.revokeAllAbout}</p>
<p class="actions"><button type="submit" class="danger">${texts.revokeAll}</button></p>
</form>
</details>`
}

const ownerAndWebsite = (item: Authorized, frame: Frame): readonly (Html | string)[] => [
  item.maker === null ? '' : labelled(frame.texts.facts.owner, html`<bdi>${item.maker}</bdi>`),
  item.website === '' ? '' : websiteLink(item.website),
]

const devices = (item: Authorized, application: string, frame: Frame): Html | string => {
  const { authorized: texts } = frame.texts.applications
  const { devices, device_count: count } = item
  if (devices.length === 0) return ''
  const moreDevices = count - devices.length
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
const deviceRow = (device: Json<typeof deviceShape>, name: string, frame: Frame): Html => {
  const { applications, facts: texts } = frame.texts
  const browser = device.browser ?? texts.unknownBrowser
  const to = addresses(frame.links)
  return html`<div class="name">
<a href="${to.view(device.id)}"><bdi>${browser}</bdi></a>
<form method="post" action="${to.revoke(device.id)}">
${formId(frame)}
<button type="submit" class="quiet danger" aria-label="${applications.authorized.revokeNamed(name)}">${applications.authorized.revoke}</button>
</form>
</div>
${facts([
  [texts.since, day(frame, device.created_at)],
  lastUsed(frame, device),
  [texts.permissions, scopeIds(device.scopes, frame)],
])}`
}

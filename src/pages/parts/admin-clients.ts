import type { Frame } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import type { AdminClientItem, AdminView } from '../models/admin.ts'
import { searchForm } from './admin-search.ts'
import { ask } from './ask.ts'
import { refusals } from './developer-desk.ts'
import { badge, countText, facts } from './facts.ts'
import { described, formId, invalid, problemOf } from './forms.ts'
import { logo } from './logo.ts'
import { caution, done } from './notices.ts'
import { websiteLink } from './outside.ts'
import { section } from './section.ts'
import { day } from './times.ts'

/** Renders all client applications, with the actions of an administrator. */
export const adminClientsSection = (view: AdminView, frame: Frame): Html => {
  const { admin: texts } = frame.texts
  return section(
    {
      id: 'clients',
      title: texts.clients,
      about: texts.clientsAbout,
      above: html`${view.actedOn === 'clients' ? done(view.done) : ''}${searchForm(view, 'client', frame)}`,
      list: view.clients,
      row: (client, index) => row(client, index, view, frame),
      empty: html`<p>${texts.noClients}</p>`,
    },
    frame,
  )
}

const row = (client: AdminClientItem, index: number, view: AdminView, frame: Frame): Html => {
  const { actAction: action } = view
  const { admin: texts, facts: words } = frame.texts
  return html`<div class="name">
<h3>${logo(client.logo.src)}<bdi>${client.name}</bdi></h3>
${badge(client.isConfidential ? words.confidential : words.public)}
${client.origin === 'registration' ? badge(words.selfRegistered) : ''}
${client.origin === 'metadata_document' ? badge(words.selfDescribed) : ''}
${client.isVerified ? badge(words.verified, 'good') : ''}
${client.isDisabled ? badge(words.disabled, 'bad') : ''}
${client.isPinned ? badge(words.pinned) : ''}
</div>
${facts([
  [texts.owner, client.owner === null ? words.nobody : html`<bdi>${client.owner}</bdi>`],
  [words.users, countText(frame, client.users)],
  [words.created, day(frame, client.createdAt)],
  client.website === '' ? undefined : [words.website, websiteLink(client.website)],
  [words.clientId, html`<code dir="ltr">${client.clientId}</code>`],
  client.logo.uri === null
    ? undefined
    : [texts.logo, html`<code dir="ltr">${client.logo.uri}</code>`],
  client.redirectUris.length === 0
    ? undefined
    : [
        texts.redirectUris,
        html`${client.redirectUris.map((uri) => html`<code dir="ltr">${uri}</code> `)}`,
      ],
])}
${logoState(client, frame)}
${refusals(client.refusals, frame)}
<form class="acts" method="post" action="${action}">
${formId(frame)}
<input type="hidden" name="client_id" value="${client.clientId}">
<input type="hidden" name="seen" value="${client.seen}">
${client.isVerified ? act('unverify', texts.unverify) : act('verify', texts.verify)}
${client.isVerified && client.logo.uri !== null ? act('fetch_logo', texts.fetchLogo) : ''}
${client.isDisabled ? act('enable', texts.enable) : act('disable', texts.disable)}
${pinning(client, frame)}
</form>
${resourceForm(client, index, view, frame)}
${deleteForm(client, index, view, frame)}`
}

const logoState = ({ logo: { problem, isRequested } }: AdminClientItem, frame: Frame): Html => {
  const { admin: texts } = frame.texts
  if (isRequested) return html`<p class="hint">${texts.logoRequested}</p>`
  if (problem === null) return html``
  return caution(html`${texts.logoFailed} <span lang="en" dir="ltr">${problem}</span>`)
}

const act = (name: string, label: string): Html =>
  html`<button type="submit" class="quiet" name="act" value="${name}">${label}</button>`

const pinning = ({ origin, isPinned }: AdminClientItem, { texts: { admin } }: Frame): Html => {
  if (isPinned) return act('unpin', admin.unpin)
  return origin === 'metadata_document' ? act('pin', admin.pin) : html``
}

/** Renders the choice of the default resource, if the server has several resources. */
const resourceForm = (
  { clientId, defaultResource }: AdminClientItem,
  index: number,
  { actAction: action, resources }: AdminView,
  frame: Frame,
): Html => {
  // A chosen resource may have been removed from the server.
  const choices = [
    ...new Set([...resources, ...(defaultResource === null ? [] : [defaultResource])]),
  ]
  if (choices.length < 2) return html``
  const { admin: texts, frame: words } = frame.texts
  const id = `default-resource-${index}`
  return html`<form class="acts" method="post" action="${action}">
${formId(frame)}
<input type="hidden" name="client_id" value="${clientId}">
<label for="${id}">${texts.defaultResource}</label>
<select id="${id}" name="default_resource">
<option value="">${texts.noDefaultResource}</option>
${choices.map((one) => html`<option value="${one}"${one === defaultResource ? html` selected` : ''} dir="ltr">${one}</option>`)}
</select>
<button type="submit" class="quiet" name="act" value="set_default_resource">${words.save}</button>
</form>`
}

const deleteForm = (
  client: AdminClientItem,
  index: number,
  { actAction: action, notDeleted, problem }: AdminView,
  frame: Frame,
): Html => {
  const { admin: texts } = frame.texts
  const isOpen = client.clientId === notDeleted
  // The summary of the problem links to the field by its name.
  const id = isOpen ? 'confirm_name' : `confirm-${index}`
  const control = { name: 'confirm_name', problem: isOpen ? problem : undefined }
  return ask(
    {
      label: filled(texts.deleteNamed, html`<bdi>${client.name}</bdi>`),
      about: texts.deleteAbout,
      submit: texts.delete,
      action,
      isOpen,
      fields: { client_id: client.clientId, act: 'delete' },
      control: html`<div class="field">
<label for="${id}">${filled(texts.confirmName, html`<strong><bdi>${client.name}</bdi></strong>`)}</label>
<input id="${id}" name="confirm_name" required autocomplete="off"${described(control)}${invalid(control)}>
${problemOf(control)}
</div>`,
    },
    frame,
  )
}

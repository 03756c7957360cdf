import type { Frame, PageTemplate } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import type { AdminApplicationView, AdminClientItem } from '../models/admin.ts'
import { clientMarks } from '../parts/admin-client-row.ts'
import { adminNavigation } from '../parts/admin-navigation.ts'
import { ask } from '../parts/ask.ts'
import { refusals } from '../parts/developer-desk.ts'
import { countText, type Fact, facts } from '../parts/facts.ts'
import { described, formId, invalid, problemOf } from '../parts/forms.ts'
import { logo } from '../parts/logo.ts'
import { caution, done, formAlert } from '../parts/notices.ts'
import { description, websiteLink } from '../parts/outside.ts'
import { day } from '../parts/times.ts'

/** The page on which an administrator manages one application. */
export const adminApplicationPage: PageTemplate<AdminApplicationView> = (view, frame) => {
  const { admin: texts } = frame.texts
  const { client } = view
  return layout(
    frame,
    client.name,
    html`<p class="back"><a href="${view.list}">${texts.clients}</a></p>
<div class="name">
<h1>${logo(client.logo)}<bdi>${client.name}</bdi></h1>
${clientMarks(client, frame).map((mark) => html`${mark} `)}
</div>
${adminNavigation('applications', frame, true)}
${formAlert(view.problem, { confirm_name: texts.delete }, frame)}
${done(view.done)}
<section class="card" aria-labelledby="about">
<h2 id="about">${frame.texts.leaked.application}</h2>
${factsOf(view, frame)}
${description(client.name, view.description, frame)}
${logoState(view, frame)}
<p class="actions"><a href="${view.tokens}">${texts.tokensOfClient}</a> <a href="${view.activity}">${texts.activityOfClient}</a></p>
${actForm(view, frame)}
</section>
${refusals(view.refusals, frame)}
${resourceForm(view, frame)}
${endTokensForm(view, frame)}
${deleteForm(view, frame)}`,
    { place: { entry: 'admin', isBelow: true } },
  )
}

const factsOf = (view: AdminApplicationView, frame: Frame): Html => {
  const { admin: texts, facts: words } = frame.texts
  const { client, ownerHref, redirectUris } = view
  const owner = html`<bdi>${client.owner ?? words.nobody}</bdi>`
  return facts([
    [texts.owner, ownerHref === null ? owner : html`<a href="${ownerHref}">${owner}</a>`],
    [words.users, countText(frame, client.users)],
    [words.created, day(frame, client.createdAt)],
    view.website === '' ? undefined : [words.website, websiteLink(view.website)],
    [words.clientId, html`<code dir="ltr">${client.clientId}</code>`],
    view.terms === '' ? undefined : [frame.texts.consent.terms, websiteLink(view.terms)],
    view.privacy === '' ? undefined : [frame.texts.consent.privacy, websiteLink(view.privacy)],
    view.logo.uri === null
      ? undefined
      : [texts.logo, html`<code dir="ltr">${view.logo.uri}</code>`],
    urisOf(texts.redirectUris, redirectUris),
    urisOf(frame.texts.client.postLogoutRedirectUris, view.postLogoutRedirectUris),
  ])
}

const urisOf = (label: string, uris: readonly string[]): Fact | undefined =>
  uris.length === 0
    ? undefined
    : [label, html`${uris.map((uri) => html`<code dir="ltr">${uri}</code> `)}`]

const logoState = (
  { logo: { problem, isRequested } }: AdminApplicationView,
  frame: Frame,
): Html => {
  const { admin: texts } = frame.texts
  if (isRequested) return html`<p class="hint">${texts.logoRequested}</p>`
  if (problem === null) return html``
  return caution(html`${texts.logoFailed} <span lang="en" dir="ltr">${problem}</span>`)
}

const act = (name: string, label: string): Html =>
  html`<button type="submit" class="quiet" name="act" value="${name}">${label}</button>`

/** Renders the acts that need no confirmation. */
const actForm = ({ action, client, logo, seen }: AdminApplicationView, frame: Frame): Html => {
  const { admin: texts } = frame.texts
  const { isVerified, isDisabled } = client
  return html`<form class="acts" method="post" action="${action}">
${formId(frame)}
<input type="hidden" name="seen" value="${seen}">
${isVerified ? act('unverify', texts.unverify) : act('verify', texts.verify)}
${isVerified && logo.uri !== null ? act('fetch_logo', texts.fetchLogo) : ''}
${isDisabled ? act('enable', texts.enable) : act('disable', texts.disable)}
${pinning(client, frame)}
</form>`
}

const pinning = ({ origin, isPinned }: AdminClientItem, { texts: { admin } }: Frame): Html => {
  if (isPinned) return act('unpin', admin.unpin)
  return origin === 'metadata_document' ? act('pin', admin.pin) : html``
}

/** Renders the choice of the default resource; nothing if there is only one resource. */
const resourceForm = (
  { action, defaultResource, resources }: AdminApplicationView,
  frame: Frame,
): Html => {
  // Include the current choice, because the resource may have been removed from the server.
  const choices = [
    ...new Set([...resources, ...(defaultResource === null ? [] : [defaultResource])]),
  ]
  if (choices.length < 2) return html``
  const { admin: texts, frame: words } = frame.texts
  return html`<details>
<summary>${texts.defaultResource}</summary>
<form method="post" action="${action}">
${formId(frame)}
<div class="field">
<label for="default_resource">${texts.defaultResource}</label>
<select id="default_resource" name="default_resource">
<option value="">${texts.noDefaultResource}</option>
${choices.map((one) => html`<option value="${one}"${one === defaultResource ? html` selected` : ''} dir="ltr">${one}</option>`)}
</select>
</div>
<p class="actions"><button type="submit" class="quiet" name="act" value="set_default_resource">${words.save}</button></p>
</form>
</details>`
}

const endTokensForm = ({ action }: AdminApplicationView, frame: Frame): Html =>
  ask({ ...frame.texts.leaked.acts.endApplication, action, fields: { act: 'end_tokens' } }, frame)

const deleteForm = (
  { action, client, isNotDeleted, problem }: AdminApplicationView,
  frame: Frame,
): Html => {
  const { admin: texts } = frame.texts
  const control = { name: 'confirm_name', problem }
  return ask(
    {
      label: filled(texts.deleteNamed, html`<bdi>${client.name}</bdi>`),
      about: texts.deleteAbout,
      submit: texts.delete,
      action,
      isOpen: isNotDeleted,
      fields: { act: 'delete' },
      control: html`<div class="field">
<label for="confirm_name">${filled(texts.confirmName, html`<strong><bdi>${client.name}</bdi></strong>`)}</label>
<input id="confirm_name" name="confirm_name" required autocomplete="off"${described(control)}${invalid(control)}>
${problemOf(control)}
</div>`,
    },
    frame,
  )
}

import { html } from 'hono/html'
import type { Scope } from '../model/scope.ts'
import { type Html, layout, notice, type PageBase } from './layout.ts'
import { messages } from './messages.ts'

export interface ConsentView {
  readonly base: PageBase
  readonly action: string
  /** The one-time id of the stored request: all that the form carries of it. */
  readonly authorizationRequest: string
  readonly csrfToken: string
  readonly client: {
    readonly name: string
    readonly description: string
    readonly website: string
    readonly owner: string | undefined
    readonly redirectUri: string
  }
  /** Who is granting: the e-mail address of the user. */
  readonly user: string
  readonly scopes: readonly Scope[]
  readonly problem: string | undefined
}

export const consentPage = (view: ConsentView): Html => {
  const { consent } = messages
  const { base, client, scopes, problem } = view
  return layout(
    base,
    consent.title(client.name),
    html`<h1>${consent.title(client.name)}</h1>
${notice(problem)}
<p><strong><bdi>${client.name}</bdi></strong> ${scopes.length === 0 ? consent.nothing : consent.asks}</p>
${byGroup(scopes).map(
  ([group, members]) => html`<section>
<h2>${group === '' ? consent.otherGroup : group}</h2>
<ul>
${members.map(({ id, helpText }) => html`<li>${helpText === '' ? '' : html`${helpText} `}<code>${id}</code></li>`)}
</ul>
</section>`,
)}
${client.description === '' ? '' : html`<p class="description"><bdi>${client.description}</bdi></p>`}
<dl>
${client.website === '' ? '' : row(consent.website, link(client.website))}
${client.owner === undefined ? '' : row(consent.owner, html`<bdi>${client.owner}</bdi>`)}
${row(consent.destination, destination(client.redirectUri))}
${row(consent.user, html`<bdi>${view.user}</bdi>`)}
</dl>
<form method="post" action="${view.action}">
<input type="hidden" name="csrf_token" value="${view.csrfToken}">
<input type="hidden" name="authorization_request" value="${view.authorizationRequest}">
<p class="decision">
<button type="submit" name="confirm" value="yes">${consent.accept}</button>
<button type="submit" name="confirm" value="no" class="refuse">${consent.refuse}</button>
</p>
</form>`,
  )
}

const row = (term: string, value: Html): Html => html`<dt>${term}</dt><dd>${value}</dd>`

const link = (website: string): Html =>
  html`<a href="${website}" rel="noopener noreferrer nofollow">${website}</a>`

// The host in the form that the network uses, so that look-alike letters show as what they are.
const destination = (redirectUri: string): Html => {
  const { protocol, host, hostname } = new URL(redirectUri)
  if (['localhost', '127.0.0.1', '[::1]'].includes(hostname)) {
    return html`<code>${host}</code>, ${messages.consent.local}`
  }
  return html`<code>${host === '' ? protocol : host}</code>`
}

const byGroup = (scopes: readonly Scope[]): readonly (readonly [string, readonly Scope[]])[] => {
  const groups = new Map<string, Scope[]>()
  for (const scope of scopes) {
    const members = groups.get(scope.group)
    if (members) members.push(scope)
    else groups.set(scope.group, [scope])
  }
  return [...groups]
}

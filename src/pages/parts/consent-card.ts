import type { Scope } from '../../model/scope.ts'
import type { Frame } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { type AskingClient, statementsOfClient, statementsOfServer } from './asking-client.ts'
import { csrf } from './forms.ts'
import { logo } from './logo.ts'
import { alert } from './notices.ts'
import { byGroup, gravestFirst, scopeText } from './scopes.ts'

/** The values that the consent pages for authorization requests and for devices have in common. */
export interface AskedConsent {
  readonly action: string
  readonly client: AskingClient
  /** The e-mail address of the user who decides. */
  readonly user: string
  /** The URL at which the user can log in with another account. */
  readonly otherAccount: string
  readonly scopes: readonly Scope[]
  /** The requested scopes that the user has allowed this client before. */
  readonly allowedBefore: readonly string[]
  /** The scopes that the user may untick. */
  readonly optionalScopes: readonly string[]
  /** The optional scopes that are ticked when the page opens. */
  readonly ticked: readonly string[]
  readonly problem: string | undefined
}

/** The parts in which the two consent pages differ. */
interface Additions {
  /** The hidden field with the one-time ID of the stored request. */
  readonly hidden: { readonly name: string; readonly value: string }
  /** The markup before the statements about the client. */
  readonly before?: Html
  /** The markup after the scopes. */
  readonly after?: Html
}

/** Renders a page on which a user decides what a client may do. */
export const consentCard = (
  view: AskedConsent,
  { hidden, before = html``, after = html`` }: Additions,
  frame: Frame,
): Html => {
  const { consent } = frame.texts
  const { client, optionalScopes } = view
  return layout(
    frame,
    consent.title(client.name),
    html`<div class="card consent">
${account(view, frame)}
<h1>${logo(client.logo)}${filled(consent.title, html`<bdi>${client.name}</bdi>`)}</h1>
${alert(view.problem)}
${before}${statementsOfServer(client, frame)}
<form method="post" action="${view.action}">
${csrf(frame)}
<input type="hidden" name="${hidden.name}" value="${hidden.value}">
${optionalScopes.length === 0 ? '' : undecided}
${request(view, frame)}
${optionalScopes.length === 0 ? '' : html`<p class="hint">${consent.optional}</p>`}
${after}<p class="decision">
<button type="submit" name="confirm" value="yes">${consent.accept}</button>
<button type="submit" name="confirm" value="no" class="refuse">${consent.refuse}</button>
</p>
<p class="hint">${consent.lasting}</p>
</form>
${statementsOfClient(client, frame)}
</div>`,
    { narrow: true, navigation: false },
  )
}

// If a user presses Enter in a checkbox, the browser presses the first submit button. This first button is hidden and
// submits no decision.
const undecided = html`<button type="submit" name="confirm" value="" class="unseen" tabindex="-1" aria-hidden="true"></button>`

const account = ({ user, otherAccount }: AskedConsent, { texts }: Frame): Html =>
  html`<dl class="account-used"><dt>${texts.consent.user}</dt><dd><bdi>${user}</bdi> <a href="${otherAccount}">${texts.consent.otherAccount}</a></dd></dl>`

/** Renders the requested scopes. If the user has allowed some of them before, renders the new scopes first. */
const request = (view: AskedConsent, frame: Frame): Html => {
  const { consent } = frame.texts
  const { client, scopes, allowedBefore } = view
  const sentence = (text: (name: string) => string): Html =>
    html`<p class="asks">${filled(text, html`<strong><bdi>${client.name}</bdi></strong>`)}</p>`
  if (scopes.length === 0) return sentence(consent.nothing)
  const isKnown = ({ id }: Scope): boolean => allowedBefore.includes(id)
  const known = scopes.filter(isKnown)
  const added = scopes.filter((scope) => !isKnown(scope))
  if (known.length === 0) return html`${sentence(consent.asks)}${askedScopes(scopes, view, frame)}`
  if (added.length === 0)
    return html`${sentence(consent.asksAgain)}${askedScopes(scopes, view, frame)}`
  return html`${sentence(consent.asksMore)}
<div class="added">${askedScopes(added, view, frame)}</div>
<p class="asks">${consent.allowedBefore}</p>
<div class="known">${askedScopes(known, view, frame)}</div>`
}

/** Renders scopes in groups, with a checkbox for each optional scope. */
const askedScopes = (scopes: readonly Scope[], view: AskedConsent, frame: Frame): readonly Html[] =>
  byGroup(gravestFirst(scopes), frame).map(
    ([heading, members]) => html`<section class="group">
<h2>${heading}</h2>
<ul>
${members.map((scope) => html`<li>${view.optionalScopes.includes(scope.id) ? box(scope, view, frame) : scopeText(scope, frame)}</li>`)}
</ul>
</section>`,
  )

const box = (scope: Scope, { ticked }: AskedConsent, frame: Frame): Html =>
  html`<label class="choice"><input type="checkbox" name="optional_scope" value="${scope.id}"${ticked.includes(scope.id) ? html` checked` : ''}> <span>${scopeText(scope, frame)}</span></label>`

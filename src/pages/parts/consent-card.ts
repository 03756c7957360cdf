import type { Scope } from '../../model/scope.ts'
import type { Frame } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { type AskingClient, whoAsks } from './asking-client.ts'
import { facts } from './facts.ts'
import { csrf } from './forms.ts'
import { alert } from './notices.ts'
import { byGroup, scopeText } from './scopes.ts'

/** The part of the view that both consent pages share. */
export interface AskedConsent {
  readonly action: string
  readonly client: AskingClient
  /** The e-mail address of the user who decides. */
  readonly user: string
  /** The URL at which the user can log in with another account. */
  readonly otherAccount: string
  readonly scopes: readonly Scope[]
  /** The scopes that the user may untick. */
  readonly optionalScopes: readonly string[]
  /** The optional scopes that are ticked. */
  readonly ticked: readonly string[]
  readonly problem: string | undefined
}

/** The parts that differ between the two consent pages. */
interface Additions {
  /** The hidden field with the one-time ID of the stored request. The form contains no other part of the request. */
  readonly hidden: { readonly name: string; readonly value: string }
  /** The markup before the client. */
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
  const { client, scopes, optionalScopes } = view
  const name = html`<bdi>${client.name}</bdi>`
  return layout(
    frame,
    consent.title(client.name),
    html`<div class="card consent">
<h1>${filled(consent.title, name)}</h1>
${alert(view.problem)}
${before}${whoAsks(client, frame)}
<form method="post" action="${view.action}">
${csrf(frame)}
<input type="hidden" name="${hidden.name}" value="${hidden.value}">
${optionalScopes.length === 0 ? '' : undecided}
<p class="asks">${filled(scopes.length === 0 ? consent.nothing : consent.asks, html`<strong>${name}</strong>`)}</p>
${askedScopes(view, frame)}
${optionalScopes.length === 0 ? '' : html`<p class="hint">${consent.optional}</p>`}
${after}<p class="decision">
<button type="submit" name="confirm" value="yes">${consent.accept}</button>
<button type="submit" name="confirm" value="no" class="refuse">${consent.refuse}</button>
</p>
<p class="hint">${consent.lasting}</p>
</form>
${facts([[consent.user, account(view, frame)]])}
</div>`,
    { narrow: true, navigation: false },
  )
}

// Enter in a checkbox presses the first submit button of a form. This button is not visible and decides nothing.
const undecided = html`<button type="submit" name="confirm" value="" class="unseen" tabindex="-1" aria-hidden="true"></button>`

const account = ({ user, otherAccount }: AskedConsent, { texts }: Frame): Html =>
  html`<bdi>${user}</bdi><br><a href="${otherAccount}">${texts.consent.otherAccount}</a>`

/** Renders the requested scopes, with a checkbox for each optional scope. */
const askedScopes = (view: AskedConsent, frame: Frame): readonly Html[] =>
  byGroup(view.scopes, frame).map(
    ([heading, members]) => html`<section class="group">
<h2>${heading}</h2>
<ul>
${members.map((scope) => html`<li>${view.optionalScopes.includes(scope.id) ? box(scope, view, frame) : scopeText(scope, frame)}</li>`)}
</ul>
</section>`,
  )

const box = (scope: Scope, { ticked }: AskedConsent, frame: Frame): Html =>
  html`<label class="choice"><input type="checkbox" name="optional_scope" value="${scope.id}"${ticked.includes(scope.id) ? html` checked` : ''}> <span>${scopeText(scope, frame)}</span></label>`

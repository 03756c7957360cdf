import type { Scope } from '../../model/scope.ts'
import type { Frame, PageTemplate } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import { type AskingClient, whoAsks } from '../parts/asking-client.ts'
import { facts } from '../parts/facts.ts'
import { csrf } from '../parts/forms.ts'
import { alert, caution } from '../parts/notices.ts'
import { byGroup, scopeText } from '../parts/scopes.ts'

/** What a client wants to be allowed. */
export interface AskedScopes {
  readonly scopes: readonly Scope[]
  /** Those of the scopes that the user may untick. */
  readonly optionalScopes: readonly string[]
  /** Those of the optional ones that are ticked. */
  readonly ticked: readonly string[]
}

/** What a client asks of a user. */
export interface ConsentView extends AskedScopes {
  readonly action: string
  /** The one-time id of the stored request: all that the form carries of it. */
  readonly authorizationRequest: string
  readonly client: AskingClient & { readonly redirectUri: string }
  /** Who is granting: the e-mail address of the user. */
  readonly user: string
  readonly problem: string | undefined
}

/** The page on which a user decides what a client may do. */
export const consentPage: PageTemplate<ConsentView> = (view, frame) => {
  const { consent } = frame.texts
  const { client, scopes, optionalScopes } = view
  const isUnknown = client.origin !== 'owner' && !client.isVerified
  const name = html`<bdi>${client.name}</bdi>`
  return layout(
    frame,
    consent.title(client.name),
    html`<div class="card consent">
<h1>${filled(consent.title, name)}</h1>
${alert(view.problem)}
${whoAsks(client, frame)}
<form method="post" action="${view.action}">
${csrf(frame)}
<input type="hidden" name="authorization_request" value="${view.authorizationRequest}">
<p class="asks">${filled(scopes.length === 0 ? consent.nothing : consent.asks, html`<strong>${name}</strong>`)}</p>
${askedScopes(view, frame)}
${optionalScopes.length === 0 ? '' : html`<p class="hint">${consent.optional}</p>`}
<dl class="destination"><dt>${consent.destination}</dt><dd>${destination(client.redirectUri, frame)}</dd></dl>
${isUnknown && isLocal(client.redirectUri) ? caution(consent.localCaution) : ''}
<p class="decision">
<button type="submit" name="confirm" value="yes">${consent.accept}</button>
<button type="submit" name="confirm" value="no" class="refuse">${consent.refuse}</button>
</p>
<p class="hint">${consent.lasting}</p>
</form>
${facts([[consent.user, html`<bdi>${view.user}</bdi>`]])}
</div>`,
    { narrow: true, navigation: false },
  )
}

/** The scopes that a client asks for, with a box for each that may be refused. */
export const askedScopes = (view: AskedScopes, frame: Frame): readonly Html[] =>
  byGroup(view.scopes, frame).map(
    ([heading, members]) => html`<section class="group">
<h2>${heading}</h2>
<ul>
${members.map((scope) => html`<li>${view.optionalScopes.includes(scope.id) ? box(scope, view, frame) : scopeText(scope, frame)}</li>`)}
</ul>
</section>`,
  )

const box = (scope: Scope, { ticked }: AskedScopes, frame: Frame): Html =>
  html`<label class="choice"><input type="checkbox" name="optional_scope" value="${scope.id}"${ticked.includes(scope.id) ? html` checked` : ''}> <span>${scopeText(scope, frame)}</span></label>`

const loopback = ['localhost', '127.0.0.1', '[::1]']

/** Whether a redirect URI leads to the computer of whoever follows it. RFC 8252 §7.3. */
const isLocal = (redirectUri: string): boolean => loopback.includes(new URL(redirectUri).hostname)

/** Where a redirect URI leads: its host in the form that the network uses, so that look-alike letters show as what they are. */
const destination = (redirectUri: string, { texts }: Frame): Html => {
  const { protocol, host } = new URL(redirectUri)
  if (isLocal(redirectUri)) {
    return html`<code dir="ltr">${host}</code> (${texts.consent.local})`
  }
  return html`<code dir="ltr">${host === '' ? protocol : host}</code>`
}

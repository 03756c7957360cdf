import { loopbackHosts } from '../../model/loopback.ts'
import type { Frame, PageTemplate } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { AskingClient } from '../parts/asking-client.ts'
import { type AskedConsent, consentCard } from '../parts/consent-card.ts'
import { caution } from '../parts/notices.ts'

/** The view of the consent page for the authorization request of a client. */
export interface ConsentView extends AskedConsent {
  /** The one-time ID of the stored request. The form contains no other part of the request. */
  readonly authorizationRequest: string
  readonly client: AskingClient & { readonly redirectUri: string }
}

/** The page on which a user decides what a client may do. */
export const consentPage: PageTemplate<ConsentView> = (view, frame) => {
  const { consent } = frame.texts
  const { client } = view
  const isUnknown = client.origin !== 'owner' && !client.isVerified
  const after = html`<dl class="destination"><dt>${consent.destination}</dt><dd>${destination(client.redirectUri, frame)}</dd></dl>
${isUnknown && isLocal(client.redirectUri) ? caution(consent.localCaution) : ''}
`
  const hidden = { name: 'authorization_request', value: view.authorizationRequest }
  return consentCard(view, { hidden, after }, frame)
}

/** Returns whether a redirect URI leads to a program on the user's computer (RFC 8252 §7.3). */
const isLocal = (redirectUri: string): boolean =>
  loopbackHosts.includes(new URL(redirectUri).hostname)

/** Renders the host of a redirect URI in Punycode, which reveals look-alike letters. */
const destination = (redirectUri: string, { texts }: Frame): Html => {
  const { protocol, host } = new URL(redirectUri)
  if (isLocal(redirectUri)) {
    return html`<code dir="ltr">${host}</code> (${texts.consent.local})`
  }
  return html`<code dir="ltr">${host === '' ? protocol : host}</code>`
}

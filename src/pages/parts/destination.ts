import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'

const loopback = ['localhost', '127.0.0.1', '[::1]']

/** Whether a redirect URI leads to the computer of whoever follows it. RFC 8252 §7.3. */
export const isLocal = (redirectUri: string): boolean =>
  loopback.includes(new URL(redirectUri).hostname)

/** Where a redirect URI leads: its host in the form that the network uses, so that look-alike letters show as what they are. */
export const destination = (redirectUri: string, { texts }: Frame): Html => {
  const { protocol, host } = new URL(redirectUri)
  if (isLocal(redirectUri)) {
    return html`<code dir="ltr">${host}</code> (${texts.consent.local})`
  }
  return html`<code dir="ltr">${host === '' ? protocol : host}</code>`
}

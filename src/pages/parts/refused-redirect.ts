import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { RefusedRedirectDetails } from '../models/refused-redirect.ts'
import { facts } from './facts.ts'
import { caution } from './notices.ts'

/**
 * Renders the refused redirect URI, the registered redirect URIs, and their differences. The refused URI never becomes
 * a link, because it may belong to an attacker.
 */
export const refusedRedirect = (details: RefusedRedirectDetails, { texts }: Frame): Html => {
  const { error: words } = texts
  const { redirectUri, registered, difference, isDisabled } = details
  const parts = difference?.parts.map((part) => words.parts[part]) ?? []
  const rows = registered.map((uri) =>
    difference?.registered === uri && redirectUri !== undefined
      ? compared(uri, difference)
      : plain(uri),
  )
  return html`<section class="refused" aria-labelledby="refused">
<h2 id="refused"><bdi>${details.name}</bdi></h2>
<p class="about">${words.onlyYou}</p>
${isDisabled ? caution(words.disabled) : ''}
${facts([
  [
    words.refusedUri,
    redirectUri === undefined
      ? words.noUri
      : difference
        ? compared(redirectUri, difference)
        : plain(redirectUri),
  ],
  [words.registeredUris, rows.length === 0 ? words.noUri : html`${rows}`],
  parts.length === 0 || redirectUri === undefined
    ? undefined
    : [words.differs, html`<ul>${parts.map((part) => html`<li>${part}</li>`)}</ul>`],
])}
<p><a class="button quiet" href="${details.client}">${words.openClient}<span class="for-screen-readers"> <bdi>${details.name}</bdi></span></a></p>
</section>`
}

const plain = (uri: string): Html => html`<code class="uri" dir="ltr">${visible(uri)}</code>`

const compared = (
  uri: string,
  { equalStart, equalEnd }: { readonly equalStart: number; readonly equalEnd: number },
): Html => {
  const end = uri.length - equalEnd
  const middle = uri.slice(equalStart, end)
  const marked = middle === '' ? html`` : html`<mark>${visible(middle)}</mark>`
  return html`<code class="uri" dir="ltr">${visible(uri.slice(0, equalStart))}${marked}${visible(uri.slice(end))}</code>`
}

/**
 * Renders a URI of a request. In place of each space and each character outside of ASCII, renders the code point. A URI
 * must not contain these characters: they may be invisible, change the text direction, or look like other characters.
 */
export const visible = (text: string): readonly Html[] =>
  [...text.matchAll(/[\x21-\x7E]+|[^\x21-\x7E]/gu)].map(([run]) =>
    /^[\x21-\x7E]/.test(run)
      ? html`${run}`
      : html`<b>U+${(run.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}</b>`,
  )

import type { Refusal } from '../../model/refusal.ts'
import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { facts } from './facts.ts'
import { visible } from './refused-redirect.ts'
import { command, copyable } from './secret.ts'
import { time } from './times.ts'

/** What a developer needs to connect a client. */
export interface DeveloperDesk {
  /** The new secret, which the server shows once; null afterwards. */
  readonly clientSecret: string | null
  /** The issuer, and the URLs of the metadata and the endpoints, each with its name in the metadata (RFC 8414 §2). */
  readonly endpoints: readonly { readonly name: string; readonly url: string }[]
  /**
   * A link and code examples to try the client. Null if the client is inactive, or if a short code example cannot send
   * its token request.
   */
  readonly tryIt: {
    /** The URL that starts the authorization code flow; null if the client uses `client_credentials`. */
    readonly href: string | null
    /** Whether the code examples contain the placeholder `SECRET`, which the developer replaces. */
    readonly needsSecret: boolean
    /**
     * Code examples that send the token request, each with the name of its language. If the request redeems an
     * authorization code, the examples contain the placeholder `CODE`.
     */
    readonly snippets: readonly { readonly name: string; readonly code: string }[]
  } | null
  /** The latest refused requests of the client, the latest first. */
  readonly refusals: readonly Refusal[]
}

/** Renders the URLs of the server's endpoints, each with its name in the metadata of the server. */
export const endpoints = (view: DeveloperDesk, frame: Frame): Html => {
  const { client: texts } = frame.texts
  return html`<details>
<summary>${texts.endpoints}</summary>
<p class="hint">${texts.endpointsAbout}</p>
${facts(view.endpoints.map(({ name, url }) => [name, copyable(`endpoint-${name}`, url, frame, name)]))}
</details>`
}

/**
 * Renders code examples that send the token request. If the client can use the authorization code flow, also renders a
 * link that starts the flow. Renders nothing if `tryIt` is null.
 */
export const tryIt = ({ tryIt, clientSecret }: DeveloperDesk, frame: Frame): Html => {
  if (!tryIt) return html``
  const { client: texts } = frame.texts
  const { href, needsSecret, snippets } = tryIt
  const start = html`<p><a class="button quiet" href="${href}" target="_blank" rel="noopener">${texts.tryItStart}</a> <small>${texts.newTab}</small></p>
<p>${texts.tryItAbout}</p>
<p>${needsSecret ? texts.tryItCurlSecret : texts.tryItCurl}</p>`
  const machine = html`<p>${needsSecret ? texts.tryMachineSecret : texts.tryMachine}</p>`
  return html`<details${clientSecret === null ? '' : html` open`}>
<summary>${texts.tryIt}</summary>
${href === null ? machine : start}
${snippets.map(
  ({ name, code }) => html`<h3>${name}</h3>
${command(`try-it-${name}`, code, frame, name)}`,
)}
</details>`
}

/** Renders the latest refused requests of an application, with the reasons; nothing without refused requests. */
export const refusals = (list: readonly Refusal[], frame: Frame): Html => {
  if (list.length === 0) return html``
  const { client: texts } = frame.texts
  return html`<details>
<summary>${texts.refusals}</summary>
<p class="hint">${texts.refusalsAbout}</p>
<ul class="refusals">
${list.map(
  ({ at, error, description, redirectUri }) => html`<li>${time(frame, at)}
<code dir="ltr">${error}</code> <span lang="en" dir="ltr">${description}</span>
${redirectUri === undefined ? '' : html`<code dir="ltr">${visible(redirectUri)}</code>`}</li>`,
)}
</ul>
</details>`
}

import type { ClientOrigin } from '../../model/client.ts'
import type { Frame } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import { badge, type Fact, facts } from './facts.ts'
import { caution } from './notices.ts'
import { description, websiteLink } from './outside.ts'

/** The data of a requesting client that the consent page displays. */
export interface AskingClient {
  readonly name: string
  readonly description: string
  readonly website: string
  readonly owner: string | undefined
  readonly isVerified: boolean
  /** Whether the name mixes look-alike letters of several alphabets. */
  readonly mixesAlphabets: boolean
  /**
   * Whether the owner registered the client, the client registered itself, or a document at a URL describes the client.
   */
  readonly origin: ClientOrigin
  /** The host of the document that describes the client; undefined if no document describes the client. */
  readonly describedAt: string | undefined
  /** The URLs of the terms of use and the privacy policy; empty if unknown. */
  readonly terms: string
  readonly privacy: string
}

/**
 * Renders the requesting client and whether it is verified. Statements of the client are visually separated from
 * statements of the server.
 */
export const whoAsks = (client: AskingClient, frame: Frame): Html => {
  const { consent, facts: words } = frame.texts
  const rows: readonly Fact[] = [
    client.website === '' ? undefined : [consent.website, websiteLink(client.website)],
    client.terms === '' ? undefined : [consent.terms, websiteLink(client.terms)],
    client.privacy === '' ? undefined : [consent.privacy, websiteLink(client.privacy)],
  ]
  const owner: Fact =
    client.owner === undefined ? undefined : [consent.owner, html`<bdi>${client.owner}</bdi>`]
  return html`${client.mixesAlphabets ? caution(consent.mixesAlphabets) : ''}
${client.isVerified ? html`<p>${badge(words.verified, 'good')}</p>` : caution(unchecked(client, frame))}
${client.origin === 'owner' ? facts([owner, ...rows]) : ownWords(client, rows, frame)}
${description(client.name, client.description, frame)}`
}

// Renders the facts that a client states about itself.
const ownWords = ({ name }: AskingClient, rows: readonly Fact[], { texts }: Frame): Html =>
  rows.every((row) => row === undefined)
    ? html``
    : html`<figure class="description">
<figcaption>${filled(texts.facts.words, html`<bdi>${name}</bdi>`)}</figcaption>
${facts(rows)}
</figure>`

const unchecked = ({ origin, describedAt }: AskingClient, { brand, texts }: Frame): Html => {
  const { consent } = texts
  if (describedAt !== undefined)
    return filled(consent.selfDescribed, html`<code dir="ltr">${describedAt}</code>`)
  const sentence = origin === 'owner' ? consent.unverified : consent.selfRegistered
  return filled(sentence, html`<bdi>${brand.name}</bdi>`)
}

import type { ClientOrigin } from '../../model/client.ts'
import type { Frame } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import { badge, type Fact, facts } from './facts.ts'
import { caution } from './notices.ts'
import { description, websiteLink } from './outside.ts'

/** A client that asks for something, as it is shown to the user who decides. */
export interface AskingClient {
  readonly name: string
  readonly description: string
  readonly website: string
  readonly owner: string | undefined
  readonly isVerified: boolean
  /** Whether the name has letters of several alphabets, which may pose as each other. */
  readonly mixesAlphabets: boolean
  /** Where it comes from: registered by its owner or by itself, or described at an address of its own. */
  readonly origin: ClientOrigin
  /** The host of that address; undefined for every other origin. */
  readonly describedAt: string | undefined
  /** Addresses of its terms of use and its privacy policy; empty where it names none. */
  readonly terms: string
  readonly privacy: string
}

/** Who asks, and how much of that anybody has checked: what the client says of itself stands apart from our words. */
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

// Nobody but the client itself says so.
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

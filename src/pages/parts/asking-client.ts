import type { ClientOrigin } from '../../model/entities/client.ts'
import type { Frame } from '../frame.ts'
import { filled, type Html, html } from '../html.ts'
import { badge, type Fact, facts } from './facts.ts'
import { caution } from './notices.ts'
import { description, websiteLink } from './outside.ts'

/** The data of a requesting client that the consent pages display. */
export interface AskingClient {
  readonly name: string
  /** The URL of the stored logo of a verified client; null without a stored logo. */
  readonly logo: string | null
  readonly description: string
  readonly website: string
  /** The e-mail address of the user who registered the client; undefined without an owner. */
  readonly owner: string | undefined
  readonly isVerified: boolean
  /** Whether the name mixes look-alike letters of several alphabets. */
  readonly mixesAlphabets: boolean
  /** The source of the client's data: its owner, the client itself, or a metadata document. */
  readonly origin: ClientOrigin
  /** The host of the client's metadata document; undefined for a client without a metadata document. */
  readonly describedAt: string | undefined
  /** The URLs of the terms of use and the privacy policy; empty if unknown. */
  readonly terms: string
  readonly privacy: string
}

/**
 * Renders the statements of this server about the requesting client: a warning if the name mixes alphabets, whether the
 * client is verified, and who registered the client. If a user of this server registered the client, also renders the
 * website of the client. Otherwise the client itself claims the website, so `statementsOfClient` renders it.
 */
export const statementsOfServer = (client: AskingClient, frame: Frame): Html => {
  const { consent, facts: words } = frame.texts
  const { owner, website } = client
  return html`${client.mixesAlphabets ? caution(consent.mixesAlphabets) : ''}
${client.isVerified ? html`<p class="verified">${badge(words.verified, 'good')}</p>` : caution(unchecked(client, frame))}
${facts([
  owner === undefined ? undefined : [consent.owner, html`<bdi>${owner}</bdi>`],
  client.origin === 'owner' ? link(consent.website, website) : undefined,
])}`
}

/** Renders the statements of a client about itself, visually separated from the statements of the server. */
export const statementsOfClient = (client: AskingClient, frame: Frame): Html => {
  const { consent } = frame.texts
  const { name, website, terms, privacy } = client
  const rows = [
    client.origin === 'owner' ? undefined : link(consent.website, website),
    link(consent.terms, terms),
    link(consent.privacy, privacy),
  ]
  const links = rows.every((row) => row === undefined)
    ? ''
    : html`<figure class="description">
<figcaption>${filled(frame.texts.facts.words, html`<bdi>${name}</bdi>`)}</figcaption>
${facts(rows)}
</figure>`
  return html`${links}
${description(name, client.description, frame)}`
}

const link = (term: string, url: string): Fact =>
  url === '' ? undefined : [term, websiteLink(url)]

const unchecked = ({ origin, describedAt }: AskingClient, { brand, texts }: Frame): Html => {
  const { consent } = texts
  if (describedAt !== undefined)
    return filled(consent.selfDescribed, html`<code dir="ltr">${describedAt}</code>`)
  const sentence = origin === 'owner' ? consent.unverified : consent.selfRegistered
  return filled(sentence, html`<bdi>${brand.name}</bdi>`)
}

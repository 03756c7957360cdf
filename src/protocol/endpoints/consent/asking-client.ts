import type { Client } from '../../../model/client.ts'
import { keptMetadata } from '../../../model/client-metadata.ts'
import { shownEmail } from '../../../model/email-address.ts'
import { mixesAlphabets } from '../../../model/mixes-alphabets.ts'
import type { AskingClient } from '../../../pages/parts/asking-client.ts'
import type { Configuration, Identity } from '../../server-context.ts'
import { logoUrlOf } from '../assets/client-logo.ts'

/** Returns the values that the consent page shows about a client. */
export const askingClient = (client: Client, server: Identity & Configuration): AskingClient => {
  const { name, description, website, origin, clientId } = client
  const { tos_uri: terms = '', policy_uri: privacy = '' } = keptMetadata(client)
  return {
    name,
    logo: logoUrlOf(client, server),
    description,
    website,
    owner: client.owner ? shownEmail(client.owner.email) : undefined,
    isVerified: client.isVerified || client.isInternal,
    mixesAlphabets: mixesAlphabets(name),
    origin,
    // The ID of a client with a metadata document is the URL of this document.
    describedAt: origin === 'metadata_document' ? new URL(clientId).host : undefined,
    terms,
    privacy,
  }
}

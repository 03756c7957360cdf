import { createHmac } from 'node:crypto'
import type { Client } from '../model/client.ts'
import { keptMetadata } from '../model/client-metadata.ts'
import type { UserId } from '../model/user.ts'
import type { Keys } from './server-context.ts'

/** Returns whether the client knows its users under identifiers that differ from those of other sectors. Core §8. */
const isPairwise = (client: Pick<Client, 'metadata'>): boolean =>
  keptMetadata(client).subject_type === 'pairwise'

/** Returns the identifier of a user for a client: the ID of the user, or an identifier for the client's sector. */
export const subjectFor = async (
  userId: UserId,
  client: Pick<Client, 'metadata' | 'redirectUris'>,
  { signingKeys }: Pick<Keys, 'signingKeys'>,
): Promise<string> => {
  if (!isPairwise(client)) return String(userId)
  const key = await signingKeys.pairwiseKey()
  const sector = sectorOf(client)
  return createHmac('sha256', key)
    .update(JSON.stringify([sector, String(userId)]))
    .digest('base64url')
}

/** Returns the ID of a user in responses to a client, which is the subject for a pairwise client. */
export const userIdFor = async (
  userId: UserId,
  client: Pick<Client, 'metadata' | 'redirectUris'>,
  server: Pick<Keys, 'signingKeys'>,
): Promise<UserId> => (isPairwise(client) ? subjectFor(userId, client, server) : userId)

/** Returns the sector of a client: the host of its sector identifier, or of its redirect URIs. Core §8.1. */
const sectorOf = (client: Pick<Client, 'metadata' | 'redirectUris'>): string => {
  const { sector_identifier_uri: uri = client.redirectUris[0] ?? '' } = keptMetadata(client)
  return URL.canParse(uri) ? new URL(uri).host : ''
}

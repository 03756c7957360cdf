import { createHmac } from 'node:crypto'
import type { Client } from '../model/client.ts'
import { keptMetadata } from '../model/client-metadata.ts'
import type { UserId } from '../model/user.ts'
import type { Keys } from './server-context.ts'

/** The fields of a client that determine its subjects. */
export type PairwiseClient = Pick<Client, 'metadata' | 'redirectUris' | 'origin' | 'clientId'>

/** Returns whether the client has pairwise subjects, which differ in each sector. OpenID Connect Core §8. */
const isPairwise = (client: Pick<Client, 'metadata'>): boolean =>
  keptMetadata(client).subject_type === 'pairwise'

/** Returns the identifier of a user for a client: the ID of the user, or an identifier for the client's sector. */
export const subjectFor = async (
  userId: UserId,
  client: PairwiseClient,
  { signingKeys }: Pick<Keys, 'signingKeys'>,
): Promise<string> => {
  if (!isPairwise(client)) return String(userId)
  const key = await signingKeys.pairwiseKey()
  const sector = sectorOf(client)
  return createHmac('sha256', key)
    .update(JSON.stringify([sector, String(userId)]))
    .digest('base64url')
}

/** Returns the user ID for responses to a client: for a pairwise client the subject, otherwise the ID itself. */
export const userIdFor = async (
  userId: UserId,
  client: PairwiseClient,
  server: Pick<Keys, 'signingKeys'>,
): Promise<UserId> => (isPairwise(client) ? subjectFor(userId, client, server) : userId)

/**
 * Returns the sector of a client: the host of its sector identifier, or of its redirect URIs (Core §8.1). If neither
 * proves the sector, the client has its own sector, so that it does not learn the subjects of another sector.
 */
const sectorOf = (client: PairwiseClient): string => {
  const { sector_identifier_uri: uri } = keptMetadata(client)
  // Ignore the sector identifier of a metadata document, because the server does not verify it.
  if (uri !== undefined && client.origin !== 'metadata_document') return new URL(uri).host
  const hosts = new Set(client.redirectUris.map((one) => new URL(one).host))
  const [host = ''] = hosts
  return hosts.size === 1 && host !== '' ? host : `client ${client.clientId}`
}

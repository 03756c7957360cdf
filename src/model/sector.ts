import { createHmac } from 'node:crypto'
import type { Client } from './client.ts'
import { keptMetadata } from './client-metadata.ts'
import type { UserId } from './user.ts'

/**
 * Returns the sector for a user who has the ID of a former user. Their subjects differ in every sector, also in the
 * sector of all clients with public subjects.
 * @param reusedSince the time since when the ID belongs to this user, in milliseconds since the epoch; null for the first
 * user with this ID
 */
export const sectorSince = (sector: string | null, reusedSince: number | null): string | null =>
  reusedSince === null ? sector : `${sector ?? publicSector} since ${reusedSince}`

// No host begins with this character.
const publicSector = '*'

/** Returns whether clients in this sector may learn the ID of the user. */
const showsUserId = (sector: string | null): boolean =>
  sector?.startsWith(`${publicSector} `) ?? true

/** The fields of a client that determine its sector. */
export type SectorClient = Pick<Client, 'metadata' | 'redirectUris' | 'origin' | 'clientId'>

/**
 * Returns the sector in which a client sees its own subject of a user (OpenID Connect Core §8.1); null for a client with
 * public subjects. The sector is a host only if the redirect URI that received the response proves the host. Otherwise,
 * the client has a sector of its own, so that it does not learn the subjects of another sector.
 * @param received the redirect URI that received the code or the token; undefined for a grant without a redirect
 */
export const sectorOf = (client: SectorClient, received?: string): string | null => {
  // Most clients have public subjects, so avoid parsing their metadata.
  if (!client.metadata.includes('pairwise')) return null
  const { subject_type, sector_identifier_uri: uri } = keptMetadata(client)
  if (subject_type !== 'pairwise') return null
  const own = `client ${client.clientId}`
  // Any program on the device of the user can receive a redirect to the loopback interface or to a private-use scheme.
  if (!received?.startsWith('https:') || !client.redirectUris.includes(received)) return own
  // Ignore the sector identifier of a metadata document, because the server does not verify it.
  if (uri !== undefined && client.origin !== 'metadata_document') return new URL(uri).host
  const hosts = new Set(client.redirectUris.map((one) => new URL(one).host))
  return hosts.size === 1 ? new URL(received).host : own
}

type SubjectKeys = { readonly signingKeys: { pairwiseKey(): Promise<Uint8Array> } }

/**
 * Returns the identifier of a user in a sector (OpenID Connect Core §8). Without a sector, returns the ID of the user.
 * The sector of a token never changes, so that a client cannot move its tokens into another sector.
 */
export const subjectIn = async (
  sector: string | null,
  userId: UserId,
  { signingKeys }: SubjectKeys,
): Promise<string> =>
  sector === null
    ? String(userId)
    : createHmac('sha256', await signingKeys.pairwiseKey())
        .update(JSON.stringify([sector, String(userId)]))
        .digest('base64url')

/** Returns the user ID in responses to a client: the ID itself, or the subject for a client with pairwise subjects. */
export const userIdIn = async (
  sector: string | null,
  userId: UserId,
  server: SubjectKeys,
): Promise<UserId> => (showsUserId(sector) ? userId : subjectIn(sector, userId, server))

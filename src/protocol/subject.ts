import { createHmac } from 'node:crypto'
import { showsUserId } from '../model/sector.ts'
import type { UserId } from '../model/user.ts'
import type { Keys } from './server-context.ts'

type SubjectKeys = { readonly signingKeys: Pick<Keys['signingKeys'], 'pairwiseKey'> }

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

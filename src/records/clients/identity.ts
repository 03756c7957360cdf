import type { ClientFields } from '../../model/client.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import type { CheckedFields } from './client-input.ts'

/**
 * Returns whether the verification by an administrator still applies: name, description, owner and URLs are unchanged.
 */
export const hasSameIdentity = (before: CheckedFields, after: CheckedFields): boolean =>
  before.name === after.name &&
  before.description === after.description &&
  before.userId === after.userId &&
  before.website === after.website &&
  linksOf(before) === linksOf(after) &&
  after.redirectUris.every((uri) => before.redirectUris.includes(uri))

const linksOf = (client: Pick<ClientFields, 'metadata'>): string => {
  const { tos_uri: terms, policy_uri: privacy } = keptMetadata(client)
  return JSON.stringify([terms, privacy])
}

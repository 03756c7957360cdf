import type { Client, ClientFields } from '../../model/client.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import type { CheckedFields } from './client-input.ts'

/**
 * Whether a verification by an administrator still applies: name, description, owner and addresses are as they were
 * checked.
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

/** The fields of a self-described client that this server decides, not its document. */
export const keptOf = (
  stored: Client,
  described: CheckedFields,
): Pick<
  ClientFields,
  'clientKey' | 'clientSecret' | 'createdAt' | 'isDisabled' | 'isVerified'
> => ({
  clientKey: stored.clientKey,
  clientSecret: stored.clientSecret,
  createdAt: stored.createdAt,
  isDisabled: stored.isDisabled,
  isVerified: stored.isVerified && hasSameIdentity(withoutTime(stored), withoutTime(described)),
})

// When its document was last seen is no part of what it says.
const withoutTime = (client: CheckedFields): CheckedFields => ({
  ...client,
  metadata: JSON.stringify({ ...JSON.parse(client.metadata), confirmed_at: undefined }),
})

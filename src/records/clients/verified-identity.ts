import { sha256 } from '../../crypto/digest.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import type { ClientFields } from '../../model/entities/client.ts'

type Identified = Pick<
  ClientFields,
  'name' | 'description' | 'website' | 'userId' | 'redirectUris' | 'metadata'
>

/**
 * Returns the data of a client that the verification by an administrator covers. The page of the administrator shows
 * every member, and the consent page shows users no other data as verified.
 */
export const verifiedIdentity = ({
  name,
  description,
  website,
  userId,
  redirectUris,
  ...client
}: Identified) => {
  const {
    logo_uri: logoUri = '',
    tos_uri: terms = '',
    policy_uri: privacy = '',
    post_logout_redirect_uris: postLogoutRedirectUris = [],
  } = keptMetadata(client)
  const links = { website, logoUri, terms, privacy }
  return { name, description, userId, ...links, redirectUris, postLogoutRedirectUris }
}

/** Returns a digest of the data that a verification covers. */
export const identityDigest = (client: Identified): string =>
  sha256(JSON.stringify(verifiedIdentity(client)))

/**
 * Returns whether the verification of a client remains valid after a change: no text has changed, and no URI was added
 * to a list.
 */
export const hasSameIdentity = (before: Identified, after: Identified): boolean => {
  const former: Readonly<Record<string, unknown>> = verifiedIdentity(before)
  return Object.entries(verifiedIdentity(after)).every(([name, value]) => {
    const was = former[name]
    return Array.isArray(value) && Array.isArray(was)
      ? value.every((one) => was.includes(one))
      : value === was
  })
}

import { type Digest, digestOf } from '../../crypto/digest.ts'
import type { ClientFields } from '../../model/entities/client.ts'

/** Returns the fields of a former secret, which remains valid until `expires`. Null removes the former secret. */
export const formerSecret = (
  secret: Digest | null,
  expires?: number,
): Pick<ClientFields, 'previousClientSecret' | 'previousClientSecretExpires'> => ({
  previousClientSecret: secret,
  previousClientSecretExpires: secret === null ? null : (expires ?? null),
})

/** Returns the fields of a new secret of a client. A former secret becomes invalid immediately. */
export const newSecret = (client: Pick<ClientFields, 'origin' | 'metadata'>, secret: string) => ({
  clientSecret: digestOf('client_secret', secret),
  ...leakedAt(client, null),
  ...formerSecret(null),
})

/**
 * Returns the metadata with the time of the leak, which the settings page of the client shows. If no owner registered
 * the client, returns the metadata unchanged, because the client has no settings page.
 * @param at milliseconds since the epoch; null removes the time
 */
export const leakedAt = (
  { origin, metadata }: Pick<ClientFields, 'origin' | 'metadata'>,
  at: number | null,
): Pick<ClientFields, 'metadata'> => {
  if (origin !== 'owner') return { metadata }
  const said = { ...JSON.parse(metadata), secret_leaked_at: at ?? undefined }
  return { metadata: JSON.stringify(said) }
}

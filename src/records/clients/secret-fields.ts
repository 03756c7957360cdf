import { type Digest, digestOf } from '../../crypto/digest.ts'
import type { ClientFields } from '../../model/client.ts'

/** Keeps a former secret until it expires, or forgets it. */
export const formerSecret = (
  secret: Digest | null,
  expires?: number,
): Pick<ClientFields, 'previousClientSecret' | 'previousClientSecretExpires'> => ({
  previousClientSecret: secret,
  previousClientSecretExpires: secret === null ? null : (expires ?? null),
})

/** The client with a new secret. A former one ends at once. */
export const withSecret = (client: ClientFields, secret: string): ClientFields => ({
  ...client,
  clientSecret: digestOf('client_secret', secret),
  ...leakedAt(client, null),
  ...formerSecret(null),
})

/** Notes when the secret leaked, for the page of the owner. A client without an owner here has no page. */
export const leakedAt = (
  { origin, metadata }: Pick<ClientFields, 'origin' | 'metadata'>,
  at: number | null,
): Pick<ClientFields, 'metadata'> => {
  if (origin !== 'owner') return { metadata }
  const said = { ...JSON.parse(metadata), secret_leaked_at: at ?? undefined }
  return { metadata: JSON.stringify(said) }
}

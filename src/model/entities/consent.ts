import { claimsOf, entity, type RecordOf } from './entity.ts'
import { having, list, nullable, number, sealed, text, userKey } from './field.ts'

/** The fields of a consent. */
const fields = {
  /** The ID, which changes if the user withdraws the consent and consents again. */
  id: text(),
  userId: userKey(),
  clientId: having(text(), { place: 'joined' }),
  clientKey: number(),
  scopes: list(),
  /** The optional scopes that the user declined. If the consent page appears again, these scopes are not ticked. */
  declinedScopes: list(),
  grantedAt: number(),
  /**
   * The time since when the ID of the user belongs to this user, if a former user had the same ID; otherwise null.
   * Milliseconds since the epoch.
   */
  reusedSince: having(nullable(number()), { since: 17, initial: null }),
}
/** A user's decision to grant scopes to a client, stored until the user withdraws the consent. */
export interface Consent extends RecordOf<typeof fields> {}
export const consentClaims = claimsOf('consent', fields)

const row = {
  consent: fields,
  seal: sealed(({ consent }: { consent: Consent }) => consentClaims(consent)),
}

export interface SealedConsent extends RecordOf<typeof row> {}
export const consentCodec = entity('oauth2server_consent', row, { key: ['user_id', 'client_key'] })

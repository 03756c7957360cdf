import { entity, type RecordOf } from './entity.ts'
import { computed, flag, having, nullable, number, text, userKey } from './field.ts'

const fields = {
  /** The digest of the session identifier. For a session of the server, this is the `id` of its `StoredSession`. */
  session: having(text(), { column: 'session_id' }),
  /** The claim `sid` of the ID token. */
  sid: text(),
  clientKey: number(),
  userId: userKey(),
  /** The ID of the authorization of the login; null if the client received only an ID token. */
  authorizationId: nullable(number()),
  /** Whether the client may keep its access after the logout (OpenID Connect Core §11). */
  isOffline: flag(),
  /** Milliseconds since the epoch. */
  expiresAt: number(),
}

/** The login of a user at a client. The server uses the login to notify the client of the logout. */
export interface ClientLogin extends RecordOf<typeof fields> {}

// Without an authorization, use one ID per session and client, because the client may receive many ID tokens.
const idOf = ({ authorizationId, sid, clientKey }: ClientLogin): string =>
  authorizationId === null ? `${sid} ${clientKey}` : String(authorizationId)
export const clientLoginCodec = entity('oauth2server_client_login', fields, {
  computed: { id: computed(text(), idOf) },
})

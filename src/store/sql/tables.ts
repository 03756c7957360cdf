import type { Generated } from 'kysely'
import type { Digest } from '../../crypto/digest.ts'
import type { Sealed } from '../../crypto/sealed.ts'
import type { TokenFields } from '../../model/token.ts'
import type { SweeperNoteKind } from '../contract/sweeper.ts'

/** A boolean as 0 or 1, because SQLite has no boolean type. */
export type Flag = 0 | 1

/**
 * The tables. Times are milliseconds since the epoch. A list is a text with a space between the entries;
 * `redirect_uris` has a line break instead. User IDs have the key type of the user table. In the audit tables, user IDs
 * are text.
 */
export interface Tables {
  oauth2server_user: {
    id: number
    email: string
    password_hash: string | null
    active: Flag
    email_verified: Flag
    is_admin: Flag
    created_at: number
    seal: string
  }
  oauth2server_client: {
    client_key: number
    client_id: string
    client_secret: string
    name: string
    description: string
    website: string
    user_id: number | string | null
    is_confidential: Flag
    is_internal: Flag
    is_personal: Flag
    redirect_uris: string
    default_scopes: string
    allowed_scopes: string | null
    grant_types: string | null
    response_types: string | null
    token_endpoint_auth_method: string | null
    default_resource: string | null
    created_at: number
    seal: string
    state_seal: string
    optional_scopes: string
    is_verified: Flag
    is_disabled: Flag
    is_pinned: Flag
    previous_client_secret: string | null
    previous_client_secret_expires: number | null
    origin: string
    jwks: string | null
    jwks_uri: string | null
    registration_token: string | null
    /** The digest of the stored logo. */
    logo: string | null
    metadata: string
    /** Tokens of `client_credentials` with this ID or a lower ID are invalid. */
    own_tokens_until: number | null
  }
  /** The logos of verified clients. */
  oauth2server_client_logo: {
    client_key: number
    digest: string | null
    /** In base64. */
    image: string | null
    /** The time at which a fetch was requested or last started; null if no fetch is pending. */
    requested_at: number | null
    /** The reason why the last fetch failed; null if the fetch did not fail. */
    problem: string | null
  }
  oauth2server_authorization: {
    id: Generated<number>
    client_key: number
    user_id: number | string | null
    scopes: string
    code_digest: string | null
    code_binding: string | null
    created_at: number
    expires_at: number
    revoked_at: number | null
    user_agent: string
    resources: string
  }
  oauth2server_token: {
    id: Generated<number>
    client_key: number
    user_id: number | string | null
    authorization_id: number | null
    token_type: TokenFields['tokenType']
    access_token: Sealed
    access_token_digest: Digest
    refresh_token: Sealed | null
    refresh_token_digest: Digest | null
    expires: number | null
    refresh_expires: number | null
    /** The time at which both tokens have expired; null if they never expire. */
    ends_at: number | null
    scopes: string
    is_personal: Flag
    is_internal: Flag
    created_at: number
    last_used_at: number | null
    last_used_address: string | null
    /** The scopes that guards required from a personal token. */
    used_scopes: Generated<string>
    successor_id: number | null
    former_digest: Digest | null
    former_expires: number | null
    resources: string
    key_thumbprint: string | null
    parent_id: number | null
    sector: string | null
    login_digest: string | null
  }
  oauth2server_rotated_refresh_token: {
    digest: Digest
    authorization_id: number
    successor: Digest
    parameters: string
    rotated_at: number
    seal: Sealed
  }
  oauth2server_consent: {
    id: string
    user_id: number | string
    client_key: number
    scopes: string
    granted_at: number
    seal: string
    declined_scopes: string
    reused_since: number | null
  }
  oauth2server_session: {
    id: string
    user_id: number | string
    address: string
    user_agent: string
    created_at: number
    expires_at: number
    last_seen_at: number
    seal: string
  }
  /** The logins of users at clients. Each row records that a client received an ID token in a session. */
  oauth2server_client_login: {
    id: string
    authorization_id: number | null
    session_id: string
    sid: string
    client_key: number
    user_id: number | string
    is_offline: Flag
    expires_at: number
  }
  /** Logouts of which clients must be notified. */
  oauth2server_logout_notice: {
    id: string
    client_key: number
    user_id: string
    sid: string
    attempts: number
    /** The time of the next attempt, or the end of the claim of the process that is sending the notice. */
    due_at: number
    expires_at: number
  }
  /** Deleted clients and built-in users that may still have rows. */
  oauth2server_removal: {
    kind: 'client' | 'user'
    key: number
    at: number
  }
  /** Times that the sweeper stores for its next run. */
  oauth2server_sweeper_note: {
    kind: SweeperNoteKind
    key: string
    at: number
  }
  oauth2server_transient: {
    key: string
    value: string | null
    count: number
    expires_at: number
    /** A digest of the owner, if the values of each owner are counted. */
    owner: string | null
  }
  oauth2server_audit: {
    id: Generated<number>
    at: number
    event: string
    actor_id: string | null
    actor_email: string
    client_id: string | null
    token_id: number | null
    subject: string
    address: string
    actor: string
    user_id: string | null
    user_email: string | null
    authorization_id: number | null
    user_agent: string
    request_id: string | null
    is_routine: Flag
    details: string
    seal: string
  }
  oauth2server_audit_checkpoint: {
    number: number
    at: number
    after_id: number
    last_id: number
    ids: string
    rows_digest: string
    latest_at: number
    forged: string
    removed_up_to: number
    previous: string
    seal: string
  }
  /** The numbers of routine events in each hour; `at` is the start of the hour. Each process writes separate rows. */
  oauth2server_audit_count: {
    at: number
    client_id: string
    event: string
    grant_type: string
    /** Empty for tokens without a user. */
    user_id: string
    writer: number
    count: number
  }
  oauth2server_signing_key: {
    id: string
    algorithm: string
    public_key: string
    private_key: string
    created_at: number
  }
  oauth2server_secret_key: {
    id: string
    created_at: number
  }
}

import type { Generated } from 'kysely'
import type { CheckpointRow } from '../../model/entities/audit-checkpoint.ts'
import type { AuthorizationRow } from '../../model/entities/authorization.ts'
import type { ClientRow } from '../../model/entities/client.ts'
import type { ConsentRow } from '../../model/entities/consent.ts'
import type { Flag } from '../../model/entities/field.ts'
import type { RotatedTokenRow } from '../../model/entities/rotated-token.ts'
import type { SessionRow } from '../../model/entities/session.ts'
import type { SigningKeyRow } from '../../model/entities/signing-key.ts'
import type { TokenRow } from '../../model/entities/token.ts'
import type { UserRow } from '../../model/entities/user.ts'
import type { SweeperNoteKind } from '../contract/sweeper.ts'

type Assigned<Row, Column extends keyof Row> = Omit<Row, Column> & {
  [Name in Column]: Generated<Row[Name]>
}

/**
 * The tables. Times are milliseconds since the epoch. A list is a text with a space between the entries;
 * `redirect_uris` has a line break instead. User IDs have the key type of the user table. In the audit tables, user IDs
 * are text.
 */
export interface Tables {
  oauth2server_user: UserRow
  oauth2server_client: ClientRow
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
  oauth2server_authorization: Assigned<AuthorizationRow, 'id'>
  oauth2server_token: Assigned<TokenRow, 'id'> & {
    last_used_at: number | null
    last_used_address: string | null
    /** The scopes that guards required from a personal token. */
    used_scopes: Generated<string>
  }
  oauth2server_rotated_refresh_token: RotatedTokenRow
  oauth2server_consent: ConsentRow
  oauth2server_session: SessionRow
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
  oauth2server_audit_checkpoint: CheckpointRow
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
  oauth2server_signing_key: SigningKeyRow
  oauth2server_secret_key: {
    id: string
    created_at: number
  }
}

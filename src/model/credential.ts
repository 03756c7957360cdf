import type { Digest } from '../crypto/digest.ts'
import type { LeakedCredential } from './leak-report.ts'
import type { UserId } from './user.ts'

/** The kind of a credential that a user can look up. */
export type CredentialKind = LeakedCredential['kind'] | 'authorization_code' | 'session'

/** A credential without its value, and the objects to which it belongs. */
export interface Credential {
  readonly kind: CredentialKind
  /** The last four characters of the value. */
  readonly ending: string
  /** The name of the personal token or of the application; empty for a session. */
  readonly name: string
  /** The user of the token, code or session; for a client secret, the owner of the client. */
  readonly userId: UserId | null
  /** The application; null for a personal token and for a session. */
  readonly clientId: string | null
  readonly tokenId: number | null
  readonly authorizationId: number | null
  /** The digest of a client secret, of a code or of a session; null for a token. */
  readonly digest: Digest | null
}

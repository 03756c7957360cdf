import type { Digest } from '../crypto/digest.ts'
import type { CredentialKind } from './leak-report.ts'
import type { UserId } from './user.ts'

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
  /** The digest of a personal token, or of a credential that is not a token; null for other tokens. */
  readonly digest: Digest | null
}

import type { Digest } from '../../crypto/digest.ts'
import type { CodeBinding } from '../authorization.ts'
import { entity, type RecordOf, type SourceOf } from './entity.ts'
import { having, json, list, nullable, number, text, userKey } from './field.ts'

/** The fields of an authorization. */
const fields = {
  id: having(number(), { place: 'assigned' }),
  clientId: having(text(), { place: 'joined' }),
  clientKey: number(),
  userId: nullable(userKey()),
  /** All granted scopes; an access token may have fewer. */
  scopes: list(),
  /** The resources for which tokens may be issued (RFC 8707 §2); empty: all resources that the server protects. */
  resources: list(),
  /** The digest of the redeemed code; null without a code. The digest is unique, so a code is redeemed once. */
  codeDigest: nullable(text<Digest>()),
  /**
   * The binding of the redeemed code; null without a code. If the code is presented again, the server checks the
   * request against this binding before it revokes the tokens.
   */
  code: having(nullable(json<CodeBinding>()), { column: 'code_binding' }),
  /**
   * The `User-Agent` of the browser in which the user agreed, or of the device that redeemed a device code. Empty if
   * unknown.
   */
  userAgent: text(),
  /** Milliseconds since the epoch. */
  createdAt: number(),
  /**
   * No token and no code of the authorization is valid after this time. Until then, its row remains after a revocation.
   */
  expiresAt: number(),
  revokedAt: nullable(number()),
}

/** The result of one consent. Revocation and reuse detection apply to all tokens of an authorization. */
export interface Authorization extends RecordOf<typeof fields> {}
export interface NewAuthorization extends SourceOf<typeof fields> {}
export const authorizationCodec = entity('oauth2server_authorization', fields)

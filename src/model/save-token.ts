import type { Authorization } from './authorization.ts'
import type { Redemption } from './redemption.ts'
import type { Token, TokenFields } from './token.ts'

/** What is about to be saved: the record with its secrets. */
export interface TokenData {
  readonly fields: Omit<TokenFields, 'id'>
  readonly accessToken: string
  readonly refreshToken: string | null
  /** The whole authorization, where it is more than this access token. */
  readonly granted?: Pick<Authorization, 'scopes' | 'resources' | 'createdAt'>
}

/**
 * Wraps the saving of an issued token: the specification's `save_token`. `next` persists, in one
 * transaction with all that must happen along; it may be given narrower scopes or an earlier expiry.
 */
export type SaveToken = (
  data: TokenData,
  request: Redemption,
  next: (data?: TokenData) => Promise<Token>,
) => Promise<Token>

import type { Redemption } from './redemption.ts'
import type { Token, TokenFields } from './token.ts'

/** What is about to be saved: the record with its secrets. */
export interface TokenData {
  readonly fields: Omit<TokenFields, 'id'>
  readonly accessToken: string
  readonly refreshToken: string | null
  /** The scopes of the whole authorization, where they are more than this access token's. */
  readonly granted?: readonly string[]
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

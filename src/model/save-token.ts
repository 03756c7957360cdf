import type { Authorization } from './authorization.ts'
import type { Redemption } from './redemption.ts'
import type { Token, TokenFields } from './token.ts'

/** The token that will be saved, with its secrets. */
export interface TokenData {
  readonly fields: Omit<TokenFields, 'id'>
  readonly accessToken: string
  readonly refreshToken: string | null
  /** The whole authorization, if it is more than this access token has. */
  readonly granted?: Pick<Authorization, 'scopes' | 'resources' | 'createdAt'>
}

/**
 * Wraps the saving of an issued token: the specification's `save_token`. `next` saves the token in one transaction with
 * all related writes. It accepts changed data with narrower scopes or an earlier expiry.
 */
export type SaveToken = (
  data: TokenData,
  request: Redemption,
  next: (data?: TokenData) => Promise<Token>,
) => Promise<Token>

import type { Granted, TokenFields } from './entities/token.ts'
import type { Redemption } from './redemption.ts'
import type { Token } from './token.ts'

/** The token to save, with its secrets. */
export interface TokenData {
  readonly fields: Omit<TokenFields, 'id'>
  readonly accessToken: string
  readonly refreshToken: string | null
  /** The fields of the authorization; undefined for a token without an authorization. */
  readonly granted?: Granted
}

/**
 * Wraps the saving of an issued token: the specification's `save_token`. `next` saves the token and all related rows in
 * one transaction. The data passed to `next` may have fewer scopes or an earlier expiry than the original `data`.
 */
export type SaveToken = (
  data: TokenData,
  request: Redemption,
  next: (data?: TokenData) => Promise<Token>,
) => Promise<Token>

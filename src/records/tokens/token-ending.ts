import type { KeyRing } from '../../crypto/sealed.ts'
import { accessClaims } from '../../model/entities/token.ts'
import type { StoredToken } from '../../store/contract/tokens.ts'

/** Returns the last four characters of a token, by which users recognize the token. */
export const endingOf = (accessToken: string): string => accessToken.slice(-4)

/** Returns the last four characters of a stored token; null without a row, or if the row was tampered with. */
export const endingOfRow = (
  row: StoredToken | undefined,
  keys: Pick<KeyRing, 'open'>,
): string | null => {
  if (!row) return null
  const value = keys.open('token', row.accessToken, accessClaims(row))
  return value === undefined ? null : endingOf(value)
}

import { OAuthError } from '../model/oauth-error.ts'

const escaped = (characters: string): string => characters.replaceAll(/[\\\]^-]/g, '\\$&')

/**
 * Creates a check that a raw query contains only unreserved characters (RFC 3986 §2.3) and the configured characters.
 * If `%` is configured, two hexadecimal digits must follow it.
 * @throws OAuthError `invalid_request`
 */
export const queryCharacters = (allowed: string): ((query: string) => void) => {
  const others = escaped(allowed.replaceAll('%', ''))
  const percent = allowed.includes('%') ? '|%[0-9A-Fa-f]{2}' : ''
  const valid = new RegExp(`^(?:[A-Za-z0-9\\-._~${others}]${percent})*$`)
  return (query) => {
    if (!valid.test(query)) {
      throw new OAuthError(
        'invalid_request',
        'The query string contains a character that is not allowed there.',
      )
    }
  }
}

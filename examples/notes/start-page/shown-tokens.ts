import type { UserId } from 'svc-oauth2server'

/** The token of each user with which the start page calls the API. The tokens are only in memory. */
export interface ShownTokens {
  get(userId: UserId): string | undefined
  set(userId: UserId, token: string): void
}

/** The maximum number of remembered tokens. A new token replaces the oldest one. */
const maxTokens = 1_000

export const openShownTokens = (): ShownTokens => {
  const tokens = new Map<string, string>()
  return {
    get: (userId) => tokens.get(String(userId)),
    set(userId, token) {
      tokens.delete(String(userId))
      tokens.set(String(userId), token)
      const [oldest] = tokens.keys()
      if (tokens.size > maxTokens && oldest !== undefined) tokens.delete(oldest)
    },
  }
}

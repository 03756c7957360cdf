import type { UserId } from 'svc-oauth2server'

/** Tokens that the start page of a user uses for its calls. They are only in memory, and a restart forgets them. */
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

import type { UserId } from './user.ts'

/** The number of routine events of one client, user and grant within one hour. */
export interface RoutineCount {
  /** The start of the hour, in milliseconds since the epoch. */
  readonly at: number
  /** `token.issued` or `token.refreshed`. */
  readonly event: string
  /** The grant of the tokens; empty for tokens that the application issued itself. */
  readonly grantType: string
  readonly clientId: string
  /** Null for tokens without a user. */
  readonly userId: UserId | null
  readonly count: number
}

/** Converts a count to JSON for the API of administrators and the command line. */
export const routineCountToWire = (count: RoutineCount) => ({
  hour: new Date(count.at).toISOString(),
  event: count.event,
  grant_type: count.grantType || null,
  client_id: count.clientId,
  user_id: count.userId,
  count: count.count,
})

import type { SessionEnd } from '../../model/session-end.ts'

/** Sessions that ended together before their expiry. */
export interface EndedSession {
  readonly reason: SessionEnd
  /** The number of sessions. */
  readonly count: number
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The IP address from which the user ended the sessions; empty if the user did not end the sessions. */
  readonly address: string
}

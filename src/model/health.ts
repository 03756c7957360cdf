/** What `/health/ready` says. */
export interface Health {
  /** Whether requests should be sent to this process. */
  readonly isReady: boolean
  /** Whether Redis does not answer. Most requests do without it, and every other node lacks it as well. */
  readonly areTransientsAway: boolean
  /** Whether the clock of this machine is too far from the database's. */
  readonly isClockWrong: boolean
}

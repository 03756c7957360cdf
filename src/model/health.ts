/** The response of `/health/ready`. */
export interface Health {
  /** Whether the load balancer should send requests to this process. */
  readonly isReady: boolean
  /** Whether Redis does not answer. Most requests work without it, and other nodes cannot reach it either. */
  readonly areTransientsAway: boolean
  /** Whether the clock of this machine differs too much from the clock of the database. */
  readonly isClockWrong: boolean
}

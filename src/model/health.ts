/** The response of `/health/ready`. */
export interface Health {
  /** Whether the load balancer should send requests to this process. */
  readonly isReady: boolean
  /** Whether Redis is unreachable. The process remains ready, because most requests work without Redis. */
  readonly areTransientsAway: boolean
  /** Whether the clock of this machine differs too much from the clock of the database. */
  readonly isClockWrong: boolean
}

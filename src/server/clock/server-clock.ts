/** The clock that decides which rows have expired, and that reports whether it is reliable enough for deletions. */
export interface ServerClock {
  /** Returns milliseconds since the epoch. Every request calls this function, so it must be cheap. */
  readonly now: () => number
  /**
   * Returns the time for a run of the sweeper, in milliseconds since the epoch.
   * @param isScheduled false for a run that a caller requested
   * @throws ClockInDoubt if this clock is not reliable enough for deletions
   */
  sweepTime(isScheduled: boolean): Promise<number>
  /** Returns whether the clock is so wrong that the node must not receive requests. */
  isWrong(): Promise<boolean>
  stop(): void
}

/** The error that is thrown if the clock is not reliable enough for deletions. The message contains the reason. */
export class ClockInDoubt extends Error {
  override readonly name = 'ClockInDoubt'
}

/** Wraps the clock of an application. The server does not check this clock, because tests may set it to any time. */
export const hostClock = (now: () => number): ServerClock => ({
  now,
  sweepTime: async () => now(),
  isWrong: async () => false,
  stop: () => undefined,
})

/** The sources from which a server clock reads the time. */
export interface TimeSources {
  /** Returns the time of this machine, in milliseconds since the epoch. The time may be wrong, and may jump. */
  readonly machine: () => number
  /** Returns the time of a monotonic clock in milliseconds, such as `performance.now`. */
  readonly monotonic: () => number
}

/** Formats a duration for messages, without its sign. */
export const inSeconds = (milliseconds: number): string =>
  `${(Math.abs(milliseconds) / 1000).toFixed(1)} s`

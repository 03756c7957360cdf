/** The time by which the server judges, and whether it may be trusted with deletions. */
export interface ServerClock {
  /** Milliseconds since the epoch. Cheap: every request asks for it. */
  readonly now: () => number
  /**
   * The time by which a run of the sweeper may judge.
   * @param isScheduled false for a run that somebody asked for
   * @throws ClockInDoubt where nothing may be deleted by this clock
   */
  sweepTime(isScheduled: boolean): Promise<number>
  /** Whether the node must not serve because its clock is wrong. */
  isWrong(): Promise<boolean>
  stop(): void
}

/** Nothing may be deleted by this clock. The message says why, to people. */
export class ClockInDoubt extends Error {
  override readonly name = 'ClockInDoubt'
}

/** A clock that was given to the server is believed: tests move it as they like. */
export const givenClock = (now: () => number): ServerClock => ({
  now,
  sweepTime: async () => now(),
  isWrong: async () => false,
  stop: () => undefined,
})

/** Where a clock of the server reads the time. */
export interface TimeSources {
  /** The clock of this machine, in milliseconds since the epoch. It may be wrong, and may jump. */
  readonly machine: () => number
  /** Milliseconds that never jump, such as `performance.now`. */
  readonly monotonic: () => number
}

/** For people. */
export const inSeconds = (milliseconds: number): string =>
  `${(Math.abs(milliseconds) / 1000).toFixed(1)} s`

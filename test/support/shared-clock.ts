import { readFileSync, renameSync, writeFileSync } from 'node:fs'

/** The environment variable with the path of the clock file of a node. */
export const clockVariable = 'TEST_CLOCK'

/** A clock for several processes. Each call reads the time from the file, so a new time applies to all processes. */
export const clockIn =
  (file: string): (() => number) =>
  () =>
    Number(readFileSync(file, 'latin1'))

export const setClock = (file: string, now: number): void => {
  writeFileSync(`${file}.next`, String(now))
  // Written atomically, so that no process reads a partial time.
  renameSync(`${file}.next`, file)
}

/** The environment variable with the path of a file, which contains how far a node's clock is ahead in milliseconds. */
export const skewVariable = 'TEST_CLOCK_SKEW'

/** Moves the clock of this process by the number of milliseconds in the file. */
export const skewMachineClock = (file: string): void => {
  const right = Date.now
  Date.now = () => right() + Number(readFileSync(file, 'latin1'))
}

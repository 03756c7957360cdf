import { readFileSync, renameSync, writeFileSync } from 'node:fs'

/** The variable that leads a node of the tests to its clock. */
export const clockVariable = 'TEST_CLOCK'

/** The time of several processes: each reads the file whenever it asks, so a time that was set is there for all. */
export const clockIn =
  (file: string): (() => number) =>
  () =>
    Number(readFileSync(file, 'latin1'))

export const setClock = (file: string, now: number): void => {
  writeFileSync(`${file}.next`, String(now))
  // At once, so that nobody reads half a time.
  renameSync(`${file}.next`, file)
}

/** The variable that leads a node of the tests to what the clock of its machine is ahead, in milliseconds. */
export const skewVariable = 'TEST_CLOCK_SKEW'

/** Sets the clock of this process wrong, by what the file says at that time. */
export const skewMachineClock = (file: string): void => {
  const right = Date.now
  Date.now = () => right() + Number(readFileSync(file, 'latin1'))
}

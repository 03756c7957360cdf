/** Milliseconds by which a timer may be late on a busy machine. */
const late = 5_000

/**
 * Calls back after so many milliseconds in which this process ran: one that was paused, with the whole machine or
 * by somebody who measures, has not waited, and waits anew.
 * @returns what ends it
 */
export const afterWaiting = (milliseconds: number, act: () => void): (() => void) => {
  let timer: NodeJS.Timeout
  const begin = (): void => {
    const due = performance.now() + milliseconds
    timer = setTimeout(() => (performance.now() > due + late ? begin() : act()), milliseconds)
  }
  begin()
  return () => clearTimeout(timer)
}

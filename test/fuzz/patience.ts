/** Milliseconds by which a timer may be late on a busy machine. */
const late = 5_000

/**
 * Calls back after this number of milliseconds in which this process ran: a process that was paused starts to wait
 * again.
 * @returns the function that cancels it
 */
export const callAfter = (milliseconds: number, act: () => void): (() => void) => {
  let timer: NodeJS.Timeout
  const begin = (): void => {
    const due = performance.now() + milliseconds
    timer = setTimeout(() => (performance.now() > due + late ? begin() : act()), milliseconds)
  }
  begin()
  return () => clearTimeout(timer)
}

/** The permitted delay of a timer on a busy machine, in milliseconds. */
const late = 5_000

/**
 * Calls `act` after the given time. If the timer fires much too late, because this process was suspended, waits for the
 * whole time again.
 * @returns a function that cancels the call
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

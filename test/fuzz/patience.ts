/** Milliseconds by which a timer may be late on a busy machine. */
const late = 5_000

/**
 * Calls back after this number of milliseconds. If this process was paused meanwhile, the time starts again.
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

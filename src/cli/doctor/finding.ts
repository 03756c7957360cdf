/** What one check found. */
export interface Finding {
  /**
   * `warn`: it works, and could be safer or reach more clients; `fail`: it is broken or unsafe; `skip`: it could not
   * be tried, for the reason in the advice.
   */
  readonly state: 'ok' | 'warn' | 'fail' | 'skip'
  /** A name that stays the same, for scripts. */
  readonly check: string
  /** What was found and what to do about it; empty where there is nothing to do. */
  readonly advice: string
}

export const ok = (check: string): Finding => ({ state: 'ok', check, advice: '' })
export const warn = (check: string, advice: string): Finding => ({ state: 'warn', check, advice })
export const fail = (check: string, advice: string): Finding => ({ state: 'fail', check, advice })
export const skip = (check: string, reason: string): Finding => ({
  state: 'skip',
  check,
  advice: `Not tried: ${reason}`,
})

/** A check that may find several things wrong. */
export const unless = (
  check: string,
  problems: readonly (string | false | undefined)[],
  advice: string,
): Finding => {
  const found = problems.filter((problem) => typeof problem === 'string')
  return found.length === 0 ? ok(check) : fail(check, `${found.join('; ')}. ${advice}`)
}

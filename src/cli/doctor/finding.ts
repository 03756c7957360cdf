/** The result of a check. */
export interface Finding {
  /**
   * `warn`: the feature works, but could be safer or support more clients. `fail`: the feature is broken or unsafe.
   * `skip`: the check was not possible.
   */
  readonly state: 'ok' | 'warn' | 'fail' | 'skip'
  /** A stable name for scripts. */
  readonly check: string
  /** The problem and its solution, or the reason for `skip`; empty for `ok`. */
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

/** Returns `fail` with all problems and the advice; `ok` if there are no problems. */
export const unless = (
  check: string,
  problems: readonly (string | false | undefined)[],
  advice: string,
): Finding => {
  const found = problems.filter((problem) => typeof problem === 'string')
  return found.length === 0 ? ok(check) : fail(check, `${found.join('; ')}. ${advice}`)
}

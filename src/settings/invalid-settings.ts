/** The error for invalid settings. The message names each setting and the accepted values. */
export class InvalidSettings extends Error {
  override readonly name = 'InvalidSettings'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`Some settings cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

import { StartProblem } from '../model/start-problem.ts'

/** The error for invalid settings. The message lists each invalid setting with the accepted values. */
export class InvalidSettings extends StartProblem {
  override readonly name = 'InvalidSettings'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`Some settings cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

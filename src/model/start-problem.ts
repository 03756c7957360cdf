/**
 * An error at the start that the operator can fix. The message names what to change. Therefore, the error has no stack
 * trace, which would bury the message if the application does not catch the error.
 */
export class StartProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.stack = `${new.target.name}: ${message}`
  }
}

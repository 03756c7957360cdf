import { ClockInDoubt, InvalidField, ScopeDoesNotExists, StoreUnavailable } from '../index.ts'
import { startProblem } from '../server/environment/environment.ts'

/** The command is understood but cannot be done. The message says why, to people. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError'
}

/** The command line makes no sense. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError'
}

/** One line for people, whatever line breaks the message has. */
export const report = (message: string): void => {
  process.stderr.write(`error: ${message.trim().replaceAll(/\s*\n\s*/g, ' ')}\n`)
}

/** Says what went wrong: one line, or all there is where the fault is ours. @returns the exit status */
export const exitStatus = (error: unknown): number => {
  const problem = problemOf(error)
  if (problem !== undefined) report(problem)
  else process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
  return error instanceof UsageError ? 2 : 1
}

const problemOf = (error: unknown): string | undefined => {
  if (error instanceof InvalidField) return `${error.field}: ${error.message}`
  if (
    error instanceof ScopeDoesNotExists ||
    error instanceof CommandError ||
    error instanceof ClockInDoubt
  )
    return error.message
  if (error instanceof StoreUnavailable) {
    return error.cause instanceof Error
      ? `${error.message} (${error.cause.message})`
      : error.message
  }
  return startProblem(error)
}

/** Something that was given, short enough for a message. */
export const shown = (text: string): string =>
  JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)

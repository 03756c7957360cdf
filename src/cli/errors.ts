import {
  ClockInDoubt,
  InvalidField,
  NotOurUsers,
  ScopeDoesNotExists,
  StoreUnavailable,
} from '../index.ts'
import { startProblem } from '../server/environment/environment.ts'

/** The error of a command that failed. The message is for the user. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError'
}

/** The error of a wrong command line. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError'
}

/** Writes an error message as one line. */
export const report = (message: string): void => {
  const lines = message.split('\n').map((line) => line.trim())
  process.stderr.write(`error: ${lines.filter((line) => line !== '').join(' ')}\n`)
}

/** Reports an error: one line, or the whole stack for an internal error. @returns the exit status */
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
    error instanceof NotOurUsers ||
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

/** Returns the given text in quotes, truncated to 80 characters, for a message. */
export const shown = (text: string): string =>
  JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)

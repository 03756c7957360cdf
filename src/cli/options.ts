import { Option } from 'commander'
import { UsageError } from './errors.ts'

/** Creates an option with one value. A repeated option is an error. */
export const single = (flags: string, description: string): Option =>
  new Option(flags, description).argParser((value: string, previous: string | undefined) => {
    if (previous !== undefined) throw new UsageError(`option '${flags}' is given more than once`)
    return value
  })

/** Creates a mandatory option with one value. */
export const required = (flags: string, description: string): Option =>
  single(flags, `${description} (required)`).makeOptionMandatory()

/** Creates an option that may be repeated. */
export const repeated = (flags: string, description: string): Option =>
  new Option(flags, `${description} (repeatable)`).argParser(
    (value: string, previous: readonly string[] | undefined) => [...(previous ?? []), value],
  )

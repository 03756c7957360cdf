import { Option } from 'commander'
import { UsageError } from './errors.ts'

/** An option that takes one value. Given twice, neither is silently preferred. */
export const single = (flags: string, description: string): Option =>
  new Option(flags, description).argParser((value: string, previous: string | undefined) => {
    if (previous !== undefined) throw new UsageError(`option '${flags}' is given more than once`)
    return value
  })

/** The same, and it must not be missing. */
export const required = (flags: string, description: string): Option =>
  single(flags, `${description} (required)`).makeOptionMandatory()

/** An option that may be given several times. */
export const repeated = (flags: string, description: string): Option =>
  new Option(flags, `${description} (repeatable)`).argParser(
    (value: string, previous: readonly string[] | undefined) => [...(previous ?? []), value],
  )

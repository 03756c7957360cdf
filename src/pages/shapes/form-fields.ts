import { z } from 'zod'
import { maxNameLength } from '../../model/field-rules.ts'

// The field types of the settings forms. The error of each type completes the sentence "<name> must be …".

// Refuse a lone surrogate, because UTF-8 encoding would silently replace it.
const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.isWellFormed()

export const formText = z.string({ error: 'a text' }).refine(isText, { error: 'a text' })

/** No text: null in JSON, or an empty field in a form. */
export const noText = z.union([z.null(), z.literal('')])

/** The name of a client or a personal token; `validName` checks its characters. */
export const formName = formText
  .meta({ minLength: 1 })
  .describe(`1 to ${maxNameLength} visible characters.`)

export const formFlag = z.boolean({ error: 'true or false' })

/** A list of texts. A single text is accepted as a list with one entry. */
export const formList = z.union([z.array(formText), formText], { error: 'a list of texts' })

/** The ID of a token. */
export const formId = z.int({ error: 'a number' }).positive({ error: 'a number' })

/** Accepts a number of seconds from 0 to `max`. */
export const seconds = (max: number) => {
  const error = `a number of seconds from 0 to ${max}`
  return z.int({ error }).min(0, { error }).max(max, { error })
}

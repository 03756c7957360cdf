import type { HttpRequest } from '../../../http/request.ts'
import { InvalidField } from '../../../model/invalid-field.ts'
import { Parameters } from '../../../model/parameters.ts'
import { ScopeDoesNotExists } from '../../../model/scope.ts'
import type { Reader } from '../../../pages/frame.ts'
import type { FormProblem } from '../../../pages/parts/forms.ts'
import { type FormShape, formOfJson } from './json-form.ts'
import type { SettingsRequest } from './settings-request.ts'

/** The form that a browser sent to a settings page. */
export interface SentForm {
  readonly params: Parameters
  /** The raw body. */
  readonly text: string
}

// A form contains two checkboxes for each scope, and an application may have many scopes.
const maxFields = 2_000

export const readForm = async (http: HttpRequest): Promise<SentForm> => {
  const text = await http.formText()
  return { params: new Parameters(text, maxFields), text }
}

/** Reads the body that a script sent. @throws InvalidField if the type of a JSON field differs from the shape */
export const readScript = async (http: HttpRequest, shape: FormShape): Promise<Parameters> =>
  new Parameters(await scriptText(http, shape), maxFields)

const scriptText = async (http: HttpRequest, shape: FormShape): Promise<string> => {
  if (isBodiless(http)) return ''
  const isJson = /^application\/json\b/i.test(http.headers.get('content-type') ?? '')
  return isJson ? formOfJson(await http.jsonText(), shape) : http.formText()
}

// A script that sends no fields, for instance to revoke a token, omits the body and the content type.
const isBodiless = ({ headers }: HttpRequest): boolean =>
  !headers.has('content-type') &&
  !headers.has('transfer-encoding') &&
  Number(headers.get('content-length') ?? 0) === 0

/** Returns a text field unchanged, with its line breaks; undefined if the field is missing. */
export const textIn = (params: Parameters, name: string): string | undefined =>
  params.opaque(name) ?? (params.repeated(name).length > 0 ? '' : undefined)

/** Returns the values of the ticked boxes of a field, or the entries of a JSON list. */
export const listIn = (params: Parameters, name: string): readonly string[] =>
  params.repeated(name).filter((value) => value !== '')

/** Returns a Boolean field. @throws InvalidField if its value is not `true` or `false` */
export const flagIn = (params: Parameters, name: string, otherwise: boolean): boolean => {
  const value = params.opaque(name)
  if (value === undefined) return otherwise
  if (value !== 'true' && value !== 'false') {
    throw new InvalidField(name, `${name} must be true or false.`)
  }
  return value === 'true'
}

/** Returns a number of seconds; 0 if the field is missing. @throws InvalidField if the value is not a number */
export const secondsIn = (params: Parameters, name: string): number => {
  const value = params.opaque(name) ?? '0'
  if (/^\d{1,9}$/.test(value)) return Number(value)
  throw new InvalidField(name, `${name} must be a number of seconds.`, {
    problem: 'overlapInvalid',
  })
}

/** Describes an invalid field in the user's language. Returns undefined if the error is not about a field. */
export const problemOf = (
  error: unknown,
  { texts, reader }: Pick<SettingsRequest, 'texts' | 'reader'>,
): FormProblem | undefined => {
  const invalid = asInvalidField(error)
  if (!invalid) return undefined
  const { problem, value, line } = invalid.detail
  const text: unknown = texts.problems[problem]
  const sentence = typeof text === 'function' ? text(asWritten(value, reader)) : text
  return { sentence: String(sentence), field: invalid.field, line }
}

// Formats a date in the user's locale.
const asWritten = (value: unknown, { locale }: Reader): unknown =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)
    ? new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(
        Date.parse(value),
      )
    : value

/** Describes an invalid field as JSON for a script. Returns undefined if the error is not about a field. */
export const jsonProblemOf = (error: unknown): object | undefined => {
  const invalid = asInvalidField(error)
  return (
    invalid && {
      error: 'invalid_request',
      error_description: invalid.message,
      field: invalid.field,
      line: invalid.detail.line,
    }
  )
}

const asInvalidField = (error: unknown): InvalidField | undefined => {
  if (error instanceof InvalidField) return error
  if (!(error instanceof ScopeDoesNotExists)) return undefined
  return new InvalidField('scopes', error.message, { problem: 'scopeUnknown', value: error.scope })
}

import type { HttpRequest } from '../../../http/request.ts'
import { InvalidField } from '../../../model/invalid-field.ts'
import { Parameters } from '../../../model/parameters.ts'
import { ScopeDoesNotExists } from '../../../model/scope.ts'
import type { Reader } from '../../../pages/frame.ts'
import type { FormProblem } from '../../../pages/parts/forms.ts'
import { formOfJson } from './json-form.ts'
import type { SettingsRequest } from './settings-request.ts'

/** What was sent to a settings page: as a form, or by a script as JSON with the same names. */
export interface SentForm {
  readonly params: Parameters
  /** The body as it came. */
  readonly text: string
}

/** An application may have many scopes, each with two boxes. */
const mostFields = 2_000

export const readForm = async (http: HttpRequest, asJson: boolean): Promise<SentForm> => {
  const text = asJson ? await scriptText(http) : await http.formText()
  return { params: new Parameters(text, mostFields), text }
}

const scriptText = async (http: HttpRequest): Promise<string> => {
  if (isBodiless(http)) return ''
  const isJson = /^application\/json\b/i.test(http.headers.get('content-type') ?? '')
  return isJson ? formOfJson(await http.jsonText()) : http.formText()
}

// A script that has nothing to say, for instance one that revokes, sends no body and so no type of it.
const isBodiless = ({ headers }: HttpRequest): boolean =>
  !headers.has('content-type') &&
  !headers.has('transfer-encoding') &&
  Number(headers.get('content-length') ?? 0) === 0

/** A text field as it was typed, line breaks and all; undefined where it was not sent. */
export const textIn = (params: Parameters, name: string): string | undefined =>
  params.opaque(name) ?? (params.repeated(name).length > 0 ? '' : undefined)

/** The ticked boxes of a field, or a list. */
export const listIn = (params: Parameters, name: string): readonly string[] =>
  params.repeated(name).filter((value) => value !== '')

/** @throws InvalidField for anything but `true` and `false` */
export const flagIn = (params: Parameters, name: string, otherwise: boolean): boolean => {
  const value = params.opaque(name)
  if (value === undefined) return otherwise
  if (value !== 'true' && value !== 'false') {
    throw new InvalidField(name, `${name} must be true or false.`)
  }
  return value === 'true'
}

/** A number of seconds; 0 where it was not sent. @throws InvalidField for anything else */
export const secondsIn = (params: Parameters, name: string): number => {
  const value = params.opaque(name) ?? '0'
  if (/^\d{1,9}$/.test(value)) return Number(value)
  throw new InvalidField(name, `${name} must be a number of seconds.`, {
    problem: 'overlapInvalid',
  })
}

/** A refused field as the page shows it, in the reader's language; undefined for any other error. */
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

// A day is written as the reader writes days.
const asWritten = (value: unknown, { locale }: Reader): unknown =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)
    ? new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(
        Date.parse(value),
      )
    : value

/** The same for a script. */
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

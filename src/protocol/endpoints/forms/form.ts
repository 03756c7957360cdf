import type { HttpRequest } from '../../../http/request.ts'
import { InvalidField, InvalidFields } from '../../../model/invalid-field.ts'
import { Parameters } from '../../../model/parameters.ts'
import { ScopeDoesNotExists } from '../../../model/scope.ts'
import type { FormProblem } from '../../../pages/form-problem.ts'
import type { Reader } from '../../../pages/frame.ts'
import type { Messages } from '../../../pages/messages/en.ts'
import { type FormShape, formOfJson } from './json-form.ts'

/** The maximum number of fields. A form contains two checkboxes for each scope, and an application may have many scopes. */
export const maxFields = 2_000

export const readForm = async (http: HttpRequest): Promise<Parameters> =>
  new Parameters(await http.formText(), maxFields)

/** Reads the body that a script sent. @throws InvalidField if the type of a JSON field differs from the shape */
export const readScript = async (http: HttpRequest, shape: FormShape): Promise<Parameters> =>
  new Parameters(await scriptText(http, shape), maxFields)

const scriptText = async (http: HttpRequest, shape: FormShape): Promise<string> => {
  if (isBodiless(http)) return ''
  return http.mediaType?.type === 'application/json'
    ? formOfJson(await http.jsonText(), shape, maxFields)
    : http.formText()
}

// A script that sends no fields, for example to revoke a token, may omit the body and the content type.
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

/** Describes all invalid fields in the user's language. Returns undefined if the error is not about a field. */
export const problemOf = (
  error: unknown,
  { texts, reader }: { readonly texts: Messages; readonly reader: Reader },
): FormProblem | undefined => {
  const fields = invalidFieldsIn(error).map(({ field: name, detail }) => {
    const text: unknown = texts.problems[detail.problem]
    const sentence = typeof text === 'function' ? text(asWritten(name, detail.value, reader)) : text
    return { name, sentence: String(sentence), line: detail.line }
  })
  const [first] = fields
  return first && { sentence: first.sentence, fields }
}

// Formats the latest expiry day in the user's locale. Returns other values unchanged, because the user typed them.
const asWritten = (field: string, value: unknown, { locale }: Reader): unknown =>
  field === 'expires' && typeof value === 'string'
    ? new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(
        Date.parse(value),
      )
    : value

/** Describes all invalid fields as JSON for a script. Returns undefined if the error is not about a field. */
export const jsonProblemOf = (error: unknown): object | undefined => {
  const errors = invalidFieldsIn(error).map(({ field, message, detail }) => ({
    error_description: message,
    field,
    line: detail.line,
  }))
  const [first, ...more] = errors
  return first && { error: 'invalid_request', ...first, ...(more.length > 0 && { errors }) }
}

const invalidFieldsIn = (error: unknown): readonly InvalidField[] => {
  if (error instanceof InvalidFields) return error.all
  if (error instanceof InvalidField) return [error]
  if (!(error instanceof ScopeDoesNotExists)) return []
  const detail = { problem: 'scopeUnknown', value: error.scope } as const
  return [new InvalidField('scopes', error.message, detail)]
}

import type { z } from 'zod'
import { InvalidField, throwTogether } from '../../../model/invalid-field.ts'
import { OAuthError } from '../../../model/oauth-error.ts'

/** The fields that an endpoint reads, as the OpenAPI document describes them. Other fields are ignored. */
export type FormShape = z.ZodObject

const refused = (sentence: string) => new OAuthError('invalid_request', sentence)

/**
 * Converts a JSON object to a form with the same fields.
 * @param max the maximum number of members, and of items of a list
 * @throws OAuthError if the text is not a JSON object; InvalidField if the type of a field differs from the shape
 */
export const formOfJson = (text: string, shape: FormShape, max: number): string => {
  const sent = objectIn(text)
  // Check the lengths first, because the schema reports each item that is not valid.
  const values = Object.values(sent)
  if (values.length > max || values.some((value) => Array.isArray(value) && value.length > max))
    throw refused(`More than ${max} values were given.`)
  for (const part of partsOf(sent)) {
    const { error } = shape.safeParse(part)
    throwTogether(
      (error?.issues ?? []).map(({ path: [name], message }) => {
        const field = String(name)
        return new InvalidField(field, `${field} must be ${message}.`)
      }),
    )
  }
  const known = Object.entries(sent).filter(([name]) => Object.hasOwn(shape.shape, name))
  return new URLSearchParams(known.flatMap(pairsOf)).toString()
}

/** The number of items of a list that are validated at once. */
const partLength = 100

/**
 * Returns copies of an object that together contain all items of its lists. An issue of the schema costs some
 * microseconds, so the validation ends with the first part that is not valid.
 */
function* partsOf(sent: object): Generator<object> {
  const entries = Object.entries(sent)
  const lengths = entries.map(([, value]) => (Array.isArray(value) ? value.length : 0))
  const longest = Math.max(1, ...lengths)
  for (let from = 0; from < longest; from += partLength) {
    const start = (list: readonly unknown[]) => (from < list.length ? from : 0)
    const part = entries.map(([name, value]) => [
      name,
      Array.isArray(value) ? value.slice(start(value), start(value) + partLength) : value,
    ])
    yield Object.fromEntries(part)
  }
}

const objectIn = (text: string): object => {
  let value: unknown
  try {
    value = text === '' ? {} : JSON.parse(text)
  } catch {
    throw refused('The body must be JSON.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refused('The body must be a JSON object.')
  return value
}

const pairsOf = ([name, value]: [string, unknown]): [string, string][] => {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  // An empty list and a missing field have different meanings, so convert an empty list to an empty field.
  return (values.length === 0 ? [''] : values).map((one) => [name, String(one ?? '')])
}

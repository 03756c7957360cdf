import type { z } from 'zod'
import { InvalidField, throwTogether } from '../../../model/invalid-field.ts'
import { OAuthError } from '../../../model/oauth-error.ts'

/** The fields that an endpoint reads, as the OpenAPI document describes them. Other fields are ignored. */
export type FormShape = z.ZodObject

const refused = (sentence: string) => new OAuthError('invalid_request', sentence)

/**
 * Converts a JSON object to a form with the same fields.
 * @throws OAuthError if the text is not a JSON object; InvalidField if the type of a field differs from the shape
 */
export const formOfJson = (text: string, shape: FormShape): string => {
  const sent = objectIn(text)
  const { error } = shape.safeParse(sent)
  throwTogether(
    (error?.issues ?? []).map(({ path: [name], message }) => {
      const field = String(name)
      return new InvalidField(field, `${field} must be ${message}.`)
    }),
  )
  const known = Object.entries(sent).filter(([name]) => Object.hasOwn(shape.shape, name))
  return new URLSearchParams(known.flatMap(pairsOf)).toString()
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

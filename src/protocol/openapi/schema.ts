import type { z } from 'zod'
import type { JsonSchema } from '../../model/parameters.ts'

/** A part of an OpenAPI document. */
export type Part = Readonly<Record<string, unknown>>

export type Parts = Readonly<Record<string, Part>>

/** A JSON schema, or a zod schema from which the document derives the JSON schema. */
export type Schema = JsonSchema | z.ZodType

export const text: Part = { type: 'string' }

/** A required value. An empty value is treated as missing (RFC 6749 §3.1). */
export const required = (schema: JsonSchema): JsonSchema => ({ ...schema, minLength: 1 })

/** Accepts a value that matches any of the schemas. */
export const either = (...schemas: readonly Schema[]): Part => ({ anyOf: schemas })

/** Refers to a shared schema by its name. */
export const named = (name: string): Part => ({ $ref: `#/components/schemas/${name}` })

/** Describes a parameter of the query. */
export const inQuery = (name: string, description: string, schema: Schema = text): Part => ({
  name,
  in: 'query',
  description,
  schema,
})

/** Describes parameters of the query. */
export const queryOf = (schemas: Readonly<Record<string, JsonSchema>>): readonly Part[] =>
  Object.entries(schemas).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(description !== undefined && { description }),
    schema,
  }))

/** Describes a parameter of the path. */
export const inPath = (name: string, description: string, schema: Schema = text) => ({
  name,
  in: 'path',
  required: true,
  description,
  schema,
})

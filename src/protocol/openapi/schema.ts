/** A part of an OpenAPI document. */
export type Part = Readonly<Record<string, unknown>>

export type Parts = Readonly<Record<string, Part>>

export const text: Part = { type: 'string' }

/** Accepts a value that matches any of the schemas. */
export const either = (...schemas: readonly Part[]): Part => ({ anyOf: schemas })

/** Refers to a shared schema by its name. */
export const named = (name: string): Part => ({ $ref: `#/components/schemas/${name}` })

/** Describes a parameter of the query. */
export const inQuery = (name: string, description: string, schema: Part = text): Part => ({
  name,
  in: 'query',
  description,
  schema,
})

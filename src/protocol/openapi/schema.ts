/** A part of an OpenAPI document, most often a JSON Schema. */
export type Part = Readonly<Record<string, unknown>>

export type Parts = Readonly<Record<string, Part>>

/** An object with these members and no others. */
export const object = (
  properties: Parts,
  { optional = [] }: { readonly optional?: readonly string[] } = {},
): Part => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
})

export const text: Part = { type: 'string' }
export const flag: Part = { type: 'boolean' }
export const count: Part = { type: 'integer', minimum: 0 }
/** ISO 8601 in UTC. */
export const time: Part = { type: 'string', format: 'date-time' }
export const id: Part = { type: 'integer', minimum: 1 }
/** The id of a user has the type of its key. */
export const userId: Part = { type: ['integer', 'string'] }

export const list = (items: Part): Part => ({ type: 'array', items })

export const nullable = ({ type, ...schema }: Part): Part => ({ type: [type, 'null'], ...schema })

export const constant = (value: string): Part => ({ type: 'string', const: value })

/** One of these texts; any text where there are none. */
export const choice = (values: readonly string[]): Part =>
  values.length === 0 ? text : { type: 'string', enum: values }

export const either = (...schemas: readonly Part[]): Part => ({ anyOf: schemas })

/** The same with a sentence for its readers. */
export const about = (description: string, schema: Part): Part => ({ ...schema, description })

/** A schema of the components, by its name. */
export const named = (name: string): Part => ({ $ref: `#/components/schemas/${name}` })

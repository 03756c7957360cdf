import { z } from 'zod'
import type { Part, Parts } from './schema.ts'

// Building blocks of the JSON shapes of requests and responses. The OpenAPI document is generated from the same shapes
// with which the server parses requests and type-checks responses.

export const text = z.string()
export const flag = z.boolean()
export const count = z.int().nonnegative()
export const id = z.int().positive()
/** ISO 8601 in UTC. */
export const time = z.string().meta({ format: 'date-time' })
/** A user ID: an integer or a string, like the primary key of the user table. */
export const userId = z.union([z.int(), z.string()])

/**
 * Converts named shapes to the schemas of the document. If a shape contains another named shape, its schema contains a
 * reference.
 */
export const componentsOf = (shapes: Readonly<Record<string, z.ZodType>>): Parts => {
  const registry = z.registry<{ id: string }>()
  for (const [name, shape] of Object.entries(shapes)) registry.add(shape, { id: name })
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    uri: (name) => `#/components/schemas/${name}`,
  })
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, id: ___, ...schema }]) => [
      name,
      schema,
    ]),
  )
}

/** Converts one shape to a schema without references. */
export const schemaOf = (shape: z.ZodType): Part => {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: 'input' })
  return schema
}

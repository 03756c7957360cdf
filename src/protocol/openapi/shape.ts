import { z } from 'zod'
import type { Part, Parts } from './schema.ts'

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

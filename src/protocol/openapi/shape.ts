import { z } from 'zod'
import { nameOf } from '../../pages/shapes/shape.ts'
import { named, type Part, type Parts } from './schema.ts'

const isShape = (value: object): value is z.ZodType => '_zod' in value

/** The metadata of a shape, for the conversion: its description, and its name as `id`. */
const metadata = {
  get(shape: z.ZodType) {
    const id = nameOf(shape)
    return { ...z.globalRegistry.get(shape), ...(id !== undefined && { id }) }
  },
}

/** Replaces each shape in a part of the document by its JSON schema. Also returns the schemas that have a name. */
export const withSchemas = <P extends Part>(
  part: P,
): { readonly part: P; readonly schemas: Parts } => {
  const shapes: z.ZodType[] = []
  const places: object[] = []
  const schemas: Record<string, Part> = {}
  const found = new Set<string>()
  const replaced = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    const name = nameOf(value)
    if (name !== undefined && found.has(name)) return named(name)
    if (name !== undefined) found.add(name)
    if (isShape(value)) {
      // The JSON schemas of all shapes are inserted below.
      const place = {}
      shapes.push(value)
      places.push(place)
      return place
    }
    if (Array.isArray(value)) return value.map(replaced)
    const schema = Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, replaced(one)]),
    )
    if (name === undefined) return schema
    schemas[name] = schema
    return named(name)
  }
  const copy = replaced(part) as P
  const converted = z.toJSONSchema(z.object({ ...shapes }), {
    io: 'input',
    metadata: metadata as unknown as typeof z.globalRegistry,
  })
  const { properties = {}, $defs = {} } = JSON.parse(
    JSON.stringify(converted).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as { readonly properties?: Parts; readonly $defs?: Parts }
  for (const [index, place] of places.entries()) Object.assign(place, properties[index])
  for (const [name, { id: _, ...schema }] of Object.entries($defs)) schemas[name] = schema
  return { part: copy, schemas }
}

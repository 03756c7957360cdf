import { z } from 'zod'
import type { IsoTime } from '../../model/iso-time.ts'

// Building blocks of the JSON shapes of requests and responses. The OpenAPI document is generated from the same shapes
// with which the server parses requests and type-checks responses.

export const text = z.string()
export const flag = z.boolean()
export const count = z.int().nonnegative()
export const id = z.int().positive()
/** ISO 8601 in UTC. */
export const time = z.string().meta({ format: 'date-time' }) as unknown as z.ZodType<IsoTime>
/** A user ID: an integer or a string, like the primary key of the user table. */
export const userId = z.union([z.int(), z.string()])

const names = new WeakMap<object, string>()

/** Gives a shape or a JSON schema a name. The OpenAPI document defines it once, and refers to it by the name. */
export const component = <S extends object>(name: string, schema: S): S => {
  names.set(schema, name)
  return schema
}

/** Gives each shape its name in the OpenAPI document. */
export const nameShapes = (shapes: Readonly<Record<string, z.ZodType>>): void => {
  for (const [name, shape] of Object.entries(shapes)) names.set(shape, name)
}

/** Returns the name in the OpenAPI document; undefined for a shape without a name. */
export const nameOf = (schema: object): string | undefined => names.get(schema)

export const done = component(
  'Done',
  z.strictObject({}).describe('The change was made; the response is empty.'),
)

/** The type of the JSON values that a shape describes, with readonly lists. */
export type Json<Shape extends z.ZodType> = DeepReadonly<z.output<Shape>>

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends string
    ? T
    : T extends object
      ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
      : T

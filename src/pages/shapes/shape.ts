import { z } from 'zod'

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

/** The type of the JSON values that a shape describes, with readonly lists. */
export type Json<Shape extends z.ZodType> = DeepReadonly<z.output<Shape>>

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T

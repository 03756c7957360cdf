import { z } from 'zod'
import { camelCase } from '../model/camel-case.ts'
import { type IsoTime, isoTime } from '../model/iso-time.ts'
import { type Json, time } from '../pages/shapes/shape.ts'

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name

/** A record has times in milliseconds since the epoch, and JSON has them in ISO 8601. */
type Stored<Value> = Value extends IsoTime ? number : Value

/** The record with the members of a shape, in camel case. */
export type SourceOf<Shape extends z.ZodObject> = {
  readonly [Name in keyof Json<Shape> & string as CamelCase<Name>]: Stored<Json<Shape>[Name]>
}

interface Member {
  readonly name: string
  readonly field: string
  readonly isTime: boolean
}

const compiled = new WeakMap<z.ZodObject, readonly Member[]>()

const membersOf = (shape: z.ZodObject): readonly Member[] => {
  const known = compiled.get(shape)
  if (known) return known
  const members = Object.entries(shape.shape).map(([name, member]) => ({
    name,
    field: camelCase(name),
    isTime: isTime(member as z.ZodType),
  }))
  compiled.set(shape, members)
  return members
}

const isTime = (member: z.ZodType): boolean =>
  member instanceof z.ZodNullable || member instanceof z.ZodOptional
    ? isTime(member.unwrap() as z.ZodType)
    : member.meta()?.format === time.meta()?.format

/**
 * Converts a record to the JSON that a shape describes. Each member of the shape is the field of the record with the
 * same name in camel case. Fields that the shape does not name are omitted.
 */
export const toJson = <Shape extends z.ZodObject>(
  shape: Shape,
  record: SourceOf<Shape>,
): Json<Shape> => {
  const json: Record<string, unknown> = {}
  for (const { name, field, isTime } of membersOf(shape)) {
    const value: unknown = Reflect.get(record, field)
    if (value === undefined) continue
    json[name] = isTime && typeof value === 'number' ? isoTime(value) : value
  }
  return json as Json<Shape>
}

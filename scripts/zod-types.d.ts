// The build copies this file to dist instead of the declarations of zod. The package bundles zod, so applications do not
// install its declarations. Only the input and the output of a schema matter to them.

export interface ZodType<Output = unknown, Input = unknown, Internals = unknown> {
  readonly _zod: { readonly output: Output; readonly input?: Input; readonly internals?: Internals }
}
export type output<Schema extends ZodType> = Schema['_zod']['output']
export type ZodString = ZodType<string>
export type ZodBoolean = ZodType<boolean>
export type ZodInt = ZodType<number>
export type ZodNull = ZodType<null>
export type ZodUnknown = ZodType<unknown>
export type ZodLiteral<Value> = ZodType<Value>
export type ZodEnum<Values> = ZodType<Values[keyof Values]>
export type ZodArray<Item extends ZodType> = ZodType<output<Item>[]>
export type ZodNullable<Schema extends ZodType> = ZodType<output<Schema> | null>
export type ZodUnion<Options extends readonly ZodType[]> = ZodType<output<Options[number]>>
export type ZodRecord<Key extends ZodType<PropertyKey>, Value extends ZodType> = ZodType<
  Record<output<Key>, output<Value>>
>
export interface ZodOptional<Schema extends ZodType> extends ZodType<output<Schema> | undefined> {
  readonly isOptional: true
}
export type ZodObject<
  Shape extends Readonly<Record<string, ZodType>> = Readonly<Record<string, ZodType>>,
  Unknown = unknown,
> = ZodType<
  {
    -readonly [Name in keyof Shape as Shape[Name] extends ZodOptional<ZodType>
      ? never
      : Name]: output<Shape[Name]>
  } & {
    -readonly [Name in keyof Shape as Shape[Name] extends ZodOptional<ZodType>
      ? Name
      : never]?: output<Shape[Name]>
  },
  Unknown
>
export type $strict = unknown
export type $loose = unknown
export type $ZodTypeInternals<Output, Input> = readonly [Output, Input]

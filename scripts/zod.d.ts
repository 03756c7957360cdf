// biome-ignore-all lint/style/noNamespace: zod exports its types in these namespaces

/**
 * The types of zod that the declarations of the package name, reduced to the type of the parsed value. Published
 * declarations refer to this file, because an application does not install zod.
 */
export declare namespace z {
  namespace core {
    interface $ZodTypeInternals<Output = unknown, Input = unknown> {
      readonly output: Output
      readonly input: Input
    }
    type $strict = unknown
    type $loose = unknown
  }
  interface ZodType<Output = unknown, Input = unknown, _Internals = unknown> {
    readonly _zod: { readonly output: Output; readonly input?: Input }
  }
  interface ZodString extends ZodType<string> {}
  interface ZodBoolean extends ZodType<boolean> {}
  interface ZodInt extends ZodType<number> {}
  interface ZodNumber extends ZodType<number> {}
  interface ZodNull extends ZodType<null> {}
  interface ZodUnknown extends ZodType {}
  interface ZodLiteral<Value> extends ZodType<Value> {}
  interface ZodEnum<Values> extends ZodType<Values[keyof Values]> {}
  interface ZodNullable<Inner extends ZodType> extends ZodType<output<Inner> | null> {}
  interface ZodOptional<Inner extends ZodType> extends ZodType<output<Inner> | undefined> {
    readonly isOptional: true
  }
  interface ZodArray<Item extends ZodType> extends ZodType<output<Item>[]> {}
  interface ZodRecord<Key extends ZodType, Value extends ZodType>
    extends ZodType<Record<output<Key> & PropertyKey, output<Value>>> {}
  interface ZodUnion<Members extends readonly ZodType[]> extends ZodType<output<Members[number]>> {}
  interface ZodObject<
    Members extends Readonly<Record<string, ZodType>> = Readonly<Record<string, ZodType>>,
    _Mode = unknown,
  > extends ZodType<ObjectOf<Members>> {
    readonly shape: Members
  }
  type output<Shape extends ZodType> = Shape['_zod']['output']
  type ObjectOf<Members extends Readonly<Record<string, ZodType>>> = {
    [Name in keyof Members as Members[Name] extends { isOptional: true } ? never : Name]: output<
      Members[Name]
    >
  } & {
    [Name in keyof Members as Members[Name] extends { isOptional: true } ? Name : never]?: output<
      Members[Name]
    >
  }
}

/**
 * A zod schema, described by the types that it converts. The public declarations of this package use this type, so that
 * they compile without the declarations of zod.
 */
export interface Schema<Input, Output> {
  readonly _zod: { readonly input: Input; readonly output: Output }
  /** Returns the converted value. @throws Error for an invalid value */
  parse(value: unknown): Output
  /** Returns the converted value, or that the value is invalid. */
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: Output } | { readonly success: false }
}

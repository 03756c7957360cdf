/**
 * The part of a zod schema that this package uses. Public declarations refer to this type, so that they compile without
 * the declarations of zod.
 */
export interface Schema<Input, Output> {
  readonly _zod: { readonly input: Input; readonly output: Output }
  /**
   * Returns the converted value.
   * @throws Error for an invalid value
   */
  parse(value: unknown): Output
  /** Converts a value. For an invalid value, `success` is false. */
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: Output } | { readonly success: false }
}

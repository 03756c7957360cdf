import type { Schema } from '../model/schema.ts'

/**
 * Converts the text of an environment variable to the value of a setting. Returns invalid text
 * unchanged, because the schema rejects the text.
 */
export type FromText = (text: string) => unknown

/** A setting. `Input` is the type that code may pass, and `Output` is the type of the parsed value. */
export interface Setting<Input, Output> {
  readonly schema: Schema<Input, Output>
  readonly fromText: FromText
  /** The accepted values, for start-up errors and the reference. */
  readonly accepts: string
  /** The meaning of the setting. */
  readonly sentence: string
  /** The environment variable, if the specification defines a name that differs from the derived name. */
  readonly env?: string
  /** Whether the value is a secret. Error messages omit a secret. */
  readonly isSecret?: boolean
}

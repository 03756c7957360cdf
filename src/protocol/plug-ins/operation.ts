/**
 * An operation of the OpenAPI 3.1 document. Any schema in `parameters`, `requestBody` and `responses` is a JSON schema or a
 * zod schema.
 */
export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  /** The accepted credentials: names of the document's security schemes. Empty if the operation is public. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly object[]
  readonly requestBody?: object
  /** The responses by status. */
  readonly responses: Readonly<Record<string, object>>
}

/** The operations of an endpoint. */
export interface Operations {
  /** The parameters of the path. Default: parameters without a description */
  readonly parameters?: readonly object[]
  readonly get?: Operation
  readonly post?: Operation
  readonly put?: Operation
  readonly delete?: Operation
}

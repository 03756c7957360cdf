import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { HttpResponse } from './script.ts'

interface Content {
  readonly [type: string]: { readonly schema: object }
}

interface DocumentedResponse {
  readonly $ref?: string
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>
  readonly content?: Content
}

/** An operation in the OpenAPI document of a server. */
export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, DocumentedResponse>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly responses: Readonly<Record<string, DocumentedResponse>>
    readonly securitySchemes: Readonly<Record<string, object>>
  }
}

/** An operation with its path and method. */
export interface PlacedOperation extends Operation {
  readonly method: string
  readonly path: string
}

/** The OpenAPI document of a server, and validation of requests and responses against the document. */
export class Contract {
  readonly document: Document
  readonly #validators = new Map<object, ValidateFunction>()
  readonly #ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true })

  private constructor(document: Document) {
    this.document = document
    addFormats.default(this.#ajv)
  }

  static async of({ issuer }: { readonly issuer: string }): Promise<Contract> {
    return new Contract((await (await fetch(`${issuer}/openapi.json`)).json()) as Document)
  }

  get operations(): readonly PlacedOperation[] {
    return Object.entries(this.document.paths).flatMap(([path, { parameters: _, ...methods }]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path,
      })),
    )
  }

  operation(id: string): PlacedOperation {
    const found = this.operations.find(({ operationId }) => operationId === id)
    if (!found) throw new Error(`There is no operation ${id}.`)
    return found
  }

  /** Returns the documented response with the given status. Resolves a reference. */
  response({ responses }: Operation, status: number): DocumentedResponse | undefined {
    const found = responses[status] ?? responses.default
    const [, name] = /^#\/components\/responses\/(\w+)$/.exec(found?.$ref ?? '') ?? []
    return name === undefined ? found : this.document.components.responses[name]
  }

  /** Returns the differences between a response and the document. */
  differences(operation: Operation, { status, headers, body }: HttpResponse): readonly string[] {
    const documented = this.response(operation, status)
    if (!documented) return [`${operation.operationId} does not say that it answers ${status}`]
    const type = headers.get('content-type')?.replace(/;.*/, '') ?? ''
    const schema = documented.content?.[type]?.schema
    if (documented.content && !schema) return [`${status} is documented without ${type}`]
    return schema ? this.invalid(schema, body) : []
  }

  /** Returns the reasons why a body does not match the documented body of an operation. */
  wrongBody({ requestBody }: Operation, body: unknown): readonly string[] {
    const schema = requestBody?.content['application/json']?.schema
    return schema ? this.invalid(schema, body) : ['it takes no JSON']
  }

  invalid(schema: object, value: unknown): readonly string[] {
    const validate = this.#validators.get(schema) ?? this.#compiled(schema)
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }

  #compiled(schema: object): ValidateFunction {
    const { schemas } = this.document.components
    const text = JSON.stringify({ ...schema, $defs: schemas })
    const validate = this.#ajv.compile(
      JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')),
    )
    this.#validators.set(schema, validate)
    return validate
  }
}

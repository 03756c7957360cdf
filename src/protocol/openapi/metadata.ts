import type { JsonSchema } from '../../model/parameters.ts'
import { text } from './schema.ts'

const schemaOf = (value: unknown): JsonSchema => {
  if (Array.isArray(value))
    return { type: 'array', items: value.length > 0 ? schemaOf(value[0]) : text }
  const type = typeof value
  return type === 'string' || type === 'boolean' || type === 'number' ? { type } : {}
}

/** Derives the schema of metadata from the documents of a server. A member of all documents is required. */
export const schemaOfDocuments = (
  documents: readonly Readonly<Record<string, unknown>>[],
  description: string,
): JsonSchema => {
  const members: Readonly<Record<string, unknown>> = Object.assign({}, ...documents)
  return {
    type: 'object',
    description,
    properties: Object.fromEntries(
      Object.entries(members).map(([name, value]) => [name, schemaOf(value)]),
    ),
    required: Object.keys(members).filter((name) => documents.every((one) => name in one)),
    additionalProperties: {},
  }
}

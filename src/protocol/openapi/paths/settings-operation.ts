import type { Described } from '../described.ts'
import { answerOf, namedAnswer } from '../responses.ts'
import { named, type Part, text } from '../schema.ts'
import { bySession } from '../security.ts'

interface SettingsOperation {
  readonly id: string
  readonly summary: string
  /** What it answers where it succeeds: a status, a sentence, a schema. */
  readonly answer: readonly [status: 200 | 201, description: string, schema: Part]
  /** Whether what it is about may not be there. */
  readonly finds?: boolean
  readonly query?: readonly Part[]
}

interface Change extends SettingsOperation {
  /** What it takes; without it, no body. */
  readonly body?: Part
  /** Whether it can be sent without a body too. */
  readonly isBodyOptional?: boolean
}

const operation = (server: Described, operation: SettingsOperation): Part => {
  const { id, summary, answer, finds = false, query = [] } = operation
  const [status, description, schema] = answer
  return {
    operationId: id,
    summary,
    tags: ['settings'],
    security: bySession(server),
    ...(query.length > 0 && { parameters: query }),
    responses: {
      [status]: answerOf(description, schema),
      400: namedAnswer('BadRequest'),
      401: namedAnswer('Unauthenticated'),
      403: namedAnswer('Forbidden'),
      ...(finds && { 404: namedAnswer('NotFound') }),
      503: namedAnswer('Unavailable'),
    },
  }
}

/** A GET of the settings. */
export const look = operation

/** A POST of the settings: JSON, or a form with fields of the same names. */
export const change = (
  server: Described,
  { body, isBodyOptional = false, ...rest }: Change,
): Part => {
  const { responses, ...described } = operation(server, rest)
  const content = body && {
    'application/json': { schema: body },
    'application/x-www-form-urlencoded': { schema: body },
  }
  return {
    ...described,
    ...(content && { requestBody: { required: !isBodyOptional, content } }),
    responses: { ...(responses as Part), 413: namedAnswer('TooLarge') },
  }
}

/** What a change answers that leaves nothing to be shown. */
export const done = [200, 'It is done.', named('Done')] as const

/** A parameter of the path. */
export const inPath = (name: string, description: string, schema: Part = text): Part => ({
  name,
  in: 'path',
  required: true,
  description,
  schema,
})

export const inQuery = (name: string, description: string, schema: Part = text): Part => ({
  name,
  in: 'query',
  description,
  schema,
})

/** Where a list goes on: never made up, always followed from `next`. */
export const after = (name: string): Part =>
  inQuery(name, 'Which part of the list; `next` of an earlier answer has it.')

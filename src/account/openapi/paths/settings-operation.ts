import * as shape from '../../../pages/shapes/shape.ts'
import { namedResponse, responseOrPage } from '../../../protocol/openapi/responses.ts'
import { inQuery, type Part, type Schema, text } from '../../../protocol/openapi/schema.ts'
import { bySession } from '../../../protocol/openapi/security.ts'
import type { Operation } from '../../../protocol/plug-ins/operation.ts'
import type { ServerContext } from '../../../protocol/server-context.ts'

interface SettingsOperation {
  readonly id: string
  readonly summary: string
  /** The status, description and schema of the successful response. */
  readonly response: readonly [status: 200 | 201, description: string, schema: Schema]
  /** Whether the endpoint returns 404 for an unknown ID. */
  readonly finds?: boolean
  readonly query?: readonly Part[]
}

interface Change extends SettingsOperation {
  /** The schema of the request body; omitted for a request without a body. */
  readonly body?: Schema
  /** Whether a request may omit the body. */
  readonly isBodyOptional?: boolean
}

const operation = (server: ServerContext, operation: SettingsOperation): Operation => {
  const { id, summary, response, finds = false, query = [] } = operation
  const [status, description, schema] = response
  return {
    operationId: id,
    summary,
    tags: ['settings'],
    security: bySession(server),
    ...(query.length > 0 && { parameters: query }),
    responses: {
      [status]: responseOrPage(description, schema),
      303: namedResponse('SeeOther'),
      400: namedResponse('BadRequest'),
      401: namedResponse('Unauthenticated'),
      403: namedResponse('PageForbidden'),
      ...(finds && { 404: namedResponse('NotFound') }),
      503: namedResponse('PageUnavailable'),
    },
  }
}

/** Describes a GET request to a settings page. */
export const look = operation

/** Describes a GET request whose response is a file. */
export const file = (
  server: ServerContext,
  described: Omit<SettingsOperation, 'response'>,
): Operation => {
  const { responses, ...rest } = operation(server, { ...described, response: [200, '', text] })
  const content = { 'text/csv': { schema: text }, 'application/jsonl': { schema: text } }
  return {
    ...rest,
    responses: { ...responses, 200: { description: 'The file.', content } },
  }
}

/** Describes a POST request to a settings page, whose body is JSON or a form with the same field names. */
export const change = (
  server: ServerContext,
  { body, isBodyOptional = false, ...rest }: Change,
): Operation => {
  const { responses, ...described } = operation(server, rest)
  const content = body && {
    'application/json': { schema: body },
    'application/x-www-form-urlencoded': { schema: body },
  }
  return {
    ...described,
    ...(content && { requestBody: { required: !isBodyOptional, content } }),
    responses: {
      ...responses,
      409: namedResponse('Conflict'),
      413: namedResponse('PageTooLarge'),
      429: namedResponse('PageTooMany'),
    },
  }
}

/** The response to a change without a result. */
export const done = [200, 'The change was made.', shape.done] as const

/** Describes the parameters that search, sort and filter a list. */
export const arranged = (
  orders: readonly string[],
  filters: readonly string[],
  more: readonly Part[] = [],
  search = inQuery('q', 'A part of the name.'),
): readonly Part[] => [
  search,
  inQuery('sort', 'The order of the entries.', { type: 'string', enum: orders }),
  inQuery('filter', 'Selects some of the entries.', { type: 'string', enum: filters }),
  ...more,
  ...['from', 'after', 'before'].map((name) =>
    inQuery(name, 'The position of a page, from the URL in `next` or `previous`.'),
  ),
]

/** Describes the cursor of a list. */
export const after = (name: string): Part =>
  inQuery(name, 'The cursor of a page, from the URL in `next` of an earlier response.')

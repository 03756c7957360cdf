import { done } from '../pages/shapes/shape.ts'
import type { FormShape } from '../protocol/endpoints/forms/json-form.ts'
import { namedResponse, responseOrPage } from '../protocol/openapi/responses.ts'
import { inQuery, type Part, type Schema } from '../protocol/openapi/schema.ts'
import { bySession } from '../protocol/openapi/security.ts'
import type { Operation, Operations } from '../protocol/plug-ins/operation.ts'
import type { ServerContext } from '../protocol/server-context.ts'
import type { Settings } from '../settings/settings.ts'

/** Describes a request to a page for the OpenAPI document. */
export interface PageOperation {
  readonly operationId: string
  readonly summary: string
  /** Describes the successful response. Default: `The change was made.` */
  readonly answer?: string
  /** The JSON of the response. Default: the view of the resource for a GET request, and an empty object after a change */
  readonly view?: Schema
  /** Whether the page returns 404. Default: true for a path with an ID, and for the pages of administrators */
  readonly finds?: boolean
  readonly query?: readonly Part[]
}

/** Describes a form of a page, whose body is JSON or a form with the same field names. */
export interface PageForm extends PageOperation {
  /** The status of the response to a script. Default: 200 */
  readonly status?: 200 | 201
  /** The fields for the document, if they depend on the settings. Default: the form of the page */
  readonly form?: Schema
  /** Whether a request may omit the body. Default: false */
  readonly isBodyOptional?: boolean
}

/** Describes the requests to a page for the OpenAPI document. */
export interface PageOperations {
  /** The parameters of the path. */
  readonly parameters?: readonly Part[]
  readonly get?: PageOperation
  readonly post?: PageForm
}

/** Returns the operations of a page for the OpenAPI document. */
export const describePage = (
  { path, form }: { path(settings: Settings): string; readonly form?: FormShape | undefined },
  { get, post, ...rest }: PageOperations,
  server: ServerContext,
): Operations => {
  const page = path(server.settings)
  const isLookUp = page.includes(':') || page.startsWith(`${server.settings.adminPrefix}/`)
  const operation = (described: PageForm): Operation => {
    const { operationId, summary, query, finds = isLookUp } = described
    const { answer = 'The change was made.', view = done, status = 200 } = described
    return {
      operationId,
      summary,
      tags: ['settings'],
      security: bySession(server),
      ...(query && { parameters: query }),
      responses: {
        [status]: responseOrPage(answer, view),
        303: namedResponse('SeeOther'),
        400: namedResponse('BadRequest'),
        401: namedResponse('Unauthenticated'),
        403: namedResponse('PageForbidden'),
        ...(finds && { 404: namedResponse('NotFound') }),
        503: namedResponse('PageUnavailable'),
      },
    }
  }
  return {
    ...rest,
    ...(get && { get: operation(get) }),
    ...(post && { post: changing(post, form, operation(post)) }),
  }
}

const changing = (
  { form, isBodyOptional = false }: PageForm,
  ofPage: FormShape | undefined,
  { responses, ...operation }: Operation,
): Operation => {
  const schema = form ?? ofPage
  const content = schema && {
    'application/json': { schema },
    'application/x-www-form-urlencoded': { schema },
  }
  return {
    ...operation,
    ...(content && { requestBody: { required: !isBodyOptional, content } }),
    responses: {
      ...responses,
      409: namedResponse('Conflict'),
      413: namedResponse('PageTooLarge'),
      429: namedResponse('PageTooMany'),
    },
  }
}

/** Describes the cursor of a list. */
export const after = (name: string): Part =>
  inQuery(name, 'The cursor of a page, from the URL in `next` of an earlier response.')

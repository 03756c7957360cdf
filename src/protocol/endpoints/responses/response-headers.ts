import type { HttpRequest } from '../../../http/request.ts'
import type { ServerContext } from '../../server-context.ts'

/** Returns the headers that extensions add to a response to a client. */
export const responseHeaders = (
  http: HttpRequest,
  server: ServerContext,
): Readonly<Record<string, string>> =>
  Object.assign(
    {},
    ...server.extensions.map((extension) => extension.responseHeaders?.(http, server)),
  )

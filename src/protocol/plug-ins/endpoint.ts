import type { HttpRequest } from '../../http/request.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Operations } from './operation.ts'

/** An endpoint of the authorization server. */
export interface EndpointFor<Server> {
  /**
   * Returns the path, relative to the path of the issuer. `:name` matches one segment, which `request.param('name')`
   * returns. If the path ends in a slash, a request without the slash is redirected.
   */
  path(settings: Settings): string
  /**
   * Marks a well-known endpoint, and returns the identifiers (URLs) that the endpoint describes. The endpoint is also
   * registered with the path of each identifier, once as a suffix and once as a prefix (RFC 8414 §3.1, §5).
   */
  wellKnown?(server: Server): readonly string[]
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'DELETE')[]
  /** Whether scripts of every origin may call the endpoint, without the browser's credentials (RFC 9700 §2.6). */
  readonly cors?: boolean
  /** The format of the error responses. */
  readonly errors: 'json' | 'page' | 'challenge'
  /** The metadata member with the URL of the endpoint. RFC 8414 §2. */
  readonly advertisedAs?: string
  /**
   * Returns the operations for the OpenAPI document, which omits an endpoint without this function. The server calls the
   * function only for a request for the document.
   */
  describe?(server: Server): Operations
  /** Handles a request. An `OAuthError` that it throws becomes the response that `errors` selects. */
  handle(request: HttpRequest, server: Server): Promise<Response | HttpResponse>
}

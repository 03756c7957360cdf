import type { Answer } from '../../http/answer.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { Settings } from '../../settings/settings.ts'

/** An endpoint of the authorization server. */
export interface EndpointFor<Server> {
  /**
   * Returns the path below the path of the issuer. `:name` stands for a variable segment, which `request.param('name')`
   * returns. A path that ends in a slash also matches without it, and redirects.
   */
  path(settings: Settings): string
  /**
   * Returns the identifiers that a well-known address is about. It is served at the root of the host, and before and
   * after the path of each.
   */
  wellKnown?(server: Server): readonly string[]
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'DELETE')[]
  /** Allows scripts of every origin to call it, without credentials of the browser (RFC 9700 §2.6). */
  readonly cors?: boolean
  /** The form of its error responses. */
  readonly errors: 'json' | 'page' | 'challenge'
  /** The metadata member that names its address. RFC 8414 §2. */
  readonly advertisedAs?: string
  handle(request: HttpRequest, server: Server): Promise<Response | Answer>
}

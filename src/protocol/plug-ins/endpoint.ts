import type { Answer } from '../../http/answer.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { Settings } from '../../settings/settings.ts'

/** An address of the authorization server. */
export interface EndpointFor<Server> {
  /**
   * Its path under the path of the issuer; `:name` stands for a part that differs, which the request's
   * `param('name')` gives. One that ends in a slash is found without it too, and is redirected.
   */
  path(settings: Settings): string
  /** The identifiers that it is about: it stands at the root of the host, and before and behind the path of each. */
  wellKnown?(server: Server): readonly string[]
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'DELETE')[]
  /** Scripts of any origin may call it: without credentials of a browser (RFC 9700 §2.6). */
  readonly cors?: boolean
  /** How its errors are delivered. */
  readonly errors: 'json' | 'page' | 'challenge'
  /** The metadata member that names its address. RFC 8414 §2. */
  readonly advertisedAs?: string
  handle(request: HttpRequest, server: Server): Promise<Response | Answer>
}

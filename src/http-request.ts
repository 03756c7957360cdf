import { Parameters } from './model/parameters.ts'
import { OAuthError } from './oauth-error.ts'

/** Bytes that a request body may have. */
const largestBody = 65_536
/** As Node takes them at most; a request may come back from the login encoded twice. */
export const longestQuery = 16_384

/** What an adapter knows of the connection that a request came over. */
export interface Connection {
  /** The address of the peer, which may be a proxy's. */
  readonly remoteAddress?: string | undefined
  /** The framework's own request, for the application's `resourceOwner`. */
  readonly raw?: unknown
  /** What the application calls the request; else its `X-Request-Id`, or a new id. */
  readonly requestId?: string | undefined
}

/** A request as endpoints see it: nothing of a framework, and no host that anybody could have chosen. */
export class HttpRequest {
  readonly method: string
  readonly headers: Headers
  /** The path as it was sent. */
  readonly path: string
  /** The raw query, without its question mark. */
  readonly query: string
  /** The address of the client, from behind trusted proxies. */
  readonly address: string
  /** The framework's own request. */
  readonly raw: unknown
  readonly #request: Request
  readonly #params: Readonly<Record<string, string>>

  constructor(
    request: Request,
    address: string,
    raw: unknown = request,
    params: Readonly<Record<string, string>> = {},
  ) {
    this.#request = request
    this.#params = params
    this.raw = raw
    this.method = request.method
    this.headers = request.headers
    this.address = address
    const target = request.url.replace(/^[a-z]+:\/\/[^/?#]*/i, '').replace(/#.*$/s, '')
    const mark = target.indexOf('?')
    this.path = mark < 0 ? target : target.slice(0, mark)
    this.query = mark < 0 ? '' : target.slice(mark + 1)
  }

  get userAgent(): string {
    return this.headers.get('user-agent') ?? ''
  }

  /**
   * What stands in the path for a parameter of the endpoint's pattern, decoded.
   * @throws TypeError for a name that the pattern does not have
   */
  param(name: string): string {
    const value = Object.hasOwn(this.#params, name) ? this.#params[name] : undefined
    if (value === undefined) throw new TypeError(`The path has no parameter ${name}.`)
    return value
  }

  /** @throws OAuthError `invalid_request` where it is too long */
  queryParameters(): Parameters {
    if (this.query.length > longestQuery) {
      throw new OAuthError(
        'invalid_request',
        `The query is longer than ${longestQuery} characters.`,
        { status: 414 },
      )
    }
    return new Parameters(this.query)
  }

  /**
   * The form in the body; the query is never read in its place (RFC 6749 §3.2).
   * @throws OAuthError `invalid_request` for another content type, 413 for a body over 64 KiB
   */
  async form(): Promise<Parameters> {
    return new Parameters(await this.formText())
  }

  formText(): Promise<string> {
    return this.#text('application/x-www-form-urlencoded')
  }

  /** The same for a body of JSON, unparsed. */
  jsonText(): Promise<string> {
    return this.#text('application/json')
  }

  async #text(contentType: string): Promise<string> {
    const given = this.headers.get('content-type') ?? ''
    const [type = '', charset = 'charset=utf-8', ...more] = given.toLowerCase().split(/ *; */)
    const isUtf8 = /^charset=(?:utf-8|"utf-8")$/.test(charset) && more.length === 0
    if (type !== contentType || !isUtf8)
      throw new OAuthError('invalid_request', `The content type must be ${contentType}.`)
    if (this.headers.has('content-encoding')) {
      throw new OAuthError('invalid_request', 'The body must not be compressed.')
    }
    if (Number(this.headers.get('content-length') ?? 0) > largestBody) throw tooLarge()
    try {
      return await this.#body()
    } catch (cause) {
      // Somebody read it before us: a mistake of the host, not of the sender.
      if (cause instanceof OAuthError || cause instanceof TypeError) throw cause
      // A sender that goes away in the middle is its own mistake, and no fault of ours to be logged.
      throw new OAuthError('invalid_request', 'The body ended too early.', { cause })
    }
  }

  async #body(): Promise<string> {
    // Its length is known and small, and no more of it is let in: read at once, without a stream's cost.
    if (this.headers.has('content-length')) return this.#request.text()
    if (this.#request.body === null) return ''
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of this.#request.body as ReadableStream<Uint8Array>) {
      size += chunk.byteLength
      if (size > largestBody) throw tooLarge()
      chunks.push(chunk)
    }
    return new TextDecoder().decode(Buffer.concat(chunks))
  }
}

const tooLarge = (): OAuthError =>
  new OAuthError('invalid_request', `The body is larger than ${largestBody} bytes.`, {
    status: 413,
  })

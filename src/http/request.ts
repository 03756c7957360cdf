import { bounds, readablePart } from '../model/bounds.ts'
import { OAuthError } from '../model/oauth-error.ts'
import { Parameters } from '../model/parameters.ts'
import { isSameInUtf8, type MediaType, mediaTypeOf } from './media-type.ts'
import { partsOf } from './request-target.ts'

/** The properties of a request that only the adapter can read. */
export interface Connection {
  /** The IP address of the peer, which may be a proxy. */
  readonly remoteAddress?: string | undefined
  /** The request object of the framework, which the application's `resourceOwner` receives. */
  readonly raw?: unknown
  /** The request target as the client sent it, if known. The URL of a `Request` is already normalized. */
  readonly target?: string | undefined
  /** The application's request ID; default: the `X-Request-Id` header or a new ID. */
  readonly requestId?: string | undefined
}

/** A request of a framework. Each part is read when the server needs the part. */
export interface RequestSource {
  readonly method: string
  /** The path and query as the client sent them, with or without a host. */
  readonly target: string
  /** Returns all values of a header, joined by a comma, or null without the header. @param name in lower case */
  header(name: string): string | null
  readonly headers: Headers
  /** The values of all headers. */
  readonly headerValues: Iterable<string>
  /**
   * Reads the body, which can be read only once. Returns undefined if the body is too large.
   * @param maxSize the maximum size in bytes
   * @throws TypeError if the body was already read
   */
  text(maxSize: number): Promise<string | undefined>
}

/**
 * A request in the form that endpoints receive. The class has no property `host`, because a sender can forge the header
 * `Host`.
 */
export class HttpRequest {
  readonly method: string
  /** The path as the client sent it. */
  readonly path: string
  /** The raw query, without its question mark. */
  readonly query: string
  /** The IP address of the client, resolved through trusted proxies. */
  readonly address: string
  /** The request object of the framework. */
  readonly raw: unknown
  readonly #source: RequestSource
  #queryParameters: Parameters | undefined
  readonly #params: Readonly<Record<string, string>>
  #formText: Promise<string> | undefined

  constructor(
    source: RequestSource,
    address: string,
    raw: unknown,
    params: Readonly<Record<string, string>> = {},
  ) {
    this.#source = source
    this.#params = params
    this.raw = raw
    this.method = source.method
    this.address = address
    const { path, query } = partsOf(source.target)
    this.path = path
    // The router refuses a query that is too long. The page with the error must not read the query either.
    this.query = query.length > bounds.query ? '' : query
  }

  /** All headers of the request, for the application. The server itself reads headers by `header`. */
  get headers(): Headers {
    return this.#source.headers
  }

  /**
   * Returns all values of a header, joined by a comma, or null without the header. Some headers are truncated (`bounds`).
   * @param name in lower case
   */
  header(name: string): string | null {
    return readablePart(name, this.#source.header(name))
  }

  /** The media type of the body; undefined if the header `Content-Type` is missing or malformed. */
  get mediaType(): MediaType | undefined {
    return mediaTypeOf(this.header('content-type') ?? '')
  }

  /** The header `User-Agent`; empty without the header. */
  get userAgent(): string {
    return this.header('user-agent') ?? ''
  }

  /**
   * Returns the percent-decoded value of a path parameter.
   * @throws TypeError if the endpoint's path has no parameter of this name
   */
  param(name: string): string {
    const value = Object.hasOwn(this.#params, name) ? this.#params[name] : undefined
    if (value === undefined) throw new TypeError(`The path has no parameter ${name}.`)
    return value
  }

  /** Returns the parameters of the query. @throws OAuthError `invalid_request` for too many parameters */
  queryParameters(): Parameters {
    this.#queryParameters ??= new Parameters(this.query)
    return this.#queryParameters
  }

  /**
   * Returns the form in the body, without parameters of the query (RFC 6749 §3.2).
   * @throws OAuthError `invalid_request`, for instance for another content type; with status 413 for more than 64 KiB
   * @throws TypeError if the application has already read the body
   */
  async form(): Promise<Parameters> {
    return new Parameters(await this.formText())
  }

  /** Returns the body of a form as text. May be called several times. @throws the same errors as `form` */
  formText(): Promise<string> {
    this.#formText ??= this.#readForm()
    return this.#formText
  }

  async #readForm(): Promise<string> {
    const { text, charset } = await this.#text('application/x-www-form-urlencoded')
    // RFC 6749 Appendix B: the encoded octets are UTF-8.
    if (charset !== undefined && /%[89a-f]/i.test(text)) throw notUtf8()
    return text
  }

  /** Returns the text of a JSON body. @throws the same errors as `form` */
  async jsonText(): Promise<string> {
    return (await this.#text('application/json')).text
  }

  async #text(contentType: string) {
    const { type, charset } = this.mediaType ?? {}
    if (type !== contentType)
      throw new OAuthError('invalid_request', `The content type must be ${contentType}.`)
    const text = await this.#body()
    if (charset !== undefined && !isSameInUtf8(text, charset)) throw notUtf8()
    return { text, charset }
  }

  async #body(): Promise<string> {
    // RFC 9110 §8.4.1: some clients send the name of the missing encoding.
    if (!/^(?:identity)?$/i.test(this.header('content-encoding') ?? '')) {
      throw new OAuthError('invalid_request', 'The body must not be compressed.')
    }
    if (Number(this.header('content-length') ?? 0) > bounds.body) throw tooLarge()
    let text: string | undefined
    try {
      text = await this.#source.text(bounds.body)
    } catch (cause) {
      // A `TypeError` means that the application has already read the body. This is not an error of the sender.
      if (cause instanceof TypeError) throw cause
      // The sender closed the connection, so report an error of the sender instead of an internal error.
      throw new OAuthError('invalid_request', 'The body is incomplete.', { cause })
    }
    if (text === undefined) throw tooLarge()
    return text
  }
}

/** Reads a request from a `Request` object. */
export class FetchSource implements RequestSource {
  readonly method: string
  readonly target: string
  readonly #request: Request

  constructor(request: Request, target: string = request.url) {
    this.#request = request
    this.method = request.method
    this.target = target
  }

  get headers(): Headers {
    return this.#request.headers
  }

  get headerValues(): Iterable<string> {
    return this.#request.headers.values()
  }

  header(name: string): string | null {
    return this.#request.headers.get(name)
  }

  async text(maxSize: number): Promise<string | undefined> {
    if (this.#request.bodyUsed)
      throw new TypeError(
        'The body of the request was read before server.fetch(request). Pass request.clone() to the code that reads the body.',
      )
    // `HttpRequest` has already checked this length, so read the body without the overhead of a stream.
    if (this.#request.headers.has('content-length')) return this.#request.text()
    if (this.#request.body === null) return ''
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of this.#request.body as ReadableStream<Uint8Array>) {
      size += chunk.byteLength
      if (size > maxSize) return undefined
      chunks.push(chunk)
    }
    return new TextDecoder().decode(Buffer.concat(chunks))
  }
}

const notUtf8 = (): OAuthError => new OAuthError('invalid_request', 'The body must be in UTF-8.')

const tooLarge = (): OAuthError =>
  new OAuthError('invalid_request', `The body is larger than ${bounds.body} bytes.`, {
    status: 413,
  })

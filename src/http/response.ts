/**
 * The headers of every response that contains a credential or data of a user. Caches must not store the response
 * (RFC 6749 §5.1). Browsers must not send the URL of the request to other sites, because the URL may contain a token
 * (RFC 6750 §5.3).
 */
export const noStore: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** Serializes the body of a JSON response. It ends with a newline, so that the prompt of a shell follows on its own line. */
export const jsonText = (body: object): string => `${JSON.stringify(body)}\n`

/**
 * A response as plain values, which an adapter sends directly. Creating and reading a `Response` object would take
 * longer than the rest of a token request.
 */
export class HttpResponse {
  readonly status: number
  /** The headers; their names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string

  constructor(status: number, headers: Readonly<Record<string, string>>, body: string) {
    this.status = status
    this.headers = headers
    this.body = body
  }

  /** Returns a copy with additional headers. */
  with(headers: Readonly<Record<string, string>>): HttpResponse {
    return new HttpResponse(this.status, { ...this.headers, ...headers }, this.body)
  }

  /** Converts the response to a `Response` of the Fetch API. */
  toResponse(): Response {
    return new Response(this.body, { status: this.status, headers: this.headers })
  }
}

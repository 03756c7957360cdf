/**
 * The headers of every answer that may carry a credential or is made for one user: no cache keeps it (RFC 6749 §5.1), and
 * its address, in which a token may stand, is not sent to other sites (RFC 6750 §5.3).
 */
export const noStore: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/**
 * An answer as plain values, which an adapter sends as they are: to make a `Response` of it and to take that
 * apart again costs more than the rest of a token request.
 */
export class Answer {
  readonly status: number
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string

  constructor(status: number, headers: Readonly<Record<string, string>>, body: string) {
    this.status = status
    this.headers = headers
    this.body = body
  }

  /** The same with more headers. */
  with(headers: Readonly<Record<string, string>>): Answer {
    return new Answer(this.status, { ...this.headers, ...headers }, this.body)
  }

  toResponse(): Response {
    return new Response(this.body, { status: this.status, headers: this.headers })
  }
}

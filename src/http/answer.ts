/**
 * The headers of every response with a credential or for one user. No cache may store it (RFC 6749 §5.1), and its URL,
 * which may contain a token, is not sent to other sites (RFC 6750 §5.3).
 */
export const noStore: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/**
 * A response as plain values, which an adapter sends directly. Creating a `Response` and reading it again would cost
 * more than the rest of a token request.
 */
export class Answer {
  readonly status: number
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string

  constructor(status: number, headers: Readonly<Record<string, string>>, body: string) {
    this.status = status
    this.headers = headers
    this.body = body
  }

  /** Returns a copy with more headers. */
  with(headers: Readonly<Record<string, string>>): Answer {
    return new Answer(this.status, { ...this.headers, ...headers }, this.body)
  }

  toResponse(): Response {
    return new Response(this.body, { status: this.status, headers: this.headers })
  }
}

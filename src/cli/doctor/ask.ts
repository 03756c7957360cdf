/** Sends a request over the network, or directly to a server in this process. */
export type Send = (request: Request) => Promise<Response>

export interface HttpResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body, if the content type is JSON and the body is an object. */
  readonly json: Readonly<Record<string, unknown>> | undefined
}

/** Sends one request without following redirects. */
export type Ask = (url: string, init?: RequestInit) => Promise<HttpResponse>

/** The timeout of a request in milliseconds. */
const timeout = 10_000
/** The maximum number of characters of a response that the checks examine. */
const maxCharacters = 500_000

/** The error if a request receives no complete response. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

export const asking =
  (send: Send): Ask =>
  async (url, init = {}) => {
    const signal = AbortSignal.timeout(timeout)
    try {
      const response = await send(new Request(url, { redirect: 'manual', signal, ...init }))
      const text = (await response.text()).slice(0, maxCharacters)
      const { status, headers } = response
      return {
        status,
        headers,
        text,
        json: headers.get('content-type')?.includes('json') ? objectIn(text) : undefined,
      }
    } catch (error) {
      throw new Unreachable(`${url} cannot be reached: ${reasonOf(error)}.`)
    }
  }

const objectIn = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

// The error that `fetch` throws has the reason in its cause.
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return cause.message || ('code' in cause ? String(cause.code) : error.message)
}

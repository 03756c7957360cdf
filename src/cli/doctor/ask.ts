/** Sends a request: over the network, or straight to a server in this process. */
export type Send = (request: Request) => Promise<Response>

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body, where it is a JSON object. */
  readonly json: Readonly<Record<string, unknown>> | undefined
}

/** Asks one question; a redirect is an answer like any other. */
export type Ask = (url: string, init?: RequestInit) => Promise<Answer>

/** Milliseconds that an answer may take. */
const patience = 10_000
/** Characters of an answer that are looked at. */
const longest = 500_000

/** Nobody answers at the address at all. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

export const asking =
  (send: Send): Ask =>
  async (url, init = {}) => {
    const signal = AbortSignal.timeout(patience)
    try {
      const response = await send(new Request(url, { redirect: 'manual', signal, ...init }))
      const text = (await response.text()).slice(0, longest)
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

// What `fetch` throws says little; why is in its cause.
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return cause.message || ('code' in cause ? String(cause.code) : error.message)
}

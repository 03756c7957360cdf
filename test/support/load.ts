import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Form } from './nodes.ts'

/**
 * The result of a request. The status is `cut` if the connection was closed before a response, and `hang` at a timeout.
 */
export interface Outcome {
  readonly status: number | 'cut' | 'hang'
  /** The OAuth error code in the body. */
  readonly error?: string
  /** The error that closed the connection. */
  readonly cause?: unknown
  readonly body: Readonly<Record<string, unknown>>
  /** The body, if it is not JSON. */
  readonly text?: string
  readonly headers: Readonly<Record<string, unknown>>
  /** The start of the request in milliseconds, by the monotonic clock of this process. */
  readonly began: number
  readonly ended: number
}

export interface Call {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** The fields of a form, which is sent with POST. */
  readonly fields?: Readonly<Record<string, string>>
}

/** The timeout of a response in milliseconds, which also applies during a fault. */
export const responseTimeout = 10_000

/**
 * Sends a request on a new connection, and returns its result. On a connection that was idle, the request could be lost
 * because the server closes the connection at that moment. The promise never rejects.
 */
export const call = ({ url, headers, fields }: Call): Promise<Outcome> =>
  new Promise((resolve) => {
    const began = performance.now()
    const end = (outcome: Partial<Outcome> & Pick<Outcome, 'status'>) => {
      clearTimeout(timer)
      resolve({ body: {}, headers: {}, ...outcome, began, ended: performance.now() })
    }
    const content = fields && new URLSearchParams(fields).toString()
    const sent = request(url, {
      agent: false,
      method: fields ? 'POST' : 'GET',
      headers: {
        ...headers,
        ...(content !== undefined && {
          'content-type': 'application/x-www-form-urlencoded',
          'content-length': Buffer.byteLength(content),
        }),
      },
    })
    const timer = setTimeout(() => {
      end({ status: 'hang' })
      sent.destroy()
    }, responseTimeout)
    sent.on('error', (cause) => end({ status: 'cut', cause }))
    sent.on('response', (response) => {
      text(response).then(
        (answer) => {
          const isJson = response.headers['content-type']?.startsWith('application/json')
          const body = isJson ? JSON.parse(answer) : {}
          const { statusCode: status = 0, headers: received } = response
          const shown = isJson ? body.error && { error: body.error } : { text: answer }
          end({ status, body, headers: received, ...shown })
        },
        (cause: unknown) => end({ status: 'cut', cause }),
      )
    })
    sent.end(content)
  })

/** Sends a form, and returns the result like `call`. */
export const post = ({ url, authorization, fields }: Form): Promise<Outcome> =>
  call({ url, headers: { authorization }, fields })

/** Runs `work` for every item. At most `width` calls run concurrently. */
export const each = async <T>(
  items: readonly T[],
  width: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> => {
  const queue = items.entries()
  const worker = async () => {
    for (const [index, item] of queue) await work(item, index)
  }
  await Promise.all(Array.from({ length: width }, worker))
}

/** Counts the outcomes of each kind. */
export const kinds = (outcomes: readonly Outcome[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { status, error } of outcomes) {
    const kind = error === undefined ? `${status}` : `${status} ${error}`
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}

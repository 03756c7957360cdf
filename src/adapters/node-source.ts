import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { RequestSource } from '../http/request.ts'
import { bounds } from '../model/bounds.ts'

/**
 * Returns all values of a header, joined by the separator; null without the header. Node's `headers` contains only the
 * first of two `Authorization` headers.
 */
export const rawHeader = (
  { rawHeaders }: IncomingMessage,
  name: string,
  separator = ', ',
): string | null => {
  let joined: string | null = null
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] as string
    if (given.length !== name.length || given.toLowerCase() !== name) continue
    const value = rawHeaders[index + 1] ?? ''
    joined = joined === null ? value : `${joined}${separator}${value}`
  }
  return joined
}

export const allHeaders = ({ rawHeaders }: IncomingMessage): Headers => {
  const headers = new Headers()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    // Skip the pseudo-headers of HTTP/2.
    if (!name.startsWith(':')) headers.append(name, rawHeaders[index + 1] ?? '')
  }
  return headers
}

/** Returns whether the headers announce a body that the server may read. */
export const hasBody = ({ method, headers }: IncomingMessage): boolean => {
  if (method === 'GET' || method === 'HEAD') return false
  const length = Number(headers['content-length'] ?? 0)
  return headers['transfer-encoding'] !== undefined || (length > 0 && length <= bounds.body)
}

/**
 * Reads a body from now on. Stops after more than `bounds.body` bytes, because such a body is refused.
 * @throws Error if the sender closes the connection
 */
export const readBody = (body: Readable): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    if (body.destroyed) return reject(new Error('The client closed the connection.'))
    const chunks: Buffer[] = []
    let size = 0
    const whole = () => {
      const [first = Buffer.alloc(0)] = chunks
      resolve(chunks.length > 1 ? Buffer.concat(chunks) : first)
    }
    body.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > bounds.body) {
        body.pause()
        whole()
      }
    })
    body.on('end', whole)
    body.on('error', reject)
    // Earlier middleware may have paused the body.
    body.resume()
  })

const decoder = new TextDecoder()

/** A Node request whose body an adapter, or middleware of the application, may have read. */
export type NodeRequest = IncomingMessage & { readonly body?: unknown; rawBody?: Buffer | string }

/** The source of a Node request, whose parts are read only when they are needed. */
export class NodeSource implements RequestSource {
  readonly method: string
  readonly target: string
  readonly #request: IncomingMessage
  readonly #body: Promise<Buffer> | undefined
  #headers: Headers | undefined

  /** @param body the body of the request, if it has one */
  constructor(request: IncomingMessage, target: string, body: Promise<Buffer> | undefined) {
    this.#request = request
    this.#body = body
    this.method = request.method ?? 'GET'
    this.target = target
  }

  get headers(): Headers {
    this.#headers ??= allHeaders(this.#request)
    return this.#headers
  }

  get headerValues(): Iterable<string> {
    return this.#request.rawHeaders
  }

  header(name: string): string | null {
    return rawHeader(this.#request, name, name === 'cookie' ? '; ' : ', ')
  }

  async text(maxSize: number): Promise<string | undefined> {
    const body = await this.#body
    if (!body) return ''
    return body.length > maxSize ? undefined : decoder.decode(body)
  }
}

import type { IncomingMessage } from 'node:http'
import type { RequestSource } from '../http/request.ts'

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

/** Returns whether the headers announce a body. */
export const hadBody = ({ headers }: IncomingMessage): boolean =>
  Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined

const decoder = new TextDecoder()

/** The source of a Node request, whose parts are read only when they are needed. */
export class NodeSource implements RequestSource {
  readonly method: string
  readonly target: string
  readonly #request: IncomingMessage & { readonly rawBody?: Buffer | undefined }
  #headers: Headers | undefined

  constructor(request: IncomingMessage, target: string) {
    this.#request = request
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

  text(maxSize: number): Promise<string | undefined> {
    const request = this.#request
    const { rawBody } = request
    if (rawBody)
      return Promise.resolve(rawBody.length > maxSize ? undefined : decoder.decode(rawBody))
    return new Promise((resolve, reject) => {
      if (request.readableEnded && !hadBody(request)) return resolve('')
      if (request.readableEnded) return reject(new TypeError('The body was already read.'))
      if (request.destroyed) return reject(new Error('The client closed the connection.'))
      const chunks: Buffer[] = []
      let size = 0
      request.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > maxSize) {
          request.pause()
          resolve(undefined)
        } else chunks.push(chunk)
      })
      request.on('end', () => {
        const [first = Buffer.alloc(0)] = chunks
        resolve(decoder.decode(chunks.length > 1 ? Buffer.concat(chunks) : first))
      })
      request.on('error', reject)
      // Earlier middleware may have paused the request.
      request.resume()
    })
  }
}

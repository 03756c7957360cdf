import { connect } from 'node:net'
import type { TestServer } from './server.ts'

/**
 * A request that HTTP clients would refuse to send. Text is encoded as Latin-1, one byte per character.
 */
export interface RawRequest {
  readonly method?: string
  /** The request target, sent unchanged. */
  readonly target: string
  /** Header lines in this order; `Host` is added if it is missing. */
  readonly headers?: readonly string[]
  readonly body?: string
  readonly version?: '1.0' | '1.1'
}

export interface RawResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Sends the request over a new socket and reads the response until the server closes it. */
export const rawHttp = async (
  { issuer }: Pick<TestServer, 'issuer'>,
  { method = 'GET', target, headers = [], body = '', version = '1.1' }: RawRequest,
): Promise<RawResponse> => {
  const { host, port } = new URL(issuer)
  const has = (name: string) =>
    headers.some((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
  const lines = [
    `${method} ${target} HTTP/${version}`,
    ...(has('host') || version === '1.0' ? [] : [`Host: ${host}`]),
    ...headers,
    ...(body === '' || has('content-length') || has('transfer-encoding')
      ? []
      : [`Content-Length: ${body.length}`]),
    'Connection: close',
  ]
  const socket = connect(Number(port), '127.0.0.1')
  const chunks: Buffer[] = []
  await new Promise<void>((resolve, reject) => {
    socket
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('close', () => resolve())
      // A server may respond and then close the connection during the upload, so ignore the error after a response.
      .once('error', (error) => (chunks.length > 0 ? resolve() : reject(error)))
      .setTimeout(10_000, () => socket.destroy(new Error('The server did not respond.')))
    socket.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1'))
  })
  return parsed(Buffer.concat(chunks).toString('latin1'))
}

const parsed = (response: string): RawResponse => {
  const [head = '', ...rest] = response.replace(interim, '').split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  const body = rest.join('\r\n\r\n')
  const text = headers.get('transfer-encoding') === 'chunked' ? unchunked(body) : body
  return { status: Number(statusLine.split(' ')[1]), headers, text }
}

// A response such as 100 Continue precedes the final response.
const interim = /^HTTP\/1\.1 1\d\d [^\r]*\r\n\r\n/

const unchunked = (body: string): string => {
  let text = ''
  for (let rest = body; rest !== ''; ) {
    const end = rest.indexOf('\r\n')
    const size = Number.parseInt(rest.slice(0, end), 16)
    if (!(size > 0)) break
    text += rest.slice(end + 2, end + 2 + size)
    rest = rest.slice(end + 4 + size)
  }
  return text
}

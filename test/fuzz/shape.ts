/** Text that is percent-encoded when it is sent, or raw text that is sent unchanged, one byte per character. */
export type Value = string | { readonly raw: string }
export type Pair = [name: Value, value: Value]

/** A request before its serialization. Mutations change its parts. */
export interface Shape {
  /** The endpoint and kind of the request, as a row of the report shows them. */
  readonly endpoint: string
  method: string
  /** The path as it is sent. */
  path: string
  query: Pair[]
  headers: [name: string, value: string][]
  body: Body
  /** Whether to use a new connection, because the server may close it. */
  isAlone: boolean
}

export type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'form'; pairs: Pair[] }
  | { readonly kind: 'json'; value: unknown }
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly isChunked?: boolean }

const encoded = (value: Value): string =>
  typeof value === 'string' ? new URLSearchParams([['', value]]).toString().slice(1) : value.raw

export const formOf = (pairs: readonly Pair[]): string =>
  pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')

/** Returns the JSON of a value that may contain raw text. */
const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'bigint' ? Number(inner) : inner,
  ) ?? 'null'

export const bytesOf = (body: Body): Buffer | undefined => {
  if (body.kind === 'none') return undefined
  if (body.kind === 'bytes') return body.bytes
  if (body.kind === 'form') return Buffer.from(formOf(body.pairs), 'latin1')
  return Buffer.from(jsonOf(body.value))
}

/** Returns path and query. Always encodes spaces and other characters that a request target cannot contain. */
const targetOf = ({ path, query }: Shape): string => {
  const text = query.length === 0 ? path : `${path}?${formOf(query)}`
  // Node's HTTP parser closes the connection at such a character, which would affect other requests.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds characters to encode
  return text.replaceAll(/[\u0000- \u007F]/g, (letter) => encodeURIComponent(letter))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds characters to encode
const requiresEncoding = /[\u0000-\u0008\u000A-\u001F\u007F]|[^\u0000-\u00FF]/g

/** Returns the bytes of the request. */
export const wireOf = (shape: Shape): Buffer => {
  const body = bytesOf(shape.body)
  const lines = [`${shape.method} ${targetOf(shape)} HTTP/1.1`]
  for (const [name, value] of shape.headers)
    lines.push(`${name}: ${value.replaceAll(requiresEncoding, '?')}`)
  const isChunked = shape.body.kind === 'bytes' && shape.body.isChunked
  if (isChunked) lines.push('Transfer-Encoding: chunked')
  else if (body !== undefined) lines.push(`Content-Length: ${body.length}`)
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  if (body === undefined) return head
  return Buffer.concat([head, isChunked ? chunked(body) : body])
}

const chunked = (body: Buffer): Buffer => {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; at += 4096) {
    const part = body.subarray(at, at + 4096)
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

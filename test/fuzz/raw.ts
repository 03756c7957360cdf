import type { SeededRandom } from '../support/seeded-random.ts'
import { type Shape, wireOf } from './shape.ts'

/** Bytes to send over a new connection. If `leaves` is set, the sender disconnects before a response. */
export interface Raw {
  readonly bytes: Buffer
  readonly leaves: boolean
}

type Break = (text: string, random: SeededRandom) => string

const line =
  (added: string): Break =>
  (text) =>
    text.replace('\r\n', `\r\n${added}\r\n`)

/** Changes that make a request malformed. Text is Latin-1, one byte per character. */
const breaks: readonly Break[] = [
  (text) => text.replace(/^(\S+) /, '$1 http://evil.example'),
  (text) => text.replace(/^(\S+) \S+/, '$1 *'),
  (text) => text.replace(/^(\S+) \S+/, '$1 evil.example:443'),
  (text) => text.replace(/^\S+/, 'CONNECT'),
  (text) => text.replace(/^\S+/, (method) => method.toLowerCase()),
  (text) => text.replace('HTTP/1.1', 'HTTP/1.0'),
  (text) => text.replace('HTTP/1.1', 'HTTP/9.9'),
  (text) => text.replace(' HTTP/1.1', ''),
  (text) => text.replace(/Host: [^\r]*\r\n/, ''),
  (text) => text.replace(/Host: [^\r]*/, 'Host: a b/../@x'),
  line('Host: other.example'),
  line('Content-Length: 5'),
  line('Content-Length: -1'),
  line('Content-Length: 99999999999999999999'),
  (text) => text.replace(/Content-Length: \d+/, 'Content-Length: 3'),
  (text) =>
    text.replace(/Content-Length: (\d+)/, 'Content-Length: $1\r\nTransfer-Encoding: chunked'),
  (text) => text.replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked'),
  (text) => text.replace(/Content-Length: \d+/, 'Transfer-Encoding: gzip, chunked'),
  (text) => text.replace(/Content-Length: \d+\r\n\r\n/, 'Transfer-Encoding: chunked\r\n\r\nzz\r\n'),
  (text) =>
    text.replace(
      /Content-Length: \d+\r\n\r\n/,
      'Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n',
    ),
  (text) =>
    text.replace(
      /Content-Length: \d+\r\n\r\n(.*)/s,
      'Transfer-Encoding: chunked\r\n\r\n3;x="y\r\nabc\r\n0\r\nHost: x\r\nX: y\r\n\r\n',
    ),
  line('Expect: nonsense'),
  line('Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x'),
  line('Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__'),
  line('Connection: close, keep-alive'),
  line('Connection: Authorization, Cookie'),
  line('Bad Header: x'),
  line('X-Nul: a\u0000b'),
  line(' folded: x'),
  line(': no name'),
  line('Cookie: \u0001'),
  line(`X-Long: ${'x'.repeat(20_000)}`),
  (text) => text.replace('\r\n', `\r\n${'X: y\r\n'.repeat(2_100)}`),
  (text) => text.replace(/ \/[^ ]*/, (target) => `${target}${'x'.repeat(20_000)}`),
  (text) => text.replace(/ \/[^ ]*/, (target) => `${target} x`),
  (text) => text.replace(/ \/[^ ]*/, (target) => `${target}\u00e9\u0000`),
  (text) => text.replaceAll('\r\n', '\n'),
  (text) => text.replaceAll('\r\n', '\r'),
  (text) => `\r\n\r\n${text}`,
  (text) => text.repeat(8),
  (text) => `${text}GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n`,
  () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u0000\u0000\u0000\u0004\u0000\u0000\u0000\u0000\u0000',
  () => '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
  (_text, r) => r.bytes(r.below(500)).toString('latin1'),
]

/** Changes that cut a request off in the middle of its head or body. */
const halves: readonly Break[] = [
  (text, r) => text.slice(0, r.below(text.length)),
  (text) =>
    text.replace(
      /Content-Length: (\d+)/,
      (_all, length) => `Content-Length: ${Number(length) + 10}`,
    ),
  () => 'GET / HTTP/1.1\r\n',
]

/** Returns the bytes of a malformed request. */
export const rawOf = (shape: Shape, random: SeededRandom): Raw => {
  const text = wireOf(shape).toString('latin1')
  if (random.chance(15))
    return { bytes: Buffer.from(random.pick(halves)(text, random), 'latin1'), leaves: true }
  return {
    bytes: Buffer.from(random.pick(breaks)(text, random), 'latin1'),
    leaves: random.chance(10),
  }
}

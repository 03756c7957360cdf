import type { SeededRandom } from '../support/seeded-random.ts'
import type { Mutation } from './mutate-structure.ts'
import type { Nasty } from './nasty.ts'

type Given = (random: SeededRandom, nasty: Nasty) => string

/** Headers that influence how the server processes a request, each with unexpected values. */
const lines: Readonly<Record<string, Given>> = {
  Accept: (r, n) =>
    r.pick([
      'application/json',
      '*/*',
      'text/html',
      'application/json;q=0, */*',
      ',,,;q=',
      n.text(r),
    ]),
  'Accept-Language': (r, n) =>
    r.pick(['de', 'ar,*;q=0', 'x-y-z', 'i-default', 'a'.repeat(500), 'en;q=2', n.text(r)]),
  'Accept-Encoding': (r) => r.pick(['gzip', 'identity;q=0', '*;q=0', 'br, zstd']),
  Authorization: (r, n) =>
    r.pick([
      'Bearer',
      'Bearer ',
      'Basic',
      'Basic ====',
      'Basic Og==',
      'DPoP x',
      'Digest x',
      'Bearer a b',
      `Bearer ${n.text(r)}`,
      n.text(r),
    ]),
  Cookie: (r, n) =>
    r.pick([
      'oauth2server_session=',
      'oauth2server_session="x"',
      'oauth2server_session=a; oauth2server_session=b',
      '=',
      ';;;',
      `oauth2server_session=${n.text(r)}`,
      'a=b; '.repeat(300),
      n.text(r),
    ]),
  'Content-Type': (r, n) =>
    r.pick([
      'text/plain',
      'application/json',
      'application/x-www-form-urlencoded',
      'application/x-www-form-urlencoded; charset=utf-16',
      'application/json; charset=utf-7',
      'multipart/form-data; boundary=x',
      'multipart/form-data',
      ';',
      '',
      n.text(r),
    ]),
  'Content-Encoding': (r) => r.pick(['gzip', 'br', 'identity', 'x', '']),
  DPoP: (r, n) =>
    r.pick(['', 'x', 'a.b.c', 'e30.e30.e30', 'eyJ0eXAiOiJkcG9wK2p3dCJ9..', n.text(r)]),
  Origin: (r, n) =>
    r.pick(['null', 'https://evil.example', 'http://localhost', 'x', '', n.text(r)]),
  Referer: (_r, n) => n.text(_r),
  'Sec-Fetch-Site': (r) => r.pick(['cross-site', 'same-origin', 'none', 'x']),
  'Sec-Fetch-Mode': (r) => r.pick(['navigate', 'cors', 'x']),
  'Access-Control-Request-Method': (r) => r.pick(['POST', 'x', '']),
  'Access-Control-Request-Headers': (r, n) => n.text(r),
  'X-Forwarded-For': (r, n) =>
    r.pick([
      '',
      ',',
      'unknown',
      '127.0.0.1',
      '::1',
      '[::1]:80',
      '1.2.3.4.5',
      '999.1.1.1',
      '1.1.1.1, 2.2.2.2, 127.0.0.1',
      n.text(r),
    ]),
  'X-Forwarded-Host': () => 'evil.example',
  'X-Forwarded-Proto': () => 'ftp',
  'X-HTTP-Method-Override': () => 'DELETE',
  'X-Request-Id': (r, n) => r.pick(['', 'x'.repeat(3_000), n.text(r)]),
  'User-Agent': (r, n) => r.pick(['', 'x'.repeat(4_000), n.text(r)]),
  'If-None-Match': (r) => r.pick(['*', '"x"', 'W/']),
  'If-Modified-Since': (r) => r.pick(['x', 'Thu, 01 Jan 1970 00:00:00 GMT']),
  Range: (r) => r.pick(['bytes=0-1', 'bytes=-', 'x']),
  Expect: () => '100-continue',
  'MCP-Protocol-Version': (_r, n) => n.text(_r),
  traceparent: (r, n) =>
    r.pick(['00-00000000000000000000000000000000-0000000000000000-00', n.text(r)]),
  baggage: (_r, n) => n.text(_r),
}
const names = Object.keys(lines)

/** Mutates header lines: replaces, repeats or removes them. */
export const headers: Mutation = (shape, r, n) => {
  const name = r.pick(names)
  const value = (lines[name] as Given)(r, n).slice(0, 6_000)
  const what = r.below(10)
  const present = shape.headers.filter(([given]) => given !== 'Host')
  if (what < 2 && present.length > 0) {
    const gone = r.pick(present)
    shape.headers = shape.headers.filter((line) => line !== gone)
  } else if (what < 4 && present.length > 0) {
    shape.headers.push([...r.pick(present)])
  } else if (what < 7) {
    shape.headers = shape.headers.filter(([given]) => given.toLowerCase() !== name.toLowerCase())
    shape.headers.push([name, value])
  } else shape.headers.push([name, value])
  // After `Expect`, the server first sends an interim response, which would be mistaken for the response to a request.
  if (shape.headers.some(([given]) => given === 'Expect')) shape.isAlone = true
}

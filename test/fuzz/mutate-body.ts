import { gzipSync } from 'node:zlib'
import type { SeededRandom } from '../support/seeded-random.ts'
import type { Mutation } from './mutate-structure.ts'
import { bytesOf, type Shape } from './shape.ts'

const setHeader = (shape: Shape, name: string, value: string): void => {
  shape.headers = shape.headers.filter(([given]) => given.toLowerCase() !== name.toLowerCase())
  shape.headers.push([name, value])
}

const change = (shape: Shape, bytes: Buffer, isChunked = false): void => {
  shape.body = { kind: 'bytes', bytes, isChunked }
}

const isJson = ({ body }: Shape): boolean => body.kind === 'json'

type Change = (shape: Shape, own: Buffer, random: SeededRandom) => void

const changes: readonly Change[] = [
  (shape, own, r) => change(shape, own.subarray(0, r.below(own.length + 1))),
  (shape, own, r) => {
    const copy = Buffer.from(own)
    for (let count = 1 + r.below(5); count > 0 && copy.length > 0; count -= 1)
      copy[r.below(copy.length)] = r.below(256)
    change(shape, copy)
  },
  (shape, own) => change(shape, Buffer.concat([own, own])),
  (shape, own) => change(shape, own, true),
  (shape, _own, r) => change(shape, r.bytes(r.below(300))),
  (shape) => change(shape, Buffer.alloc(0)),
  (shape, own) => change(shape, Buffer.concat([Buffer.from('\ufeff'), own])),
  (shape, own, r) => {
    setHeader(shape, 'Content-Encoding', 'gzip')
    const packed = gzipSync(own)
    change(shape, packed.subarray(0, r.below(packed.length)))
  },
  (shape, own) => change(shape, Buffer.from(own.toString(), 'utf16le')),
  (shape, own) => {
    setHeader(
      shape,
      'Content-Type',
      isJson(shape) ? 'application/x-www-form-urlencoded' : 'application/json',
    )
    change(shape, own)
  },
  (shape, own) => {
    setHeader(shape, 'Content-Type', 'multipart/form-data; boundary=x')
    change(
      shape,
      Buffer.concat([
        Buffer.from('--x\r\nContent-Disposition: form-data; name="grant_type"\r\n\r\n'),
        own,
        Buffer.from('\r\n--x--\r\n'),
      ]),
    )
  },
  (shape, _own, r) => {
    const depth = r.pick([50, 1_000, 20_000])
    setHeader(shape, 'Content-Type', 'application/json')
    change(
      shape,
      Buffer.from(
        r.chance(50) ? '['.repeat(depth) : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
      ),
    )
  },
  (shape, _own, r) => {
    setHeader(shape, 'Content-Type', 'application/json')
    change(
      shape,
      Buffer.from(
        r.pick([
          '',
          'null',
          '0',
          '"text"',
          '[]',
          '{"a":1,"a":2}',
          '{"redirect_uris":"x","redirect_uris":["y"]}',
          '{"__proto__":{}}',
          '{"a":1e999}',
          "{'a':1}",
          '{"a":"\\ud800"}',
          '{} {}',
          '{"name":123456789012345678901234567890}',
        ]),
      ),
    )
  },
]

/** Enlarges the body to about the maximum size or to a mebibyte. The server may then close the connection. */
const large: Change = (shape, own, r) => {
  const size = r.pick([65_535, 65_536, 65_537, 66_000, 1_048_576])
  const filler = isJson(shape) ? ' ' : 'x'
  change(
    shape,
    Buffer.concat([
      own,
      Buffer.from(isJson(shape) ? '' : '&x='),
      Buffer.alloc(size, filler),
    ]).subarray(0, size),
    r.chance(30),
  )
  shape.isAlone = true
}

/** Mutates the bytes of a body: truncates, alters, compresses or enlarges them, or changes the content type. */
export const body: Mutation = (shape, r) => {
  const own = bytesOf(shape.body) ?? Buffer.from('a=b')
  if (r.chance(4)) large(shape, own, r)
  else r.pick(changes)(shape, own, r)
}

import type { ImageReader } from './image-reader.ts'

interface Size {
  readonly width: number
  readonly height: number
}

/** Reads the size of the image from a chunk of the given type, whose content begins at `at`. */
const sizeOf: Readonly<Record<string, (bytes: Buffer, at: number) => Size>> = {
  // RFC 6386 §9.1
  'VP8 ': (bytes, at) => ({
    width: bytes.readUInt16LE(at + 6) & 0x3fff,
    height: bytes.readUInt16LE(at + 8) & 0x3fff,
  }),
  // RFC 9649 §3.4
  VP8L: (bytes, at) => {
    const bits = bytes.readUInt32LE(at + 1)
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  },
  // RFC 9649 §2.7: the canvas
  VP8X: (bytes, at) => ({
    width: bytes.readUIntLE(at + 4, 3) + 1,
    height: bytes.readUIntLE(at + 7, 3) + 1,
  }),
}

/** Reads a WebP image: a RIFF container of chunks (RFC 9649 §2). */
export const webp: ImageReader = (bytes) => {
  if (bytes.length < 30) return undefined
  if (bytes.toString('latin1', 0, 4) !== 'RIFF') return undefined
  if (bytes.toString('latin1', 8, 12) !== 'WEBP') return undefined
  const sizes: Size[] = []
  let isAnimated = false
  let at = 12
  while (at + 8 <= bytes.length) {
    const type = bytes.toString('latin1', at, at + 4)
    const length = bytes.readUInt32LE(at + 4)
    // Each of the three headers has at most 10 bytes.
    if (sizeOf[type] && at + 18 <= bytes.length) sizes.push(sizeOf[type](bytes, at + 8))
    isAnimated ||= type === 'ANIM' || type === 'ANMF'
    // A chunk of odd length is followed by one padding byte.
    at += 8 + length + (length % 2)
  }
  if (sizes.length === 0) return undefined
  return {
    width: Math.max(...sizes.map(({ width }) => width)),
    height: Math.max(...sizes.map(({ height }) => height)),
    isAnimated,
    isWhole: at === bytes.length && bytes.readUInt32LE(4) + 8 === bytes.length,
  }
}

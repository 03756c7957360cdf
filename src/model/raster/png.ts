import type { ImageReader } from './image-reader.ts'

const signature = Buffer.from('89504e470d0a1a0a', 'hex')

/** Reads a PNG image: a signature, and chunks with a length, a type, content and a checksum (RFC 2083 §3). */
export const png: ImageReader = (bytes) => {
  if (bytes.length < 33 || !bytes.subarray(0, 8).equals(signature)) return undefined
  if (bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined
  let isAnimated = false
  let isWhole = false
  for (let at = 8; at + 12 <= bytes.length && !isWhole; ) {
    const type = bytes.toString('latin1', at + 4, at + 8)
    const end = at + 12 + bytes.readUInt32BE(at)
    // The chunk acTL marks an animated PNG.
    isAnimated ||= type === 'acTL'
    isWhole = type === 'IEND' && end === bytes.length
    at = end
  }
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), isAnimated, isWhole }
}

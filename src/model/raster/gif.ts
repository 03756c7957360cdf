import type { ImageReader } from './image-reader.ts'

/** Returns the size of a colour table in bytes. */
const tableSize = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)

/** Reads a GIF image: a header, and blocks that are extensions or frames (GIF89a specification §15). */
export const gif: ImageReader = (bytes) => {
  if (bytes.length < 14 || !/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))) return undefined
  let [width, height] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)]
  let frames = 0
  const afterSubBlocks = (from: number): number => {
    let at = from
    while (at < bytes.length && bytes.readUInt8(at) > 0) at += 1 + bytes.readUInt8(at)
    return at + 1
  }
  let at = 13 + tableSize(bytes.readUInt8(10))
  while (at < bytes.length) {
    const kind = bytes.readUInt8(at)
    if (kind === 0x3b) break
    if (kind === 0x21) at = afterSubBlocks(at + 2)
    else if (kind === 0x2c && at + 11 <= bytes.length) {
      // Browsers extend the screen to the size of the frame.
      width = Math.max(width, bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5))
      height = Math.max(height, bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7))
      frames += 1
      at = afterSubBlocks(at + 11 + tableSize(bytes.readUInt8(at + 9)))
    } else return undefined
  }
  const isWhole = frames > 0 && at === bytes.length - 1
  return { width, height, isAnimated: frames > 1, isWhole }
}

import type { ImageReader } from './image-reader.ts'

/** The markers that begin a frame, without DHT, JPG and DAC (ITU-T T.81, table B.1). */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

/**
 * Reads the size of a JPEG image from its first frame header. Skips the segments before this header. Each segment begins
 * with a marker and a length (ITU-T T.81 §B.2).
 */
export const jpeg: ImageReader = (bytes) => {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined
  for (let at = 2; at + 9 <= bytes.length; ) {
    const marker = bytes.readUInt8(at + 1)
    if (bytes.readUInt8(at) !== 0xff) return undefined
    if (isFrame(marker)) {
      const isWhole = bytes.readUInt16BE(bytes.length - 2) === 0xffd9
      const [height, width] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)]
      return { width, height, isAnimated: false, isWhole }
    }
    // Bytes 0xFF may precede a marker.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

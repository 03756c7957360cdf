import { gif } from './gif.ts'
import type { ImageReader } from './image-reader.ts'
import { jpeg } from './jpeg.ts'
import { png } from './png.ts'
import { webp } from './webp.ts'

/** The maximum width and height in pixels. Decoding a larger image could slow down browsers. */
const maxSide = 1_024

const readers: Readonly<Record<string, ImageReader>> = {
  'image/png': png,
  'image/jpeg': jpeg,
  'image/webp': webp,
  'image/gif': gif,
}

/** A file that the server does not accept as an image. The message is for administrators. */
export class UnacceptableImage extends Error {
  override readonly name = 'UnacceptableImage'
}

/**
 * Returns the media type of a small image, from its content only. Refuses an animated image, because a moving logo
 * would distract users from the text of the consent page.
 * @throws UnacceptableImage
 */
export const typeOfImage = (bytes: Buffer): string => {
  for (const [type, read] of Object.entries(readers)) {
    const image = read(bytes)
    if (!image) continue
    const { width, height, isAnimated, isWhole } = image
    if (Math.min(width, height) < 1 || Math.max(width, height) > maxSide)
      throw new UnacceptableImage(
        `It has ${width} × ${height} pixels: the width and the height must be from 1 to ${maxSide}.`,
      )
    if (isAnimated) throw new UnacceptableImage('It is animated.')
    if (!isWhole) throw new UnacceptableImage('It is incomplete, or the file contains more data.')
    return type
  }
  throw new UnacceptableImage('It is not a PNG, JPEG, WebP or GIF image.')
}

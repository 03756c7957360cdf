import { describe, expect, test } from 'vitest'
import { typeOfImage } from '../../src/model/raster/raster-image.ts'
import { images } from '../support/images.ts'

const { 'image/png': png, 'image/jpeg': jpeg, 'image/webp': webp, 'image/gif': gif } = images

/** Returns a copy of the image in which bytes are replaced. */
const changed = (image: Buffer, at: number, ...bytes: readonly number[]): Buffer => {
  const copy = Buffer.from(image)
  copy.set(bytes, at)
  return copy
}

const chunk = (type: string, content = Buffer.alloc(0)): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length)
  return Buffer.concat([length, Buffer.from(type), content, Buffer.alloc(4)])
}

const startOfFrame = jpeg.indexOf(Buffer.from([0xff, 0xc0]))
const frameOfGif = gif.indexOf(Buffer.from([0x2c]))
const format = /not a PNG, JPEG, WebP or GIF image/
const size = /pixels: the width and the height must be from 1 to 1024/
const whole = /incomplete, or the file contains more data/

describe('the type of an image', () => {
  test.each(Object.entries(images))('%s is recognized by its content [T2821]', (type, image) => {
    expect(typeOfImage(image)).toBe(type)
  })

  test.each<readonly [string, Buffer, RegExp]>([
    [
      'SVG',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'),
      format,
    ],
    ['HTML', Buffer.from('<!doctype html><script>alert(1)</script>'), format],
    ['an empty file', Buffer.alloc(0), format],
    ['a BMP image', Buffer.from(`BM${'\0'.repeat(60)}`, 'latin1'), format],
    ['an icon', Buffer.from('00000100010010100000010020006804', 'hex'), format],
    ['a PNG image of 4 billion pixels', changed(png, 16, 0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff), size],
    ['a PNG image without a width', changed(png, 16, 0, 0, 0, 0), size],
    ['a JPEG image of 65,535 pixels', changed(jpeg, startOfFrame + 5, 0xff, 0xff), size],
    ['a GIF screen of 65,535 pixels', changed(gif, 6, 0xff, 0xff), size],
    ['a GIF frame outside of the screen', changed(gif, frameOfGif + 5, 0xff, 0xff), size],
    ['a GIF frame behind the screen', changed(gif, frameOfGif + 1, 0xff, 0xff), size],
    ['a WebP image of 16,383 pixels', changed(webp, 26, 0xff, 0x3f), size],
    ['a PNG image with HTML behind it', Buffer.concat([png, Buffer.from('<script>')]), whole],
    ['a JPEG image with HTML behind it', Buffer.concat([jpeg, Buffer.from('<script>')]), whole],
    [
      'a GIF image with a script behind it',
      Buffer.concat([gif, Buffer.from('=1;alert(1)')]),
      whole,
    ],
    ['a WebP image with HTML behind it', Buffer.concat([webp, Buffer.from('<script>')]), whole],
    [
      'an animated PNG image',
      Buffer.concat([png.subarray(0, 33), chunk('acTL'), png.subarray(33)]),
      /animated/,
    ],
    [
      'an animated GIF image',
      Buffer.concat([gif.subarray(0, -1), gif.subarray(frameOfGif)]),
      /animated/,
    ],
    ['a GIF polyglot whose screen size is a comment', changed(gif, 6, 0x2f, 0x2a), size],
  ])('%s is refused [T2822]', (_what, bytes, reason) => {
    expect(() => typeOfImage(bytes)).toThrow(reason)
  })

  test('no shortened image, and no image with a changed byte, causes another error [T2823]', () => {
    for (const image of Object.values(images)) {
      for (let length = 0; length < image.length; length += 1)
        expect(() => typeOfImage(image.subarray(0, length))).toThrow(
          expect.objectContaining({ name: 'UnacceptableImage' }),
        )
      for (let at = 0; at < image.length; at += 1)
        for (const byte of [0x00, 0x7f, 0x80, 0xff]) {
          const read = () => typeOfImage(changed(image, at, byte))
          try {
            read()
          } catch (error) {
            expect(error).toMatchObject({ name: 'UnacceptableImage' })
          }
        }
    }
  })
})

/** An image that a reader recognized. */
export interface FoundImage {
  readonly width: number
  readonly height: number
  readonly isAnimated: boolean
  /** Whether the image ends where the file ends. Otherwise, the file may also be a document in another format. */
  readonly isWhole: boolean
}

/** Reads the structure of an image in one format. Returns undefined if the file does not have this structure. */
export type ImageReader = (bytes: Buffer) => FoundImage | undefined

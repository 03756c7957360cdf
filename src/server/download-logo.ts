import { type Outbound, OutboundFailed } from '../http/outbound/outbound.ts'
import { typeOfImage, UnacceptableImage } from '../model/raster/raster-image.ts'
import type { DownloadLogo } from '../records/clients/client-logos.ts'

/** The maximum size of a logo in bytes. */
const largest = 102_400
/** The accepted media types. `typeOfImage` determines the actual type from the content. */
const accept = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']

/** Creates the function that downloads an image and checks its content. */
export const logoDownload =
  (outbound: Outbound): DownloadLogo =>
  async (url) => {
    try {
      const bytes = await outbound.bytes({ url, accept, largest })
      typeOfImage(bytes)
      return { bytes }
    } catch (error) {
      const isExpected = error instanceof OutboundFailed || error instanceof UnacceptableImage
      if (isExpected) return { problem: error.message, cause: error }
      throw error
    }
  }

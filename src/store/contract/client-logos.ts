import type { StoredClientLogo } from '../../model/entities/client-logo.ts'
import type { Reads, Rows } from './rows.ts'

/** The state of the logo of a verified client. */
export interface ClientLogoState {
  readonly clientKey: number
  /** Whether a fetch of the image was requested and has not completed. */
  readonly isRequested: boolean
  /** Why the last fetch failed; null if it did not fail. */
  readonly problem: string | null
}

/** A stored image, and a verified client whose logo is this image. */
export interface StoredLogo {
  readonly clientId: string
  /** In base64. */
  readonly image: string
}

/**
 * Stores the logos of verified clients. `clients.update` deletes the logo of an unverified client. If the key of a
 * verified client changes, `clients.update` assigns the logo to the new key. A time in
 * `requestedAt` requests a fetch; null ends it. `find` finds the image with this digest if the image is the current logo
 * of a verified client. `select` omits the images, and clients without a state.
 */
export interface ClientLogoStore
  extends Omit<Rows<StoredClientLogo>, 'select'>,
    Pick<Reads<StoredLogo, never, string>, 'find'>,
    Pick<Reads<ClientLogoState, Pick<StoredClientLogo, 'clientKey'>>, 'select'> {
  /**
   * Claims the oldest fetch whose request time is not after `before`. Sets the request time to `now`. If the fetch does
   * not complete, a later call claims the fetch again. Only one of several concurrent callers claims a fetch.
   * @returns the ID of the client; undefined if no fetch was claimed, or if the client was deleted
   */
  claim(before: number, now: number): Promise<string | undefined>
}

import { randomString } from '../crypto/random.ts'
import { noStore } from '../http/response.ts'
import { isPrefetch } from '../protocol/endpoints/authorization/is-prefetch.ts'
import type { Notice } from '../protocol/short-lived.ts'
import type { SettingsRequest } from './settings-request.ts'

/** The lifetime of a stored notice in milliseconds. */
const life = 300_000
/** The lifetime of a notice that a page has displayed, if the browser does not confirm that it received the page. */
const shownLife = 60_000
/** The number of characters of an ID with 128 bits. */
const idLength = 22
/** The query parameter with which the browser confirms that it has received the page with a notice. */
const parameter = 'seen'

const nameOf = ({ signedIn }: SettingsRequest, location: string): string =>
  `${signedIn.sessionId} ${location.replace(/[?#].*/s, '')}`

const ownerOf = ({ signedIn }: SettingsRequest): string => String(signedIn.user.id)

/** Stores a notice for this session. The page at the location shows the notice. */
export const leaveNotice = async (
  request: SettingsRequest,
  location: string,
  notice: Omit<Notice, 'id' | 'isShown'> | undefined,
): Promise<void> => {
  if (!notice) return
  const {
    shortLived: { notices },
    clock,
    random,
  } = request.server
  const name = nameOf(request, location)
  // Retain a secret that no browser has received yet.
  const secret = notice.secret ?? (await notices.get(name))?.secret
  const id = randomString(idLength, random)
  const value = { ...notice, id, ...(secret && { secret }) }
  await notices.set(name, value, clock() + life, ownerOf(request))
}

/**
 * Returns the notice for the page that is being shown. Returns an empty object for a script or a prefetch. The notice
 * remains stored until the browser loads the image at `seenAddress`, because the page may not arrive.
 */
export const showNotice = async (request: SettingsRequest): Promise<Notice> => {
  const { http, server, asJson } = request
  if (http.method !== 'GET' || asJson || isPrefetch(http)) return {}
  const name = nameOf(request, http.path)
  const { notices } = server.shortLived
  const notice = await notices.get(name)
  if (notice && !notice.isShown) {
    const shown = { ...notice, isShown: true }
    await notices.set(name, shown, server.clock() + shownLife, ownerOf(request))
  }
  return notice ?? {}
}

/** Returns the URL of the image at the end of a page with a notice; undefined without a notice. */
export const seenAddress = ({ http }: SettingsRequest, { id }: Notice): string | undefined =>
  id === undefined ? undefined : `${http.path}?${parameter}=${id}`

/**
 * Deletes the notice of a page whose end the browser has received.
 * @returns the image; undefined for any other request
 */
export const confirmSeen = async (request: SettingsRequest): Promise<Response | undefined> => {
  const { http, server } = request
  const [id] = http.method === 'GET' ? http.queryParameters().repeated(parameter) : []
  if (id === undefined) return undefined
  const name = nameOf(request, http.path)
  const { notices } = server.shortLived
  if ((await notices.get(name))?.id === id) await notices.delete(name)
  return new Response('<svg xmlns="http://www.w3.org/2000/svg"/>', {
    headers: { ...noStore, 'content-type': 'image/svg+xml' },
  })
}

/** The result of a form. */
export interface Changed {
  /** The URL of the page to which the browser is redirected. */
  readonly location: string
  /** A notice that the page at `location` shows, only in this session. */
  readonly notice?: Notice
  /** The sentence beside a secret in the response to the form. Used only if the notice could not be stored. */
  readonly once?: string
  /** The JSON response for a script. */
  readonly json?: object
  readonly status?: number
}

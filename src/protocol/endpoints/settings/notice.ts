import type { Notice } from '../../short-lived.ts'
import { isPrefetch } from '../authorization/is-prefetch.ts'
import type { SettingsRequest } from './settings-request.ts'

/** The lifetime of a stored notice in milliseconds. */
const life = 300_000

const nameOf = ({ signedIn }: SettingsRequest, location: string): string =>
  `${signedIn.sessionId} ${location.replace(/[?#].*/s, '')}`

/** Stores a notice for this session. The page at the location shows the notice once. */
export const leaveNotice = async (
  request: SettingsRequest,
  location: string,
  notice: Notice | undefined,
): Promise<void> => {
  if (!notice) return
  const {
    shortLived: { notices },
    clock,
  } = request.server
  const name = nameOf(request, location)
  // Retain a secret that no page has shown yet.
  const secret = notice.secret ?? (await notices.get(name))?.secret
  const value = { ...notice, ...(secret && { secret }) }
  await notices.set(name, value, clock() + life, String(request.signedIn.user.id))
}

/**
 * Returns and deletes the notice for the page that is being shown. Returns an empty object for a script or a prefetch.
 * Call this function after all reads of the page: if a later read failed, a secret in the notice would be lost.
 */
export const takeNotice = async (request: SettingsRequest): Promise<Notice> => {
  const { http, server, asJson } = request
  if (http.method !== 'GET' || asJson || isPrefetch(http)) return {}
  const name = nameOf(request, http.path)
  const { notices } = server.shortLived
  // Most requests have no notice, so avoid a write by reading first.
  return ((await notices.get(name)) && (await notices.take(name))) || {}
}

/** The result of a form. */
export interface Changed {
  /** The URL of the page to which the browser is redirected. */
  readonly location: string
  /** A notice that the page at `location` shows once, and only in this session. */
  readonly notice?: Notice
  /** The sentence beside a secret in the response to the form. Used only if the notice could not be stored. */
  readonly once?: string
  /** The JSON response for a script. */
  readonly json?: object
  readonly status?: number
}

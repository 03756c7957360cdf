import type { Notice } from '../../short-lived.ts'
import { isPrefetch } from '../authorization/is-prefetch.ts'
import type { SettingsRequest } from './settings-request.ts'

/** Milliseconds for which a notice is stored. */
const life = 300_000

const nameOf = ({ signedIn }: SettingsRequest, location: string): string =>
  `${signedIn.sessionId} ${location.replace(/[?#].*$/s, '')}`

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
  // Keep a secret that was not shown yet.
  const secret = notice.secret ?? (await notices.get(name))?.secret
  await notices.set(name, { ...notice, ...(secret && { secret }) }, clock() + life)
}

/**
 * Takes the notice for the page that is being shown: it is shown once. Take it after all
 * reads of the page: a read that fails after it would lose a secret.
 */
export const takeNotice = async (request: SettingsRequest): Promise<Notice> => {
  const { http, server, asJson } = request
  if (http.method !== 'GET' || asJson || isPrefetch(http)) return {}
  const name = nameOf(request, http.path)
  const { notices } = server.shortLived
  // Most pages have no notice, and looking for one costs no write.
  return ((await notices.get(name)) && (await notices.take(name))) || {}
}

/** The change that a form made. */
export interface Changed {
  /** Where the browser goes next. */
  readonly location: string
  /** Shown once by that page, to this session only. */
  readonly notice?: Notice
  /** The sentence beside a secret in the notice. */
  readonly once?: string
  /** The JSON response for a script. */
  readonly json?: object
  readonly status?: number
}

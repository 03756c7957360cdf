import type { Notice } from '../../extension.ts'
import type { Visit } from './visit.ts'

/** Milliseconds until it is forgotten. */
const life = 300_000

const nameOf = ({ signedIn }: Visit, location: string): string =>
  `${signedIn.sessionId} ${location.replace(/[?#].*$/s, '')}`

export const leaveNotice = async (
  visit: Visit,
  location: string,
  notice: Notice | undefined,
): Promise<void> => {
  const { notices, clock } = visit.server
  if (notice) await notices.set(nameOf(visit, location), notice, clock() + life)
}

/** The notice for the page that is being shown: whoever takes it sees it, and nobody after. */
export const takeNotice = async (visit: Visit): Promise<Notice> => {
  const { http, server, asJson } = visit
  if (http.method !== 'GET' || asJson) return {}
  const name = nameOf(visit, http.path)
  // Nearly always there is none, and looking costs no write.
  return ((await server.notices.get(name)) && (await server.notices.take(name))) || {}
}

import type { StoredSession } from '../model/entities/session.ts'
import { InvalidField } from '../model/invalid-field.ts'
import { isSessionEnd } from '../model/session-end.ts'
import type { EndedSession } from '../pages/models/ended-session.ts'
import { sessionEnd } from '../pages/shapes/sessions.ts'
import { notFound } from '../protocol/endpoints/responses/problem.ts'
import { deviceName } from './device-name.ts'
import { cursorOf, listed } from './list-page.ts'
import { showNotice } from './notice.ts'
import { type Refused, respond, settingsPage } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'
import { endedSessionToWire, sessionToWire } from './wire.ts'

/** The page lists sessions that ended within this period, in milliseconds. */
const endedPeriod = 30 * 86_400_000
/** The maximum number of listed events about ended sessions. */
const maxEnded = 10

/** Returns the user's sessions that ended recently and before their expiry, according to the audit log. */
const endedSessions = async ({ server, signedIn }: SettingsRequest): Promise<EndedSession[]> => {
  const filter = { event: 'session.ended', since: server.clock() - endedPeriod }
  const cursor = { after: null, limit: maxEnded }
  const { items } = await server.activity.listByUser(signedIn.user.id, cursor, filter)
  return items.flatMap(({ at, actorId, address, details: { reason, count } }) => {
    if (!isSessionEnd(reason)) return []
    // Do not reveal the IP address of an administrator.
    const isOwn = actorId !== null && String(actorId) === String(signedIn.user.id)
    return { reason, count: Number(count), at, address: isOwn ? address : '' }
  })
}

/** Shows the sessions of the user. */
export const showSessions = async (
  request: SettingsRequest,
  refused?: Refused,
): Promise<Response> => {
  const { server, signedIn } = request
  const found = await server.sessions.listByUser(signedIn.user.id, cursorOf(request, 'after'))
  const ended = await endedSessions(request)
  const notice = await showNotice(request)
  const toItem = (session: StoredSession) => ({
    id: session.id,
    isCurrent: session.id === signedIn.sessionId,
    browser: deviceName(session.userAgent),
    address: session.address,
    createdAt: session.createdAt,
    lastSeenAt: session.lastSeenAt,
  })
  const sessions = listed(request, 'after', found, toItem)
  const view = {
    action: server.ui.links.sessions ?? '',
    sessions,
    ended,
    unverifiedEmail: signedIn.user.emailVerified ? null : signedIn.user.email,
    done: notice.done,
    problem: refused?.problem,
  }
  const json = () => ({
    sessions: found.items.map((session) => sessionToWire(session, signedIn.sessionId)),
    next: sessions.next,
    ended: ended.map(endedSessionToWire),
  })
  return respond(request, 'sessions', { view, json, refused, notice })
}

/** The ID of a session is a digest; a longer text needs no look-up. */
const maxIdLength = 100

/** Lists and ends the sessions of the user. */
export const sessionsPage = settingsPage({
  path: ({ settingsPrefix }) => `${settingsPrefix}/sessions/`,
  show: showSessions,
  form: sessionEnd,
  async change({ server, signedIn, texts }, params) {
    const location = server.ui.links.sessions ?? ''
    if (params.optional('others') === 'yes') {
      await server.sessions.endOthers(signedIn)
      return { location, notice: { done: texts.done.otherSessionsEnded } }
    }
    const id = params.optional('session_id')
    if (id === undefined) throw new InvalidField('session_id', 'session_id is missing.')
    const isId = id.length <= maxIdLength
    if (!isId || !(await server.sessions.endOne(signedIn.user.id, id))) throw notFound()
    return { location, notice: { done: texts.done.sessionEnded } }
  },
})

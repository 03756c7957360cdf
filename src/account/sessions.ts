import { InvalidField } from '../model/invalid-field.ts'
import { isoTime } from '../model/iso-time.ts'
import { isSessionEnd } from '../model/session-end.ts'
import { type endedSession, sessionEnd, sessions } from '../pages/shapes/sessions.ts'
import type { Json } from '../pages/shapes/shape.ts'
import { notFound } from '../protocol/endpoints/responses/problem.ts'
import { cursorOf, listed } from './list-page.ts'
import { after } from './page-operations.ts'
import { resource } from './resource.ts'
import type { SettingsRequest } from './settings-request.ts'
import { sessionToWire } from './wire.ts'

/** The page lists sessions that ended within this period, in milliseconds. */
const endedPeriod = 30 * 86_400_000
/** The maximum number of listed events about ended sessions. */
const maxEnded = 10

/** Returns the user's sessions that ended recently and before their expiry, according to the audit log. */
const endedSessions = async ({
  server,
  signedIn,
}: SettingsRequest): Promise<Json<typeof endedSession>[]> => {
  const filter = { event: 'session.ended', since: server.clock() - endedPeriod }
  const cursor = { after: null, limit: maxEnded }
  const { items } = await server.activity.listByUser(signedIn.user.id, cursor, filter)
  return items.flatMap(({ at, actorId, address, details: { reason, count } }) => {
    if (!isSessionEnd(reason)) return []
    // Do not reveal the IP address of an administrator.
    const isOwn = actorId !== null && String(actorId) === String(signedIn.user.id)
    return {
      reason,
      count: Number(count),
      ended_at: isoTime(at),
      address: isOwn ? address : '',
    }
  })
}

/** The ID of a session is a digest; a longer text needs no look-up. */
const maxIdLength = 100

/** Lists and ends the sessions of the user. */
export const sessionsPage = resource({
  path: ({ settingsPrefix }) => `${settingsPrefix}/sessions/`,
  operations: () => ({
    get: {
      operationId: 'listSessions',
      summary: 'Lists the sessions of the user',
      answer: 'The sessions.',
      query: [after('after')],
    },
    post: {
      operationId: 'endSessions',
      summary: 'Ends one session, or all sessions except the current session',
      finds: true,
    },
  }),
  page: 'sessions',
  view: sessions,
  async read(request) {
    const { server, signedIn } = request
    const { user, sessionId } = signedIn
    const found = await server.sessions.listByUser(user.id, cursorOf(request, 'after'))
    const { items, next, first } = listed(request, 'after', found, (session) =>
      sessionToWire(session, sessionId),
    )
    return {
      view: { sessions: items, next, ended: await endedSessions(request) },
      forPage: () => ({ first, unverifiedEmail: user.emailVerified ? null : user.email }),
    }
  },
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

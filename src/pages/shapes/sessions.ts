import { z } from 'zod'
import { sessionEnds } from '../../model/session-end.ts'
import { next } from './applications.ts'
import { formText } from './form-fields.ts'
import { count, flag, nameShapes, text, time } from './shape.ts'

export const session = z.strictObject({
  id: text.describe('The ID of the session, which differs from the value of the cookie.'),
  is_current: flag.describe('Whether this request belongs to the session.'),
  browser: text.nullable().describe('Null if unknown.'),
  address: text,
  created_at: time,
  last_seen_at: time,
})

export const endedSession = z.strictObject({
  reason: z.enum(sessionEnds),
  count: count.describe('The number of sessions.'),
  ended_at: time,
  address: text.describe('The IP address of the user; empty if the user did not end the sessions.'),
})

export const sessions = z.strictObject({
  sessions: z.array(session),
  next,
  ended: z
    .array(endedSession)
    .describe('The sessions that most recently ended before their expiry.'),
})

export const sessionEnd = z.looseObject({
  session_id: formText.optional().describe('The ID of the session to end.'),
  others: formText.optional().describe('`yes` ends all sessions except the current session.'),
})

nameShapes({
  Sessions: sessions,
  Session: session,
  SessionEnd: sessionEnd,
})

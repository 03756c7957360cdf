import { z } from 'zod'
import { formText } from '../form-fields.ts'
import { flag, text, time } from '../shape.ts'
import { next } from './applications.ts'

export const session = z.strictObject({
  id: text.describe('The ID of the session, which differs from the value of the cookie.'),
  is_current: flag.describe('Whether this request belongs to the session.'),
  browser: text.nullable().describe('Null if unknown.'),
  address: text,
  created_at: time,
  last_seen_at: time,
})

export const sessions = z.strictObject({ sessions: z.array(session), next })

export const sessionEnd = z.looseObject({
  session_id: formText.optional().describe('The ID of the session to end.'),
  others: formText.optional().describe('`yes` ends all sessions except the current session.'),
})

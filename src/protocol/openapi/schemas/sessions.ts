import { z } from 'zod'
import { formText } from '../form-fields.ts'
import { flag, text, time } from '../shape.ts'
import { next } from './applications.ts'

export const session = z.strictObject({
  id: text.describe('Names the session. It differs from the value of the cookie.'),
  is_current: flag.describe('Whether this request belongs to it.'),
  browser: text.nullable().describe('Null if unknown.'),
  address: text,
  created_at: time,
  last_seen_at: time,
})

export const sessions = z.strictObject({ sessions: z.array(session), next })

export const sessionEnd = z.looseObject({
  session_id: formText.optional().describe('The session to end.'),
  others: formText.optional().describe('`yes` ends all sessions but the current one.'),
})

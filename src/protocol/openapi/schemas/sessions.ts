import {
  about,
  constant,
  flag,
  list,
  named,
  nullable,
  object,
  type Parts,
  text,
  time,
} from '../schema.ts'
import { next } from './applications.ts'

/** Where the user is logged in. */
export const sessionSchemas: Parts = {
  Sessions: object({ sessions: list(named('Session')), next }),
  Session: object({
    id: about('Names it; it is not what stands in the cookie.', text),
    is_current: about('Whether this very request belongs to it.', flag),
    browser: about('Null where it is not known.', nullable(text)),
    address: text,
    created_at: time,
    last_seen_at: time,
  }),
  SessionEnd: object({ session_id: text }),
  OtherSessionsEnd: object({ others: constant('yes') }),
}

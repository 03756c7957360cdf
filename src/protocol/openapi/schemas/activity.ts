import {
  about,
  choice,
  flag,
  id,
  list,
  named,
  nullable,
  object,
  type Part,
  type Parts,
  text,
  time,
} from '../schema.ts'
import { next } from './applications.ts'

const details: Part = { type: 'object', additionalProperties: true }
const event = about('For instance client.disabled.', text)
const subject = about('The name of the client or the personal token, as it was then.', text)
const actors = ['client', 'command_line', 'system', 'unknown']

/** What happened. */
export const activitySchemas: Parts = {
  Activity: object({ events: list(named('OwnEvent')), next }),
  OwnEvent: object({
    id,
    at: time,
    event,
    actor: choice(['user', 'another_user', ...actors]),
    client_id: nullable(text),
    token_id: nullable(id),
    subject,
    address: about('Null where another user did it.', nullable(text)),
    user_agent: about('Null where another user did it.', nullable(text)),
    details,
  }),
  Events: object({ events: list(named('Event')), next }),
  Event: object({
    id,
    at: time,
    event,
    actor: choice(['user', ...actors]),
    actor_id: about('The id of the user who did it; null: it was no user.', nullable(text)),
    actor_email: nullable(text),
    user_id: about('The id of the user whom it is about.', nullable(text)),
    user_email: nullable(text),
    client_id: nullable(text),
    token_id: nullable(id),
    authorization_id: nullable(id),
    subject,
    address: text,
    user_agent: text,
    request_id: nullable(text),
    is_routine: about('Whether it is one of very many, such as a refresh.', flag),
    details,
  }),
}

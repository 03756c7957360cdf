import { z } from 'zod'
import { flag, id, text, time, userId } from '../shape.ts'
import { next } from './applications.ts'

const details = z.record(z.string(), z.unknown())
const event = text.describe('For instance client.disabled.')
const subject = text.describe('The name of the client or personal token at that time.')
const actors = ['user', 'client', 'command_line', 'system', 'unknown'] as const

/** An event as the affected user sees it. */
export const ownEvent = z.strictObject({
  id,
  at: time,
  event,
  actor: z.enum([...actors, 'another_user']),
  client_id: text.nullable(),
  token_id: id.nullable(),
  subject,
  address: text.nullable().describe('Null if another user did it.'),
  user_agent: text.nullable().describe('Null if another user did it.'),
  details,
})

export const activity = z.strictObject({ events: z.array(ownEvent), next })

/** An event as administrators see it. */
export const adminEvent = z.strictObject({
  id,
  at: time,
  event,
  actor: z.enum(actors),
  actor_id: userId.nullable().describe('The ID of the user who did it; null if no user did.'),
  actor_email: text.nullable(),
  user_id: userId.nullable().describe('The ID of the user whom it concerns.'),
  user_email: text.nullable(),
  client_id: text.nullable(),
  token_id: id.nullable(),
  authorization_id: id.nullable(),
  subject,
  address: text,
  user_agent: text,
  request_id: text.nullable(),
  is_routine: flag.describe('Whether it is a frequent event, such as a refresh.'),
  details,
})

export const events = z.strictObject({ events: z.array(adminEvent), next })

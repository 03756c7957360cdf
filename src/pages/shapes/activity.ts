import { z } from 'zod'
import { next } from './applications.ts'
import { formText } from './form-fields.ts'
import { flag, id, nameShapes, text, time, userId } from './shape.ts'

const details = z.record(z.string(), z.unknown())
const event = text.describe('The name of the event, for example client.disabled.')
const subject = text.describe('The name of the client or personal token at that time.')
const actors = ['user', 'client', 'command_line', 'system', 'unknown'] as const

/** An event in the response to the affected user. */
export const ownEvent = z.strictObject({
  id,
  at: time,
  event,
  actor: z.enum([...actors, 'another_user']),
  client_id: text.nullable(),
  token_id: id.nullable(),
  subject,
  address: text.nullable().describe('Null if another user caused the event.'),
  user_agent: text.nullable().describe('Null if another user caused the event.'),
  details,
})

export const activity = z.strictObject({ events: z.array(ownEvent), next })

/** The search form of administrators. Scripts search with a GET request. */
export const activityForm = z.looseObject(
  Object.fromEntries(
    ['event', 'user', 'client', 'token', 'address', 'since', 'until'].map((name) => [
      name,
      formText.optional().describe('The search field of the same name in the query.'),
    ]),
  ),
)

/** An event in the response to administrators. */
export const adminEvent = z.strictObject({
  id,
  at: time,
  event,
  actor: z.enum(actors),
  actor_id: userId.nullable().describe('The ID of the user who caused the event, or null.'),
  actor_email: text.nullable(),
  user_id: userId.nullable().describe('The ID of the affected user, or null.'),
  user_email: text.nullable(),
  client_id: text.nullable(),
  token_id: id.nullable(),
  authorization_id: id.nullable(),
  subject,
  address: text,
  user_agent: text,
  request_id: text.nullable(),
  is_routine: flag.describe('Whether the event is frequent, such as a refresh.'),
  details,
})

const routineTotal = z.strictObject({
  event,
  grant_type: text.nullable(),
  client_id: text,
  count: z.int().min(1),
})

export const events = z.strictObject({
  events: z.array(adminEvent),
  next,
  routine: z
    .array(routineTotal)
    .describe('The numbers of routine events in the last 24 hours; only on the first page.'),
})

nameShapes({
  Activity: activity,
  OwnEvent: ownEvent,
  Events: events,
  ActivityForm: activityForm,
  Event: adminEvent,
})

import { z } from 'zod'
import { adminEvent, ownEvent } from './activity.ts'
import { formText } from './form-fields.ts'
import { flag, nameShapes, text, time, userId } from './shape.ts'

/** The actions of users on a leaked credential. */
export const leakActs = ['end', 'end_application', 'end_user', 'disable', 'log_out'] as const

const act = z.enum(leakActs, { error: `one of ${leakActs.join(', ')}` })

/** A credential that was found in a text. */
export const leakedCredential = z.strictObject({
  kind: z.enum([
    'personal_token',
    'access_token',
    'refresh_token',
    'client_secret',
    'authorization_code',
    'device_code',
    'session',
    'registration_token',
    'user_link',
  ]),
  ending: text.describe('The last four characters of the value.'),
  name: text.describe('The name of the personal token or of the client; empty for a session.'),
  is_valid: flag.describe('Whether the credential still works.'),
  user_id: userId.nullable(),
  user: text.nullable().describe('The e-mail address of the user or of the client’s owner.'),
  is_own: flag.describe('Whether this user is the user who sends the request.'),
  client_id: text.nullable(),
  client_name: text.nullable().describe('The current name of the client; null without a client.'),
  is_client_owner: flag.describe('Whether the user who sends the request owns the client.'),
  is_disabled: flag.describe('Whether the client is disabled.'),
  scopes: z.array(text),
  is_bound: flag.describe('Whether requests also have to prove the possession of a key.'),
  created_at: time.nullable(),
  expires: time.nullable(),
  last_used_at: time.nullable(),
  last_used_address: text.nullable(),
  acts: z.array(act).describe('The actions that the user may take on the credential.'),
  events: z
    .array(z.union([adminEvent, ownEvent]))
    .describe('The latest events of the credential. The events of administrators name the actor.'),
})

export const leaked = z.strictObject({
  found: text.nullable().describe('The reference to the found credentials, valid for 10 minutes.'),
  credentials: z.array(leakedCredential),
})

export const leakedForm = z.looseObject({
  credential: formText
    .optional()
    .describe('The text with the credential: a value, a header, a curl command, a URL or JSON.'),
  found: formText.optional().describe('The reference of an earlier response, instead of a text.'),
  at: z
    .int({ error: 'a number' })
    .min(0, { error: 'a number' })
    .optional()
    .describe('The position in `credentials` of that response, from 0. Default: 0.'),
  act: act.optional().describe('The action on the credential.'),
})

nameShapes({
  Leaked: leaked,
  LeakedCredential: leakedCredential,
  LeakedForm: leakedForm,
})

import { z } from 'zod'
import { authorizedApplication, next } from './applications.ts'
import { client } from './clients.ts'
import { formId, formText } from './form-fields.ts'
import { personalToken } from './personal-tokens.ts'
import { session } from './sessions.ts'
import { flag, nameShapes, text, userId } from './shape.ts'

export const user = z.strictObject({
  id: userId,
  email: text.nullable(),
  email_verified: flag,
  is_active: flag,
  is_admin: flag,
})

export const users = z.strictObject({
  users: z.array(user),
  is_searchable: flag.describe(
    'Whether the server lists users and finds them by the beginning of an e-mail address. If false, the server finds only a complete address or ID.',
  ),
  next,
})

/** An application that a user authorized, for administrators. */
const userApplication = authorizedApplication.extend({
  is_disabled: flag.describe('Whether an administrator has disabled the client.'),
})

export const userDetails = z.strictObject({
  user,
  sessions: z.array(session),
  personal_tokens: z.array(personalToken),
  clients: z.array(client),
  authorized: z.array(userApplication),
  next: z.strictObject({ sessions: next, personal_tokens: next, clients: next, authorized: next }),
})

/** The administrators' actions on a user. */
export const userActs = ['deactivate', 'activate', 'log_out', 'end_tokens', 'delete_token'] as const

/** The search form. Scripts search with a GET request. */
export const userSearch = z.looseObject({
  user: formText.optional().describe('The beginning of an e-mail address, or an ID.'),
})

export const userForm = z.looseObject({
  act: z.enum(userActs, { error: `one of ${userActs.join(', ')}` }).describe('The action.'),
  token_id: formId.optional().describe('The ID of the token, for `delete_token`.'),
})

nameShapes({
  User: user,
  UserApplication: userApplication,
  Users: users,
  UserDetails: userDetails,
  UserForm: userForm,
  UserSearch: userSearch,
})

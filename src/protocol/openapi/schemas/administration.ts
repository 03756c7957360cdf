import { z } from 'zod'
import { formId, formText } from '../form-fields.ts'
import { flag, id, text, time } from '../shape.ts'
import { next } from './applications.ts'
import { client } from './clients.ts'

export const adminClient = client.extend({
  owner: text.nullable().describe('The e-mail address of the owner; null without an owner.'),
  is_pinned: flag.describe(
    'Whether the server uses the stored metadata document of the client and does not fetch it again.',
  ),
  default_resource: text
    .nullable()
    .describe('The resource of tokens whose request names none; null: the setting of the server.'),
})

export const adminToken = z.strictObject({
  id,
  name: text.describe('The name of a personal token; otherwise the name of the client.'),
  client_id: text,
  is_personal: flag,
  user: text.nullable().describe('The e-mail address of the user; null without a user.'),
  scopes: z.array(text),
  created_at: time,
  expires: time.nullable(),
  last_used_at: time.nullable(),
})

export const administration = z.strictObject({
  clients: z.array(adminClient),
  tokens: z.array(adminToken),
  next: z.strictObject({ clients: next, tokens: next }),
})

/** The administrators' actions on a client. */
export const clientActs = [
  'verify',
  'unverify',
  'fetch_logo',
  'disable',
  'enable',
  'pin',
  'unpin',
  'set_default_resource',
  'delete',
] as const

export const administrationForm = z.looseObject({
  act: z
    .enum(clientActs, { error: `one of ${clientActs.join(', ')}` })
    .optional()
    .describe('The action. A token can only be deleted.'),
  search: z
    .enum(['client', 'token'], { error: 'client or token' })
    .optional()
    .describe('The list to search, instead of an action. Scripts search by the query of a GET.'),
  client: formText.optional().describe('The text to search for in the applications.'),
  token: formText.optional().describe('The text to search for in the tokens.'),
  client_id: formText.optional().describe('The ID of the client.'),
  default_resource: formText
    .optional()
    .describe('The default resource for `set_default_resource`; empty: the setting of the server.'),
  token_id: formId.optional().describe('The ID of the token, instead of a client ID.'),
  confirm_name: formText.optional().describe('The name of the client, to confirm its deletion.'),
  seen: formText
    .optional()
    .describe(
      'The digest in the form of the page, to verify or pin a client. The request fails if the client changed since then.',
    ),
})

import { z } from 'zod'
import { arrangement, next } from './applications.ts'
import { client } from './clients.ts'
import { formId, formText } from './form-fields.ts'
import { count, flag, id, nameShapes, text, time } from './shape.ts'

export const adminClient = client.extend({
  owner: text.nullable().describe('The e-mail address of the owner; null without an owner.'),
  is_pinned: flag.describe(
    'Whether the server uses the stored metadata document of the client and does not fetch it again.',
  ),
  default_resource: text
    .nullable()
    .describe(
      'The resource of tokens if a request names no resource; null for the setting of the server.',
    ),
  seen: text.describe(
    'A digest of everything that a verification covers. With this value, `verify` fails if the client has changed in the meantime.',
  ),
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

/** An application whose requests were refused in the last seven days. */
export const refusedClient = z.strictObject({
  client_id: text,
  name: text,
  count: count.describe('The number of refused requests.'),
  last_at: time,
  reasons: z
    .array(z.strictObject({ description: text, count }))
    .describe('The most frequent reasons of the latest refusals.'),
})

export const overview = z.strictObject({
  refused: z.array(refusedClient).describe('The applications that were refused most.'),
})

export const adminTokens = arrangement.extend({ tokens: z.array(adminToken) })

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
  'end_tokens',
  'set_default_resource',
  'delete',
] as const

const clientAct = z.enum(clientActs, { error: `one of ${clientActs.join(', ')}` }).optional()

/** The form that acts on the client in the path. */
export const clientForm = z.looseObject({
  act: clientAct.describe('The action.'),
  default_resource: formText
    .optional()
    .describe('The default resource for `set_default_resource`; empty: the setting of the server.'),
  confirm_name: formText.optional().describe('The name of the client, to confirm its deletion.'),
  seen: formText
    .optional()
    .describe(
      'The digest from the page or the JSON of the client, for `verify` and `pin`. The request fails if the client has changed since then. A script may omit it.',
    ),
})

const tokenId = formId.optional()
const choice = formText.optional().describe('A choice of the search form.')
const choices = { sort: choice, filter: choice }
const back = formText.optional().describe('The query of the list to which the browser returns.')

/** The form that deletes a token. */
export const tokenForm = z.looseObject({
  act: z.enum(['delete'], { error: 'delete' }).optional().describe('The action.'),
  search: z
    .enum(['token'], { error: 'token' })
    .optional()
    .describe('The list to search, instead of an action. Scripts search with a GET request.'),
  token: formText.optional().describe('The text to search for.'),
  ...choices,
  kind: choice,
  scope: choice,
  token_id: tokenId.describe('The ID of the token.'),
  back,
})

export const administrationForm = clientForm.extend({
  act: clientAct.describe('The action. A token can only be deleted.'),
  search: z
    .enum(['client', 'token'], { error: 'client or token' })
    .optional()
    .describe('The list to search, instead of an action. Scripts search with a GET request.'),
  client: formText.optional().describe('The text to search for in the applications.'),
  token: formText.optional().describe('The text to search for in the tokens.'),
  ...choices,
  client_id: formText.optional().describe('The ID of the client.'),
  token_id: tokenId.describe('The ID of the token, instead of a client ID.'),
  back,
})

nameShapes({
  Administration: administration,
  AdminClient: adminClient,
  AdminToken: adminToken,
  AdminTokens: adminTokens,
  AdministrationOverview: overview,
  AdministrationForm: administrationForm,
  AdminClientForm: clientForm,
  AdminTokenForm: tokenForm,
})

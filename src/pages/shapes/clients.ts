import { z } from 'zod'
import { maxOverlap } from '../../model/overlap.ts'
import { seconds } from './form-fields.ts'
import { count, flag, nameShapes, text, time } from './shape.ts'

export const scope = z.strictObject({ id: text, help_text: text, group: text })

export const clientChoices = z.strictObject({ scopes: z.array(scope) })

/** A client application in the response to its owner. */
export const client = z.strictObject({
  client_id: text,
  name: text,
  description: text,
  website: text,
  logo_uri: text.describe('The URL of the logo, or empty.'),
  client_type: z.enum(['confidential', 'public']),
  is_confidential: flag,
  redirect_uris: z.array(text).describe('The first URI is the default.'),
  default_scopes: z.array(text).describe('The scopes of an authorization request without `scope`.'),
  optional_scopes: z.array(text).describe('The scopes that a user may refuse individually.'),
  is_verified: flag.describe('Whether an administrator has verified the operator of the client.'),
  is_disabled: flag.describe('Whether an administrator has disabled the client.'),
  users: count.describe(
    'The number of tokens, except personal and internal tokens; 1,001 means more than 1,000.',
  ),
  client_secret_leaked_at: time
    .nullable()
    .describe('The time at which a leaked secret was revoked; null if the secret is valid.'),
  previous_client_secret_expires: time
    .nullable()
    .describe('The time at which the previous secret expires; null without a previous secret.'),
  created_at: time,
  post_logout_redirect_uris: z
    .array(text)
    .optional()
    .describe('The URIs to which users return after a logout. Only with OpenID Connect.'),
  backchannel_logout_uri: text
    .optional()
    .describe('The URI that receives logout tokens, or empty. Only with OpenID Connect.'),
})

export const clientWithSecret = client.extend({
  client_secret: text.optional().describe('Returned only once, and not for a public client.'),
})

export const overlapForm = z.looseObject({
  overlap: seconds(maxOverlap)
    .optional()
    .describe('The seconds for which the previous value remains valid. The default is 0.'),
})

nameShapes({
  Scope: scope,
  ClientChoices: clientChoices,
  Client: client,
  ClientWithSecret: clientWithSecret,
  Overlap: overlapForm,
})

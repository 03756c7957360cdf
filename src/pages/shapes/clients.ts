import { z } from 'zod'
import { applicationKinds } from '../../model/application-kind.ts'
import { maxOverlap } from '../../model/overlap.ts'
import { formFlag, formList, formName, formText, seconds } from './form-fields.ts'
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

const logoutFields = {
  post_logout_redirect_uris: formList
    .optional()
    .describe('A list, or a text with one URI per line, to which users return after a logout.'),
  backchannel_logout_uri: formText
    .optional()
    .describe('Empty, or the https URL that receives a logout token when a login ends.'),
}

const fields = {
  name: formName,
  description: formText.optional(),
  website: formText.optional().describe('Empty, or a URL that starts with https://.'),
  logo_uri: formText
    .optional()
    .describe(
      'Empty, or the https URL of a logo. The pages show the image after an administrator has verified the client.',
    ),
  redirect_uris: formList
    .optional()
    .describe('A list, or a text with one URI per line. The first URI is the default.'),
  is_confidential: formFlag
    .optional()
    .describe('False for an application that cannot keep a secret. The default is true.'),
  default_scopes: formList.optional(),
  optional_scopes: formList.optional(),
  ...logoutFields,
}

export const newClient = z.looseObject({
  ...fields,
  application_type: z
    .enum(applicationKinds)
    .optional()
    .describe('Sets the grants of the client, and its type if `is_confidential` is omitted.'),
})

export const clientChange = z
  .looseObject({
    ...fields,
    name: fields.name.optional(),
    delete: formText.optional().describe('`yes` deletes the client.'),
    confirm_name: formText.optional().describe('The name of the client, to confirm its deletion.'),
  })
  .describe('An omitted field is not changed, including an omitted list in a form.')

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

import { z } from 'zod'
import { maxOverlap } from '../../../model/overlap.ts'
import { formFlag, formList, formName, formText, seconds } from '../form-fields.ts'
import { count, flag, text, time } from '../shape.ts'

export const scope = z.strictObject({ id: text, help_text: text, group: text })

export const clientChoices = z.strictObject({ scopes: z.array(scope) })

/** A client application as its owner sees it. */
export const client = z.strictObject({
  client_id: text,
  name: text,
  description: text,
  website: text,
  client_type: z.enum(['confidential', 'public']),
  is_confidential: flag,
  redirect_uris: z.array(text).describe('The first one is the default.'),
  default_scopes: z.array(text).describe('Requested if a request names no scope.'),
  optional_scopes: z.array(text).describe('A user may refuse these and grant the rest.'),
  is_verified: flag.describe('Whether an administrator has verified who makes it.'),
  is_disabled: flag.describe('Whether an administrator has disabled it.'),
  users: count.describe(
    'The number of its tokens that are neither personal nor internal; 1,001 means more than 1,000.',
  ),
  client_secret_leaked_at: time
    .nullable()
    .describe('When the secret was revoked because it had leaked; null if the secret is valid.'),
  previous_client_secret_expires: time
    .nullable()
    .describe('When the previous secret expires or expired; null if there is no previous secret.'),
  created_at: time,
})

export const clientWithSecret = client.extend({
  client_secret: text.optional().describe('Shown only once. A public client has none.'),
})

const fields = {
  name: formName,
  description: formText.optional(),
  website: formText.optional().describe('Empty, or a URL that starts with https://.'),
  redirect_uris: formList
    .optional()
    .describe('A list, or a text with one URI per line. The first one is the default.'),
  is_confidential: formFlag
    .optional()
    .describe('False for an application that cannot keep a secret. The default is true.'),
  default_scopes: formList.optional(),
  optional_scopes: formList.optional(),
}

export const newClient = z.looseObject(fields)

export const clientChange = z
  .looseObject({
    ...fields,
    name: fields.name.optional(),
    delete: formText.optional().describe('`yes` deletes the client.'),
    confirm_name: formText.optional().describe('To delete: the name of the client.'),
  })
  .describe('A field that is missing keeps its value, in a form too if it is a list.')

export const overlapForm = z.looseObject({
  overlap: seconds(maxOverlap)
    .optional()
    .describe('Seconds for which the previous value stays valid. The default is 0.'),
})

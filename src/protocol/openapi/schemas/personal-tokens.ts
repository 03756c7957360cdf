import { z } from 'zod'
import type { Described } from '../described.ts'
import { formList, formName, formText, noText } from '../form-fields.ts'
import { id, text, time } from '../shape.ts'
import { scope } from './clients.ts'

const day = z.string().meta({ format: 'date' })

export const personalTokenChoices = z.strictObject({
  scopes: z.array(scope),
  last_day: day
    .nullable()
    .describe('The last day that a new token can expire; null if it need not expire.'),
})

/** A personal token without its value. */
export const personalToken = z.strictObject({
  id,
  name: text,
  scopes: z.array(text),
  expires: time.nullable().describe('Null if it never expires.'),
  created_at: time.describe('When it was created or rotated.'),
  last_used_at: time.nullable(),
  last_used_address: text.nullable(),
  previous_expires: time
    .nullable()
    .describe('When the previous value expires; null if there is no previous value.'),
})

export const personalTokenWithValue = personalToken.extend({
  access_token: text.describe('Shown only once.'),
})

/** A day, at the end of which a token expires in UTC. */
export const dayPattern = /^\d{4}-\d\d-\d\d$/
export const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/

const expires = formText
  .meta({ pattern: `${dayPattern.source}|${timePattern.source}` })
  .describe('A day such as 2027-01-31, at the end of which the token expires in UTC, or a time.')

export const newPersonalToken = z.looseObject({
  name: formName,
  scopes: formList.optional(),
  expires: z.union([expires, noText], { error: 'a text or null' }).optional(),
})

/** The form of a new token as the document of a server shows it: `expires` is required if the server sets a maximum. */
export const newPersonalTokenOf = ({ settings }: Pick<Described, 'settings'>) =>
  settings.tokenPersonalMaxExpiresIn === 0 ? newPersonalToken : newPersonalToken.extend({ expires })

export const personalTokenChange = z
  .looseObject({
    name: formName.optional(),
    scopes: formList.optional(),
    delete: formText.optional().describe('`yes` deletes the token.'),
  })
  .describe('A field that is missing keeps its value.')

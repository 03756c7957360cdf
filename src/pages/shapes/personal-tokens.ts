import { z } from 'zod'
import { scope } from './clients.ts'
import { formList, formName, formText, noText } from './form-fields.ts'
import { id, nameShapes, text, time } from './shape.ts'

const day = z.string().meta({ format: 'date' })

export const personalTokenChoices = z.strictObject({
  scopes: z.array(scope),
  last_day: day
    .nullable()
    .describe('The last day on which a new token can expire; null without a limit.'),
})

/** A personal token without its value. */
export const personalToken = z.strictObject({
  id,
  name: text,
  last_four: text.describe('The last four characters of the value.'),
  scopes: z.array(text),
  expires: time.nullable().describe('Null if the token does not expire.'),
  created_at: time.describe('The time of the creation or the last rotation.'),
  used_scopes: z
    .array(text)
    .describe('The scopes that guards of the application required from this token.'),
  last_used_at: time.nullable(),
  last_used_address: text.nullable(),
  previous_expires: time
    .nullable()
    .describe('The time at which the previous value expires; null without a previous value.'),
})

export const personalTokenWithValue = personalToken.extend({
  access_token: text.describe('Returned only once.'),
})

/** The syntax of an expiry day. The token expires at the end of this day. */
export const dayPattern = /^\d{4}-\d\d-\d\d$/
export const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/

const timeZone = formText
  .optional()
  .describe('The time zone in which a day in `expires` ends, such as Europe/Berlin; default: UTC.')
const expiry = formText
  .optional()
  .describe(
    'A number of days, `never`, or `day` for the day in `expires`. In a change, also `keep`.',
  )

export const expires = formText
  .meta({ pattern: `${dayPattern.source}|${timePattern.source}` })
  .describe('A time, or a day such as 2027-01-31. A token expires at the end of its day.')

export const newPersonalToken = z.looseObject({
  name: formName,
  scopes: formList.optional(),
  expires: z
    .union([expires, noText], { error: 'a text or null' })
    .optional()
    .describe('Null: the token does not expire. Omitted: the default lifetime of the server.'),
  expiry,
  time_zone: timeZone,
})

export const personalTokenChange = z
  .looseObject({
    name: formName.optional(),
    scopes: formList.optional(),
    expires: z
      .union([expires, noText], { error: 'a text or null' })
      .optional()
      .describe('Null: the token does not expire.'),
    expiry,
    time_zone: timeZone,
    end_former: formText.optional().describe('`yes` revokes the previous value.'),
    reduce: formText.optional().describe('`yes` removes the scopes that no guard required.'),
    delete: formText.optional().describe('`yes` deletes the token.'),
  })
  .describe('In JSON, an omitted field is not changed.')

nameShapes({
  PersonalTokenChoices: personalTokenChoices,
  PersonalToken: personalToken,
  PersonalTokenWithValue: personalTokenWithValue,
  PersonalTokenChange: personalTokenChange,
})

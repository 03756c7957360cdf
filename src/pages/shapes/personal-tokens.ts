import { z } from 'zod'
import { scope } from './clients.ts'
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

nameShapes({
  PersonalTokenChoices: personalTokenChoices,
  PersonalToken: personalToken,
  PersonalTokenWithValue: personalTokenWithValue,
})

import type { Described } from '../described.ts'
import {
  about,
  constant,
  either,
  id,
  list,
  named,
  nullable,
  object,
  type Part,
  type Parts,
  text,
  time,
} from '../schema.ts'

const personalToken: Parts = {
  id,
  name: text,
  scopes: list(text),
  expires: about('Null: never.', nullable(time)),
  created_at: about('When it was created, or got its present value.', time),
  last_used_at: nullable(time),
  last_used_address: nullable(text),
  previous_expires: about('Until when the former value is valid; null: it is not.', nullable(time)),
}

const withValue: Parts = {
  ...personalToken,
  access_token: about('Shown this once.', text),
}

const name = about('1 to 40 characters that can be seen.', text)
const day: Part = { type: 'string', format: 'date' }
const expires = either(day, time)

/** Personal tokens, and what their user sends. */
export const personalTokenSchemas = ({ settings }: Described): Parts => {
  const mayLiveForEver = settings.tokenPersonalMaxExpiresIn === 0
  return {
    PersonalTokenChoices: object({
      scopes: list(named('Scope')),
      last_day: about('The last day of a new token; null: it need not end.', nullable(day)),
    }),
    PersonalToken: object(personalToken),
    PersonalTokenWithValue: object(withValue),
    NewPersonalToken: object(
      {
        name,
        scopes: list(text),
        expires: about(
          'A day, at the end of which it ends in UTC, or a time.',
          mayLiveForEver ? either(day, time, { type: 'null' }) : expires,
        ),
      },
      { optional: mayLiveForEver ? ['scopes', 'expires'] : ['scopes'] },
    ),
    PersonalTokenChange: about(
      'What is not named stays as it is.',
      object({ name, scopes: list(text) }, { optional: ['name', 'scopes'] }),
    ),
    PersonalTokenDeletion: object({ delete: constant('yes') }),
    PersonalTokenOverlap: object(
      {
        overlap: about('For how many seconds the former value stays valid.', {
          type: 'integer',
          minimum: 0,
          maximum: 315_360_000,
          default: 0,
        }),
      },
      { optional: ['overlap'] },
    ),
  }
}

import {
  about,
  choice,
  constant,
  count,
  either,
  flag,
  list,
  named,
  nullable,
  object,
  type Parts,
  text,
  time,
} from '../schema.ts'

const client: Parts = {
  client_id: text,
  name: text,
  description: text,
  website: text,
  client_type: choice(['confidential', 'public']),
  is_confidential: flag,
  redirect_uris: about('The first is the default.', list(text)),
  default_scopes: about('What is asked for where a request names no scope.', list(text)),
  optional_scopes: about('What a user may refuse while granting the rest.', list(text)),
  is_verified: about('Whether an administrator has checked who makes it.', flag),
  is_disabled: about('Whether an administrator has switched it off.', flag),
  users: about(
    'The number of its tokens that are neither personal nor internal; 1,001 means more than 1,000.',
    count,
  ),
  client_secret_leaked_at: about(
    'When the secret was ended because others knew it; null: it was not, or there is another since.',
    nullable(time),
  ),
  previous_client_secret_expires: about(
    'Until when the former secret is valid, or was; null: it is not.',
    nullable(time),
  ),
  created_at: time,
}

const input: Parts = {
  name: about('1 to 40 characters that can be seen.', text),
  description: text,
  website: about('Empty, or an address that starts with https://.', text),
  redirect_uris: about(
    'A list, or a text with one a line. The first is the default.',
    either(list(text), text),
  ),
  is_confidential: about('False for an application that cannot keep a secret.', {
    ...flag,
    default: true,
  }),
  default_scopes: list(text),
  optional_scopes: list(text),
}

/** Client applications, and what their owner sends. */
export const clientSchemas: Parts = {
  Scope: object({ id: text, help_text: text, group: text }),
  ClientChoices: object({ scopes: list(named('Scope')) }),
  Client: object(client),
  ClientWithSecret: object(
    {
      ...client,
      client_secret: about('Shown this once; a public client has none.', text),
    },
    { optional: ['client_secret'] },
  ),
  NewClient: object(input, { optional: Object.keys(input).filter((member) => member !== 'name') }),
  ClientChange: about(
    'What is not named stays as it is. In a form, a list that is not named stays too.',
    object(input, { optional: Object.keys(input) }),
  ),
  ClientDeletion: object({
    delete: constant('yes'),
    confirm_name: about('The name of the client.', text),
  }),
  Overlap: object(
    {
      overlap: about('For how many seconds the former secret stays valid, at most 30 days.', {
        type: 'integer',
        minimum: 0,
        maximum: 2_592_000,
        default: 0,
      }),
    },
    { optional: ['overlap'] },
  ),
}

import {
  about,
  count,
  flag,
  id,
  list,
  named,
  nullable,
  object,
  type Parts,
  text,
  time,
} from '../schema.ts'

/** An address, relative to the host, of the next part of a list. */
export const next = about('Where the next part is; null: this was the last.', nullable(text))

/** The start of the settings, and what users have authorized. */
export const applicationSchemas: Parts = {
  Applications: object({
    clients: about('The applications that the user registered.', list(named('Client'))),
    personal_tokens: list(named('PersonalToken')),
    authorized: list(named('AuthorizedApplication')),
    next: object({ clients: next, personal_tokens: next, authorized: next }),
  }),
  AuthorizedApplication: object({
    client_id: text,
    name: text,
    website: text,
    owner: about('The e-mail address of its owner; null: it has none.', nullable(text)),
    is_verified: flag,
    scopes: list(text),
    granted_at: nullable(time),
    devices: about('The latest of them.', list(named('Device'))),
    device_count: about(
      'Of all devices, also those that are not listed; 1,001 means more than 1,000.',
      count,
    ),
  }),
  Device: object({
    id: about('Of its token.', id),
    client_id: text,
    scopes: list(text),
    browser: about('In which the user agreed; null where it is not known.', nullable(text)),
    created_at: time,
    ends: about('When it ends unless it is refreshed; null: never.', nullable(time)),
    last_used_at: nullable(time),
    last_used_address: nullable(text),
  }),
  Done: about('It is done, and there is nothing to say of it.', object({})),
}

import {
  about,
  choice,
  constant,
  flag,
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
import { next } from './applications.ts'

/** What administrators see and send. `client` is what the owner of a client sees of it. */
export const administrationSchemas = (client: Part): Parts => ({
  Administration: object({
    clients: list(named('AdminClient')),
    tokens: list(named('AdminToken')),
    next: object({ clients: next, tokens: next }),
  }),
  AdminClient: object({
    ...(client.properties as Parts),
    owner: about('The e-mail address of its owner; null: it has none.', nullable(text)),
  }),
  AdminToken: object({
    id,
    name: about('Of the token if it is personal, else of its client.', text),
    client_id: text,
    is_personal: flag,
    user: about('The e-mail address of its user; null: it has none.', nullable(text)),
    scopes: list(text),
    created_at: time,
    expires: nullable(time),
    last_used_at: nullable(time),
  }),
  ClientAct: object({ client_id: text, act: choice(['verify', 'unverify', 'disable', 'enable']) }),
  AdminClientDeletion: object({
    client_id: text,
    act: constant('delete'),
    confirm_name: about('The name of the client.', text),
  }),
  AdminTokenDeletion: object({ token_id: id, act: constant('delete') }),
})

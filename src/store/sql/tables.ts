import type { Generated } from 'kysely'
import { entities } from '../../model/entities/all.ts'
import { type ColumnsOf, entity, type InsertedOf } from '../../model/entities/entity.ts'
import { count, nullable, number, text } from '../../model/entities/field.ts'

/** The tables whose rows are no records of the model. */
const others = [
  entity(
    'oauth2server_transient',
    {
      key: text(),
      value: nullable(text()),
      count: count(),
      expiresAt: number(),
      /** A digest of the owner, if the values of each owner are counted. */
      owner: nullable(text()),
    },
    { key: ['key'] },
  ),
  /** The numbers of routine events in each hour; `at` is the start of the hour. Each process writes separate rows. */
  entity(
    'oauth2server_audit_count',
    {
      at: number(),
      clientId: text(),
      event: text(),
      grantType: text(),
      /** Empty for tokens without a user. */
      userId: text(),
      writer: number(),
      count: number(),
    },
    { key: ['at', 'client_id', 'event', 'grant_type', 'user_id', 'writer'] },
  ),
] as const

/**
 * All tables. Times are milliseconds since the epoch. User IDs have the key type of the user table. In the audit tables,
 * user IDs are text.
 */
export const tables = [...Object.values(entities), ...others] as const

type TableOf<E> = {
  readonly [Name in keyof ColumnsOf<E>]: Name extends keyof InsertedOf<E>
    ? ColumnsOf<E>[Name]
    : Generated<ColumnsOf<E>[Name]>
}

export type Tables = { [E in (typeof tables)[number] as E['table']]: TableOf<E> }

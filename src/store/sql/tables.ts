import type { Generated } from 'kysely'
import { entities } from '../../model/entities/all.ts'
import { type ColumnsOf, entity, type InsertedOf } from '../../model/entities/entity.ts'
import { type Field, flag, nullable, number, text, userKey } from '../../model/entities/field.ts'
import type { SweeperNoteKind } from '../contract/sweeper.ts'

const count: Field<number, number> = { ...number(), type: 'integer' }
const kind = <Kind extends string>() => text<Kind>() as Field<Kind, Kind>

/** The tables whose rows are no records of the model. */
const others = [
  /** The logos of verified clients. */
  entity(
    'oauth2server_client_logo',
    {
      clientKey: number(),
      digest: nullable(text()),
      /** In base64. */
      image: nullable(text()),
      /** The time at which a fetch was requested or last started; null if no fetch is pending. */
      requestedAt: nullable(number()),
      /** The reason why the last fetch failed; null if the fetch did not fail. */
      problem: nullable(text()),
    },
    { key: ['client_key'] },
  ),
  /** The logins of users at clients. Each row records that a client received an ID token in a session. */
  entity('oauth2server_client_login', {
    id: text(),
    authorizationId: nullable(number()),
    sessionId: text(),
    sid: text(),
    clientKey: number(),
    userId: userKey(),
    isOffline: flag(),
    expiresAt: number(),
  }),
  /** Logouts of which clients must be notified. */
  entity('oauth2server_logout_notice', {
    id: text(),
    clientKey: number(),
    userId: text(),
    sid: text(),
    attempts: count,
    /** The time of the next attempt, or the end of the claim of the process that is sending the notice. */
    dueAt: number(),
    expiresAt: number(),
  }),
  /** Deleted clients and built-in users that may still have rows. */
  entity(
    'oauth2server_removal',
    { kind: kind<'client' | 'user'>(), key: number(), at: number() },
    { key: ['kind', 'key'] },
  ),
  /** Times that the sweeper stores for its next run. */
  entity(
    'oauth2server_sweeper_note',
    { kind: kind<SweeperNoteKind>(), key: text(), at: number() },
    { key: ['kind', 'key'] },
  ),
  entity(
    'oauth2server_transient',
    {
      key: text(),
      value: nullable(text()),
      count,
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
  entity('oauth2server_secret_key', { id: text(), createdAt: number() }),
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

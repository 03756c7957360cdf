import { type Kysely, sql } from 'kysely'
import { createIndexOnline, dropIndexOnline, type OnlineMigration } from './online.ts'

const table = 'oauth2server_audit'

/**
 * Replaces two indexes of the events of a user by one. Unless routine events are stored, both contained the same rows,
 * and every event wrote a page of each. A user's own log skips routine events in the index.
 */
export const oneAuditIndexOfAUser: OnlineMigration = {
  async up() {},
  async online(db: Kysely<unknown>) {
    await createIndexOnline(db, {
      name: 'oauth2server_audit_of_user',
      table,
      columns: ['user_id', 'at', 'id', 'is_routine'],
    })
    for (const name of ['by_user', 'of_person']) await dropIndexOnline(db, `${table}_${name}`)
  },
  async down(db: Kysely<unknown>) {
    await db.schema
      .createIndex(`${table}_by_user`)
      .on(table)
      .columns(['user_id', 'at', 'id'])
      .execute()
    await db.schema
      .createIndex(`${table}_of_person`)
      .on(table)
      .columns(['user_id', 'at', 'id'])
      .where(sql<boolean>`is_routine = 0`)
      .execute()
    await db.schema.dropIndex(`${table}_of_user`).ifExists().execute()
  },
}

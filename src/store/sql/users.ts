import { sql } from 'kysely'
import { heldEmail } from '../../model/email-address.ts'
import { userCodec } from '../../model/entities/user.ts'
import type { UserId } from '../../model/user.ts'
import { NotOurUsers } from '../contract/errors.ts'
import type { UserStore, UserWithPassword } from '../contract/users.ts'
import { type Handle, holds, prepared, unindexed } from './handle.ts'
import { isIrregularEmail } from './irregular-email.ts'
import { noteRemovals } from './removals.ts'
import { rowsOf } from './rows.ts'
import { attributesIn, isTrue, type UserColumns, userSource } from './user-source.ts'

/** Builds the `like` pattern for texts that begin with the given text. */
const prefixOf = (text: string): string => `${text.replaceAll(/[\\%_]/g, '\\$&')}%`

// SQLite compares the UTF-8 bytes of texts, so this character sorts after every other character.
const lastCharacter = '\u{10FFFF}'

/** The users in a table of the application. The store only reads this table. */
const hostUsers = (handle: Handle): UserStore => {
  const select = handle.read.selectFrom(userSource(handle, 'u')).selectAll()
  const toUser = (row: UserColumns): UserWithPassword => {
    const attributes = attributesIn(handle, row, 'x')
    return {
      id: row.id,
      email: heldEmail(row.email ?? ''),
      emailVerified: isTrue(row.email_verified),
      active: isTrue(row.active),
      isAdmin: isTrue(row.is_admin),
      ...(row.created_at && { createdAt: row.created_at }),
      ...(attributes && { attributes }),
      passwordHash: null,
      seal: '',
    }
  }
  const refuse = async (): Promise<never> => {
    throw new NotOurUsers()
  }
  const find = prepared(handle, handle.read, 'users.find', (id) => select.where('u.id', '=', id))
  return {
    async find(id) {
      const { rows } = await find(id)
      return rows[0] && toUser(rows[0])
    },

    async findByEmail(email) {
      // The application may store e-mail addresses in upper case. If the addresses of two users differ only in case,
      // this function finds neither user.
      const rows = await select.where(sql`lower(u.email)`, '=', email).limit(2).execute()
      const [row] = rows
      return row && rows.length === 1 ? toUser(row) : undefined
    },

    async list({ beginnings, isIrregular }, after, limit) {
      if (isIrregular) return []
      const rows = await select
        .$if(beginnings !== undefined, (q) =>
          q.where(({ or }) =>
            or(
              (beginnings ?? []).map(
                (text) => sql<boolean>`lower(u.email) like ${prefixOf(text)} escape '\\'`,
              ),
            ),
          ),
        )
        .$if(after !== null, (q) => q.where('u.id', '>', after as UserId))
        .orderBy('u.id')
        .limit(limit)
        .execute()
      return rows.map(toUser)
    },

    insert: refuse,
    update: refuse,
    delete: refuse,
  }
}

/** The built-in user table: integer keys, e-mail addresses in normal form. */
const builtInUsers = (handle: Handle): UserStore => {
  const { read, write } = handle
  const begins = (text: string) =>
    handle.locking
      ? sql<boolean>`email like ${prefixOf(text)} escape '\\'`
      : sql<boolean>`(email >= ${text} and email < ${`${text}${lastCharacter}`})`
  const find = prepared(handle, read, 'users.find', (id) =>
    read
      .selectFrom('oauth2server_user')
      .selectAll()
      .where('id', '=', id)
      .$if(holds(handle), (q) => q.forNoKeyUpdate()),
  )
  return {
    async find(id) {
      const { rows } = await find(id)
      return rows[0] && userCodec.fromRow(rows[0])
    },

    async findByEmail(email) {
      const row = await read
        .selectFrom('oauth2server_user')
        .selectAll()
        .where('email', '=', email)
        .executeTakeFirst()
      return row && userCodec.fromRow(row)
    },

    async list({ beginnings, isIrregular }, after, limit) {
      // Do not use the primary key, so that the database uses the index of the e-mail addresses. This index is faster,
      // because usually few addresses begin with the text.
      const id = beginnings ? unindexed('id') : sql<number>`id`
      const rows = await read
        .selectFrom('oauth2server_user')
        .selectAll()
        .where(id, '>', (after ?? 0) as number)
        .$if(beginnings !== undefined, (q) =>
          q.where(({ or }) => or((beginnings ?? []).map(begins))),
        )
        .$if(isIrregular === true, (q) => q.where(isIrregularEmail(handle.locking)))
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(userCodec.fromRow)
    },

    async insert(user) {
      const row = await write
        .insertInto('oauth2server_user')
        .values({ ...userCodec.toRow(user), created_at: user.createdAt })
        .onConflict((c) => c.column('email').doNothing())
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    update: async (id, changes) => (await rowsOf(handle, userCodec).update({ id }, changes)) > 0,

    async delete(id, now) {
      const { numDeletedRows } = await write
        .deleteFrom('oauth2server_user')
        .where('id', '=', id)
        .executeTakeFirst()
      if (numDeletedRows === 0n) return false
      await noteRemovals(write, 'user', [id as number], now)
      return true
    },
  }
}

export const sqlUsers = (handle: Handle): UserStore =>
  handle.users === 'built-in' ? builtInUsers(handle) : hostUsers(handle)

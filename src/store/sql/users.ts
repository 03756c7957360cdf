import { sql } from 'kysely'
import { heldEmail } from '../../model/email-address.ts'
import { userCodec } from '../../model/entities/user.ts'
import type { UserId } from '../../model/user.ts'
import { NotOurUsers } from '../contract/errors.ts'
import type { Reads } from '../contract/rows.ts'
import type { UserChanges, UserConditions, UserStore, UserWithPassword } from '../contract/users.ts'
import { type Handle, unindexed } from './handle.ts'
import { isIrregularEmail } from './irregular-email.ts'
import { noteRemovals } from './removals.ts'
import { readsOf, rowsOf } from './rows.ts'
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
  const reads: Reads<UserWithPassword, UserConditions, UserId> = readsOf(handle, {
    ...userCodec,
    alias: 'u',
    query: () => select.limit(2),
    fromRow: toUser,
    // The application may store e-mail addresses in upper case.
    own: { email: (email) => sql`lower(u.email) = ${email}` },
  })
  return {
    async find(of) {
      if (typeof of !== 'object') return reads.find(of)
      // If the addresses of two users differ only in case, find neither user.
      const [user, ...others] = await reads.select(of)
      return others.length === 0 ? user : undefined
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
  const reads: Reads<UserWithPassword, UserConditions, UserId> = readsOf(handle, {
    ...userCodec,
    alias: 'u',
    query: () => read.selectFrom('oauth2server_user as u').selectAll(),
  })
  return {
    find: (of) => reads.find(of, typeof of === 'object' ? {} : { lock: 'change' }),

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

    update: rowsOf<UserWithPassword, UserChanges>(handle, userCodec).update,

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

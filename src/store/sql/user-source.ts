import { type AliasedExpression, type RawBuilder, sql } from 'kysely'
import type { UserId } from '../../model/user.ts'
import type { StoredUser } from '../contract/users.ts'
import type { Handle } from './handle.ts'

/** What the store joins to know a user, whatever table it comes from. */
export interface UserColumns {
  readonly id: UserId
  /** A table of the application may have none for some. */
  readonly email: string | null
  readonly email_verified: number | boolean
  readonly active: number | boolean
  readonly is_admin: number | boolean
  readonly seal: string
}

/** The users under an alias, with the same columns whatever the table is. */
export const userSource = <A extends string>(
  { read: db, users, types }: Pick<Handle, 'read' | 'users' | 'types'>,
  alias: A,
): AliasedExpression<UserColumns, A> => {
  if (users === 'built-in') {
    return db
      .selectFrom('oauth2server_user')
      .select(['id', 'email', 'email_verified', 'active', 'is_admin', 'seal'])
      .as(alias) as AliasedExpression<UserColumns, A>
  }
  if (users === 'elsewhere') {
    return sql<UserColumns>`(select cast(null as ${sql.raw(types.userKey)}) as id, cast(null as text) as email, 0 as email_verified, 0 as active, 0 as is_admin, cast(null as text) as seal where 1 = 0)`.as(
      alias,
    ) as AliasedExpression<UserColumns, A>
  }
  const { name, columns } = users
  const column = (given: string | null, otherwise: number) =>
    given === null ? sql.lit(otherwise) : sql.ref(given)
  return sql<UserColumns>`(select ${sql.ref(columns.id)} as id, ${sql.ref(columns.email)} as email, ${column(columns.emailVerified, 0)} as email_verified, ${column(columns.active, 1)} as active, ${column(columns.isAdmin, 0)} as is_admin, '' as seal from ${sql.table(name)})`.as(
    alias,
  ) as AliasedExpression<UserColumns, A>
}

/** Whether the user that a row belongs to is there, where the store sees users; a row of nobody is. */
export const isThere = (
  { users }: Pick<Handle, 'users'>,
  userId: string,
  joinedId: string,
): RawBuilder<boolean> =>
  users === 'elsewhere'
    ? sql`1 = 1`
    : sql`(${sql.ref(userId)} is null or ${sql.ref(joinedId)} is not null)`

export const isTrue = (value: number | boolean | null): boolean =>
  value === true || Number(value) > 0

/** The columns of a user who was joined as `u`. */
export interface JoinedUser {
  readonly u_id: UserId | null
  readonly u_email: string | null
  readonly u_verified: number | boolean | null
  readonly u_active: number | boolean | null
  readonly u_admin: number | boolean | null
  readonly u_seal: string | null
}

/** The columns that `joinedUser` reads. */
export const userColumns = [
  'u.id as u_id',
  'u.email as u_email',
  'u.email_verified as u_verified',
  'u.active as u_active',
  'u.is_admin as u_admin',
  'u.seal as u_seal',
] as const

/** The user of a joined row; null where the join found none. */
export const joinedUser = (row: JoinedUser): StoredUser | null =>
  row.u_id === null
    ? null
    : {
        id: row.u_id,
        email: row.u_email ?? '',
        emailVerified: isTrue(row.u_verified),
        active: isTrue(row.u_active),
        isAdmin: isTrue(row.u_admin),
        seal: row.u_seal ?? '',
      }

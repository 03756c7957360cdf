import { type AliasedExpression, type RawBuilder, sql } from 'kysely'
import { heldEmail } from '../../model/email-address.ts'
import { maxSeconds, reuseMargin, type UserId } from '../../model/user.ts'
import type { StoredUser } from '../contract/users.ts'
import type { Handle } from './handle.ts'

/** The columns of a user that the store joins. The users are in the built-in table or in a table of the application. */
export interface UserColumns {
  readonly id: UserId
  /** Null if the table of the application contains no e-mail address for the user. */
  readonly email: string | null
  readonly email_verified: number | boolean
  readonly active: number | boolean
  readonly is_admin: number | boolean
  readonly seal: string
  /**
   * In milliseconds since the epoch. Only present if the column `createdAt` is configured; null if the column contains
   * no valid time.
   */
  readonly created_at?: number | null | undefined
}

/** Builds the subquery that selects the users, as `UserColumns`, from the configured location. */
export const userSource = <A extends string>(
  { read: db, users, types, locking }: Pick<Handle, 'read' | 'users' | 'types' | 'locking'>,
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
  const column = (name: string | null, defaultValue: number) =>
    name === null ? sql.lit(defaultValue) : sql.ref(name)
  const createdAt =
    columns.createdAt === null
      ? sql``
      : sql`, ${timeOf(sql.ref(columns.createdAt), locking)} as created_at`
  const attributes = sql.join(
    users.attributes.map((name, index) => sql`, ${sql.ref(name)} as ${sql.ref(`x${index}`)}`),
    sql``,
  )
  return sql<UserColumns>`(select ${sql.ref(columns.id)} as id, ${sql.ref(columns.email)} as email, ${column(columns.emailVerified, 0)} as email_verified, ${column(columns.active, 1)} as active, ${column(columns.isAdmin, 0)} as is_admin, '' as seal${createdAt}${attributes} from ${sql.table(name)})`.as(
    alias,
  ) as AliasedExpression<UserColumns, A>
}

/** Builds the expression that converts a time of the application to milliseconds since the epoch. */
export const timeOf = (column: RawBuilder<unknown>, isPostgres: boolean): RawBuilder<number> =>
  isPostgres
    ? sql`case when isfinite(${column}) then (extract(epoch from ${column}) * 1000)::bigint end`
    : sql`case when typeof(${column}) = 'text' then unixepoch(${column}) * 1000 when abs(${column}) < ${sql.lit(maxSeconds)} then ${column} * 1000 else ${column} end`

/** Returns whether the store knows the creation times of the users. */
export const hasCreationTimes = ({ users }: Pick<Handle, 'users'>): boolean =>
  typeof users === 'object' && users.columns.createdAt !== null

/** Builds the expression for the earliest time at which a row of the joined user can have been created. */
const earliestRow = (user: string) =>
  sql`${sql.ref(`${user}.created_at`)} - ${sql.lit(reuseMargin)}`

/**
 * Builds the condition that the user of a row exists and was not created after the row. Rows without a user meet the
 * condition. If the store cannot read the users, all rows meet the condition.
 * @param row the columns of the row: its user, and the time of its creation
 * @param user the alias of the joined user
 */
export const isThere = (
  handle: Pick<Handle, 'users'>,
  row: { readonly userId: string; readonly createdAt: string },
  user: string,
): RawBuilder<boolean> => {
  if (handle.users === 'elsewhere') return sql`1 = 1`
  const userId = sql.ref(row.userId)
  const exists = sql`${sql.ref(`${user}.id`)} is not null`
  if (!hasCreationTimes(handle)) return sql`(${userId} is null or ${exists})`
  const createdAt = sql.ref(row.createdAt)
  return sql`(${userId} is null or (${exists} and (${sql.ref(`${user}.created_at`)} is null or ${createdAt} >= ${earliestRow(user)})))`
}

/** Builds the condition that the joined user `u` is active. If the store cannot read the users, it is true. */
export const isActive = ({ users }: Pick<Handle, 'users'>): RawBuilder<boolean> =>
  users === 'elsewhere' ? sql`1 = 1` : sql`cast(u.active as text) in ('1', 'true')`

/** Builds the condition that a row of a table of this package was created before its user. */
export const isOlderThanUser = (
  handle: Pick<Handle, 'read' | 'users' | 'types' | 'locking'>,
  table: string,
  createdAt: string,
): RawBuilder<boolean> =>
  sql`${sql.ref(`${table}.${createdAt}`)} < (select ${earliestRow('n')} from ${userSource(handle, 'n')} where ${sql.ref('n.id')} = ${sql.ref(`${table}.user_id`)})`

export const isTrue = (value: number | boolean | null): boolean =>
  value === true || Number(value) > 0

/** The columns of a joined user with the alias `u`. */
export interface JoinedUser {
  readonly u_id: UserId | null
  readonly u_email: string | null
  readonly u_verified: number | boolean | null
  readonly u_active: number | boolean | null
  readonly u_admin: number | boolean | null
  readonly u_seal: string | null
}

const userColumns = [
  'u.id as u_id',
  'u.email as u_email',
  'u.email_verified as u_verified',
  'u.active as u_active',
  'u.is_admin as u_admin',
  'u.seal as u_seal',
] as const

/** Returns the columns that `joinedUser` reads, including the attributes. */
export const userColumnsOf = (handle: Pick<Handle, 'users'>): typeof userColumns =>
  [
    ...userColumns,
    ...attributesOf(handle).map((_, index) => `u.x${index} as u_x${index}`),
  ] as unknown as typeof userColumns

const attributesOf = ({ users }: Pick<Handle, 'users'>): readonly string[] =>
  typeof users === 'object' ? users.attributes : []

/**
 * Returns the attributes of a user by the names of their columns; undefined if no attributes are configured.
 * @param prefix the prefix of the attribute columns in the row
 */
export const attributesIn = (
  handle: Pick<Handle, 'users'>,
  row: object,
  prefix: 'x' | 'u_x',
): Readonly<Record<string, unknown>> | undefined => {
  const names = attributesOf(handle)
  if (names.length === 0) return undefined
  return Object.fromEntries(
    names.map((name, index) => [name, Reflect.get(row, `${prefix}${index}`)]),
  )
}

/** Returns the user of a joined row, or null if the join matched no user. */
export const joinedUser = (handle: Pick<Handle, 'users'>, row: JoinedUser): StoredUser | null => {
  if (row.u_id === null) return null
  const email = row.u_email ?? ''
  const attributes = attributesIn(handle, row, 'u_x')
  return {
    id: row.u_id,
    email: handle.users === 'built-in' ? email : heldEmail(email),
    emailVerified: isTrue(row.u_verified),
    active: isTrue(row.u_active),
    isAdmin: isTrue(row.u_admin),
    seal: row.u_seal ?? '',
    ...(attributes && { attributes }),
  }
}

import type { SqlType } from '../../../model/entities/field.ts'
import { rotatedTokenCodec } from '../../../model/entities/rotated-token.ts'
import { tokenCodec } from '../../../model/entities/token.ts'
import type { UsersLocation } from '../../../model/user-table.ts'
import type { ColumnTypes, UserForeignKey } from '../handle.ts'
import { type RotationValues, rotationConditions } from '../tokens/rotation.ts'

type GivenColumns = readonly (readonly [name: string, type: SqlType])[]

const tokenGiven: GivenColumns = Object.entries(tokenCodec.types)

/**
 * The columns of a rotated refresh token, with their names as parameters. The parameters have a prefix, because columns
 * of the new token have the same names.
 */
const notedNames = rotatedTokenCodec.columns.map((name) => ({ name, noted: `noted_${name}` }))

const rotationGiven: GivenColumns = [
  ['row_id', 'bigint'],
  ['current', 'text'],
  ['replaced_digest', 'text'],
  ['replaced_expires', 'bigint'],
  ['until', 'bigint'],
  ...tokenGiven,
  ...notedNames.map(({ name, noted }) => [noted, rotatedTokenCodec.types[name]] as const),
]

/** Returns the parameters of one rotation as one object. */
export const rotationParameters = ({
  id,
  current,
  replacedDigest,
  replacedExpires,
  endsAt,
  next,
  rotated,
}: RotationValues): object => {
  const given: Record<string, unknown> = {
    ...tokenCodec.toRow(next),
    row_id: id,
    current,
    replaced_digest: replacedDigest,
    replaced_expires: replacedExpires,
    until: endsAt,
  }
  const row = rotatedTokenCodec.toRow(rotated)
  for (const { name, noted } of notedNames) given[noted] = row[name]
  return given
}

// Pass the rows as one JSON text, because the driver would take longer to encode an array for each column.
const givenRows = (columns: GivenColumns, { userKey }: ColumnTypes): string => {
  const typed = columns.map(([name, type]) => `${name} ${type === 'userKey' ? userKey : type}`)
  return `given as materialized (
      select * from json_to_recordset($1) as given (${typed.join(', ')})
    )`
}

/** Returns the table and the column to which the foreign keys to users refer; undefined without a foreign key. */
const referencedUser = (
  users: UsersLocation,
  hasForeignKey: boolean,
): { readonly table: string; readonly key: string } | undefined => {
  if (typeof users !== 'object' || !hasForeignKey) return undefined
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
  return {
    table: users.name.split('.').map(quoted).join('.'),
    key: quoted(users.columns.id),
  }
}

/**
 * Returns the query for the users of the table `given` that no other transaction has locked. It takes the same lock as
 * the check of the foreign key. Undefined without a foreign key to users.
 */
export const freeUsers = (users: UsersLocation, { exists }: UserForeignKey): string | undefined => {
  const user = referencedUser(users, exists)
  return (
    user &&
    `select ${user.key} as key from ${user.table}
      where ${user.key} = any(array(select user_id from given)) for key share skip locked`
  )
}

/**
 * Returns the statements that insert tokens whose client is unchanged. If a foreign key refers to users, `skipping`
 * skips tokens whose user is locked, and `waiting` waits for the lock.
 */
export const insertStatements = (
  types: ColumnTypes,
  clientVersions: string,
  free: string | undefined,
) => {
  const given = givenRows([...tokenGiven, ['client_version', 'text']], types)
  const names = tokenCodec.columns.join(', ')
  const current = `current as materialized (${clientVersions})`
  const freeUser = free && `free_user as materialized (${free})`
  const isUnchanged =
    '(client_version is null or (client_key, client_version) in (select key, version from current))'
  const isUnlocked = '(user_id is null or user_id in (select key from free_user))'
  const insert = `insert into oauth2server_token (${names}) select ${names} from given`
  const returned = 'returning id, access_token_digest as digest'
  return {
    waiting: `with ${given}, ${current} ${insert} where ${isUnchanged} ${returned}`,
    skipping: freeUser
      ? `with ${given}, ${current}, ${freeUser}
        ${insert} where ${isUnchanged} and ${isUnlocked} ${returned}`
      : `with ${given}, ${current} ${insert} where ${isUnchanged} ${returned}`,
  }
}

/**
 * Returns the statements that rotate tokens. `skipping` skips locked rows, and `waiting` waits for them. For each
 * table, only one condition can use an index, so the query plan does not depend on the statistics.
 */
export const rotateStatements = (types: ColumnTypes) => {
  const set = tokenCodec.replacedColumns.map((name) => `${name} = given.${name}`)
  const conditions = rotationConditions.map(
    ([name, operator, value]) => `t.${name} ${operator} given.${value}`,
  )
  // Lock the authorization before its tokens, like `revoke`, to avoid deadlocks. Skip revoked authorizations.
  const rotate = (
    locked: '' | 'skip locked',
  ) => `with ${givenRows(rotationGiven, types)}, held as materialized (
        select id from oauth2server_authorization
        where id = any(array(select authorization_id from given)) and revoked_at + 0 is null
        order by id for no key update ${locked}
      ), free as materialized (
        select id from oauth2server_token
        where id = any(array(select row_id from given where authorization_id in (select id from held)))
        order by id for update ${locked}
      ), replaced as (
        update oauth2server_token as t set ${set.join(', ')}
        from given
        where t.id = any(array[given.row_id]) and given.row_id in (select id from free)
        and ${conditions.join(' and ')}
        returning t.id, t.access_token_digest
      ), extended as (
        update oauth2server_authorization as a set expires_at = given.until from given
        where a.id = any(array[given.authorization_id]) and given.row_id in (select id from replaced)
        and a.expires_at + 0 < given.until
      ), ended as (
        delete from oauth2server_token where parent_id = any(array(select id from replaced))
      ), noted as (
        insert into oauth2server_rotated_refresh_token (${rotatedTokenCodec.columns.join(', ')})
        select ${notedNames.map(({ noted }) => noted).join(', ')} from given
        where row_id in (select id from replaced)
      ) select access_token_digest from replaced`
  return { waiting: rotate(''), skipping: rotate('skip locked') }
}

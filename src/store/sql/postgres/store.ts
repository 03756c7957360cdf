import { Kysely } from 'kysely'
import type { UserKeyType, UsersLocation } from '../../../model/user-table.ts'
import { StoreUnavailable } from '../../contract/errors.ts'
import type { OpenStore } from '../../store.ts'
import { currentClientVersions } from '../client-version.ts'
import { newHandle } from '../handle.ts'
import type { LockRetries } from '../lock-retries.ts'
import { sqlStore } from '../sql-store.ts'
import type { Tables } from '../tables.ts'
import type { PostgresDialect } from './dialect.ts'
import { hostTransactions } from './host-transaction.ts'
import { postgresHotPaths } from './hot-paths.ts'

// `clock_timestamp` is the time of the call, not the start of the transaction. Rows contain times in milliseconds.
const currentTime = 'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now'
// The setting is `on` in every transaction of a standby.
const isReadOnly = `select current_setting('transaction_read_only') as is_read_only`

/** Builds the store on PostgreSQL, for any driver. */
export const postgresStore = (
  dialect: PostgresDialect,
  users: UsersLocation,
  {
    keyType,
    batch,
    lockRetries,
    schema,
  }: {
    readonly keyType: UserKeyType
    readonly batch: boolean
    readonly lockRetries?: LockRetries | undefined
    /** The schema of the tables; undefined if the `search_path` selects it. */
    readonly schema?: string | undefined
  },
): OpenStore => {
  const db = new Kysely<Tables>({ dialect })
  const types = {
    id: 'bigserial',
    userKey: keyType === 'integer' ? 'bigint' : keyType,
  } as const
  const userForeignKey = { exists: false }
  const tables = { read: db, users, types, locking: true }
  const handle = newHandle({
    read: db,
    write: db,
    purge: db,
    users,
    userForeignKey,
    // Transactions write concurrently, so the rows that a transaction has read must not change before it writes.
    locking: true,
    types,
    hot: postgresHotPaths({
      tables,
      dialect,
      userForeignKey,
      clientVersions: currentClientVersions(tables),
      batch,
      lockRetries,
    }),
    ...(lockRetries && {
      transact: (work) => lockRetries.transaction(() => db.transaction().execute(work)),
    }),
  })
  const store = sqlStore(handle)
  // A standby of PostgreSQL accepts queries, but no writes.
  const ping = async (): Promise<void> => {
    const { rows } = await dialect.run(isReadOnly, [])
    if (rows[0]?.is_read_only === 'on')
      throw new StoreUnavailable(
        'The database is read-only: it is a standby, or configured as read-only.',
      )
  }
  const now = async (): Promise<number> => {
    const { rows } = await dialect.run(currentTime, [])
    return Number(rows[0]?.now)
  }
  return { ...store, ping, now, within: hostTransactions({ handle, schema }) }
}

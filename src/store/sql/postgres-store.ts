import type { Kysely } from 'kysely'
import type { UserKeyType } from '../../model/user-table.ts'
import type { OpenStore } from '../store.ts'
import { newHandle } from './handle.ts'
import { sqlStore } from './sql-store.ts'
import type { Tables } from './tables.ts'
import type { Users } from './user-source.ts'

/** The store over PostgreSQL, whatever driver the connections are of. */
export const postgresStore = (db: Kysely<Tables>, users: Users, keyType: UserKeyType): OpenStore =>
  sqlStore(
    newHandle({
      read: db,
      write: db,
      users,
      // Many transactions write at once here: what one has read must not change before it writes.
      locking: true,
      types: {
        id: 'bigserial',
        userKey: keyType === 'integer' ? 'bigint' : keyType,
      },
    }),
  )

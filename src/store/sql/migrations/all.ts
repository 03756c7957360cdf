import type { ColumnTypes } from '../handle.ts'
import type { Users } from '../user-source.ts'
import { initial } from './0001-initial.ts'
import type { OnlineMigration } from './online.ts'

/** Whose users the tables refer to, and by keys of what type. */
export interface UserReference {
  readonly users: Users
  readonly types: ColumnTypes
}

/** Every migration in order: names sort, and never change once released. */
export const migrationsFor = (
  reference: UserReference,
): Readonly<Record<string, OnlineMigration>> => ({
  '0001-initial': initial(reference),
})

import type { ColumnTypes, Users } from '../handle.ts'

/** Whose users the tables refer to, and by keys of what type. */
export interface UserReference {
  readonly users: Users
  readonly types: ColumnTypes
}

import type { ColumnTypes, Users } from '../handle.ts'

/** The users that the tables refer to, and the type of their keys. */
export interface UserReference {
  readonly users: Users
  readonly types: ColumnTypes
}

import { initial } from './0001-initial.ts'
import type { OnlineMigration } from './online.ts'
import type { UserReference } from './user-reference.ts'

/** Every migration in order: names sort, and never change once released. */
export const migrationsFor = (
  reference: UserReference,
): Readonly<Record<string, OnlineMigration>> => ({
  '0001-initial': initial(reference),
})

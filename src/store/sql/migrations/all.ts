import { initial } from './0001-initial.ts'
import type { OnlineMigration } from './online.ts'
import type { UserReference } from './user-reference.ts'

/** Lists every migration. Names sort in order, and never change once they are released. */
export const migrationsFor = (
  reference: UserReference,
): Readonly<Record<string, OnlineMigration>> => ({
  '0001-initial': initial(reference),
})

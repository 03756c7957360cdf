import type { UserReference } from '../handle.ts'
import { initial } from './0001-initial.ts'
import type { OnlineMigration } from './online.ts'

/** Lists every migration. Names sort in order, and never change once they are released. */
export const migrationsFor = (
  reference: UserReference,
): Readonly<Record<string, OnlineMigration>> => ({
  '0001-initial': initial(reference),
})

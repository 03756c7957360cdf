import type { UserReference } from '../handle.ts'
import { initial } from './0001-initial.ts'
import type { OnlineMigration } from './online.ts'

/**
 * Lists every migration by name. The alphabetical order of the names is the order of the migrations. Released names
 * never change.
 */
export const migrationsFor = (
  reference: UserReference,
): Readonly<Record<string, OnlineMigration>> => ({
  '0001-initial': initial(reference),
})

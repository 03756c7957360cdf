import type { Migration } from 'kysely/migration'
import { initial } from './0001-initial.ts'

/** Every migration in order: names sort, and never change once released. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-initial': initial,
}

import type { UserReference } from '../handle.ts'
import { initial } from './0001-initial.ts'
import { ownersAndNotices } from './0012-owners-and-notices.ts'
import { emailAddresses } from './0015-email-addresses.ts'
import { sectors } from './0017-sectors.ts'
import type { OnlineMigration } from './online.ts'

/**
 * Returns every migration by its name. The alphabetical order of the names is the order of the migrations. After a
 * release, the names and the content of its migrations never change. Until the first release, `0001-initial` may
 * change.
 */
export const migrationsFor = (
  reference: UserReference,
): Readonly<Record<string, OnlineMigration>> => ({
  '0001-initial': initial(reference),
  '0012-owners-and-notices': ownersAndNotices,
  '0015-email-addresses': emailAddresses(reference),
  '0017-sectors': sectors,
})

import type { UserReference } from '../handle.ts'
import { initial } from './0001-initial.ts'
import { ownersAndNotices } from './0012-owners-and-notices.ts'
import { emailAddresses } from './0015-email-addresses.ts'
import { oneAuditIndexOfAUser } from './0018-one-audit-index-of-a-user.ts'
import { addedColumns } from './added-columns.ts'
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
  // The sector of the subject, the digest of the OpenID Connect values, and the time since when an ID belongs to the user.
  '0017-sectors': addedColumns(
    ['oauth2server_token', 'sector', 'text'],
    ['oauth2server_token', 'login_digest', 'text'],
    ['oauth2server_consent', 'reused_since', 'bigint'],
  ),
  '0018-one-audit-index-of-a-user': oneAuditIndexOfAUser,
})

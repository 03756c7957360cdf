import { type RawBuilder, sql } from 'kysely'
import type { Handle } from './handle.ts'
import { userSource } from './user-source.ts'

/**
 * The digest of the whole row of a client `c` and its owner `u`, which PostgreSQL computes. Any change of a column
 * changes it, even a change without this server.
 */
export const clientVersion: RawBuilder<string> = sql`encode(sha256(convert_to((c.*, u.*)::text, 'UTF8')), 'hex')`

/** Returns the statement that selects the current versions of the clients of the rows in `given` with a version. */
export const currentClientVersions = (
  handle: Pick<Handle, 'read' | 'users' | 'types' | 'locking'>,
): string =>
  sql`select c.client_key as key, ${clientVersion} as version
    from oauth2server_client as c left join ${userSource(handle, 'u')} on u.id = any(array[c.user_id])
    where c.client_key = any(array(select client_key from given where client_version is not null))`.compile(
    handle.read,
  ).sql

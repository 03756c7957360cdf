import { type RawBuilder, sql } from 'kysely'
import type { TableHandle } from './handle.ts'
import { userSource } from './user-source.ts'

/**
 * The SQL expression for the digest of a client `c` and its owner `u`. The digest covers all selected columns, so it
 * also detects changes that another program makes in the database.
 */
export const clientVersion: RawBuilder<string> = sql`encode(sha256(convert_to((c.*, u.*)::text, 'UTF8')), 'hex')`

/**
 * Returns the SQL that selects the current versions of clients. The surrounding statement lists the clients in the
 * table `given`; rows without a `client_version` are ignored.
 */
export const currentClientVersions = (handle: TableHandle): string =>
  sql`select c.client_key as key, ${clientVersion} as version
    from oauth2server_client as c left join ${userSource(handle, 'u')} on u.id = any(array[c.user_id])
    where c.client_key = any(array(select client_key from given where client_version is not null))`.compile(
    handle.read,
  ).sql

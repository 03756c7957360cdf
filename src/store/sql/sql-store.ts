import { type Kysely, sql } from 'kysely'
import type { OpenStore, Store } from '../store.ts'
import { sqlAudit } from './audit.ts'
import { sqlAuditCheckpoints } from './audit-checkpoints.ts'
import { sqlAuditCounts } from './audit-counts.ts'
import { sqlAuthorizations } from './authorizations.ts'
import { sqlClientLogins } from './client-logins.ts'
import { sqlClientLogos } from './client-logos.ts'
import { sqlClients } from './clients.ts'
import { sqlConsents } from './consents.ts'
import { sqlExpired } from './expired.ts'
import type { Handle } from './handle.ts'
import { sqlSecretKeys, sqlSigningKeys } from './keys.ts'
import { sqlLogoutNotices } from './logout-notices.ts'
import { migrate } from './migrations/migrate.ts'
import { sqlRemovals } from './removals.ts'
import { sqlSealed } from './sealed.ts'
import { sqlSessions } from './sessions.ts'
import { mayInheritRows } from './start-checks.ts'
import { sqlSweeperNotes } from './sweeper-notes.ts'
import type { Tables } from './tables.ts'
import { sqlTokens } from './tokens/tokens.ts'
import { sqlTransients } from './transients.ts'
import { sqlUserData } from './user-data.ts'
import { sqlUsers } from './users.ts'

const parts = (handle: Handle): Omit<Store, 'transaction'> => {
  const { recall: recallClient, ...clients } = sqlClients(handle)
  return {
    clients,
    recallClient,
    tokens: sqlTokens(handle),
    authorizations: sqlAuthorizations(handle),
    consents: sqlConsents(handle),
    users: sqlUsers(handle),
    userData: sqlUserData(handle),
    removals: sqlRemovals(handle),
    sweeperNotes: sqlSweeperNotes(handle),
    expired: sqlExpired(handle),
    sessions: sqlSessions(handle),
    clientLogins: sqlClientLogins(handle),
    logoutNotices: sqlLogoutNotices(handle),
    clientLogos: sqlClientLogos(handle),
    transients: sqlTransients(handle),
    secretKeys: sqlSecretKeys(handle),
    signingKeys: sqlSigningKeys(handle),
    sealed: sqlSealed(handle),
    audit: sqlAudit(handle),
    auditCheckpoints: sqlAuditCheckpoints(handle),
    auditCounts: sqlAuditCounts(handle),
  }
}

const inTransaction = (tx: Kysely<Tables>, handle: Handle, depth: number): Store => ({
  ...parts({
    ...handle,
    read: tx,
    write: tx,
    purge: tx,
    hot: undefined,
    inTransaction: true,
  }),
  async transaction(work) {
    const savepoint = `oauth2server_${depth}`
    await sql.raw(`savepoint ${savepoint}`).execute(tx)
    try {
      const result = await work(inTransaction(tx, handle, depth + 1))
      await sql.raw(`release savepoint ${savepoint}`).execute(tx)
      return result
    } catch (error) {
      await sql.raw(`rollback to savepoint ${savepoint}`).execute(tx)
      await sql.raw(`release savepoint ${savepoint}`).execute(tx)
      throw error
    }
  },
})

/** Returns a store whose operations run in the transaction `tx`. */
export const storeInTransaction = (tx: Kysely<Tables>, handle: Handle): Store =>
  inTransaction(tx, handle, 1)

/** Implements the store contract with Kysely. */
export const sqlStore = (handle: Handle): OpenStore => ({
  ...parts(handle),
  transaction: (work) => handle.transact((tx) => work(storeInTransaction(tx, handle))),
  migrate: (options) => migrate(handle, options),
  mayInheritRows: () => mayInheritRows(handle),
  async ping() {
    await sql`select 1`.execute(handle.read)
  },
  async close() {
    if (handle.purge !== handle.write) await handle.purge.destroy()
    await handle.write.destroy()
    if (handle.read !== handle.write) await handle.read.destroy()
  },
})

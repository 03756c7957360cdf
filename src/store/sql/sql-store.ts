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

const clientsOf = (handle: Handle) => {
  const { recall, ...clients } = sqlClients(handle)
  return { clients, recall }
}

/** Builds each part when it is first used, because a transaction uses few parts. */
const parts = (handle: Handle): Omit<Store, 'transaction'> => {
  const built = new Map<unknown, unknown>()
  const part = <Part>(build: (handle: Handle) => Part): Part => {
    if (!built.has(build)) built.set(build, build(handle))
    return built.get(build) as Part
  }
  return {
    get clients() {
      return part(clientsOf).clients
    },
    get recallClient() {
      return part(clientsOf).recall
    },
    get tokens() {
      return part(sqlTokens)
    },
    get authorizations() {
      return part(sqlAuthorizations)
    },
    get consents() {
      return part(sqlConsents)
    },
    get users() {
      return part(sqlUsers)
    },
    get userData() {
      return part(sqlUserData)
    },
    get removals() {
      return part(sqlRemovals)
    },
    get sweeperNotes() {
      return part(sqlSweeperNotes)
    },
    get expired() {
      return part(sqlExpired)
    },
    get sessions() {
      return part(sqlSessions)
    },
    get clientLogins() {
      return part(sqlClientLogins)
    },
    get logoutNotices() {
      return part(sqlLogoutNotices)
    },
    get clientLogos() {
      return part(sqlClientLogos)
    },
    get transients() {
      return part(sqlTransients)
    },
    get secretKeys() {
      return part(sqlSecretKeys)
    },
    get signingKeys() {
      return part(sqlSigningKeys)
    },
    get sealed() {
      return part(sqlSealed)
    },
    get audit() {
      return part(sqlAudit)
    },
    get auditCheckpoints() {
      return part(sqlAuditCheckpoints)
    },
    get auditCounts() {
      return part(sqlAuditCounts)
    },
  }
}

const inTransaction = (tx: Kysely<Tables>, handle: Handle, depth: number): Store => {
  const own = { ...handle, read: tx, write: tx, purge: tx, hot: undefined, inTransaction: true }
  // Do not spread the parts, because that would build all of them.
  return Object.assign(parts(own), {
    async transaction<T>(work: (tx: Store) => Promise<T>): Promise<T> {
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
}

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

import { type Kysely, sql } from 'kysely'
import type { OpenStore, Store } from '../store.ts'
import { sqlAudit } from './audit.ts'
import { sqlAuditCounts } from './audit-counts.ts'
import { sqlAuthorizations } from './authorizations.ts'
import { sqlClientLogins } from './client-logins.ts'
import { sqlClientLogos } from './client-logos.ts'
import { sqlClients } from './clients.ts'
import { sqlConsents } from './consents.ts'
import type { Handle } from './handle.ts'
import { sqlLogoutNotices } from './logout-notices.ts'
import { migrate } from './migrations/migrate.ts'
import { sqlRemovals } from './removals.ts'
import { sqlSealed } from './sealed.ts'
import { sqlSessions } from './sessions.ts'
import { checkpoints, notes, rotatedTokens, secretKeys, signingKeys } from './small-tables.ts'
import { mayInheritRows } from './start-checks.ts'
import type { Tables } from './tables.ts'
import { sqlTokens } from './tokens/tokens.ts'
import { sqlTransients, transientRows } from './transients.ts'
import { sqlUsers } from './users.ts'

type Parts = Omit<Store, 'transaction' | 'recallClient'>

const builders: { readonly [Name in keyof Parts]: (handle: Handle) => Parts[Name] } = {
  clients: sqlClients,
  tokens: sqlTokens,
  rotatedTokens,
  authorizations: sqlAuthorizations,
  consents: sqlConsents,
  users: sqlUsers,
  removals: sqlRemovals,
  sweeperNotes: notes,
  sessions: sqlSessions,
  clientLogins: sqlClientLogins,
  logoutNotices: sqlLogoutNotices,
  clientLogos: sqlClientLogos,
  transients: sqlTransients,
  transientRows,
  secretKeys,
  signingKeys,
  sealed: sqlSealed,
  audit: sqlAudit,
  auditCheckpoints: checkpoints,
  auditCounts: sqlAuditCounts,
}

/** The store of a transaction. Each part is built when it is first used, because a transaction uses few parts. */
class TransactionStore {
  readonly handle: Handle
  readonly depth: number

  constructor(tx: Kysely<Tables>, handle: Handle, depth: number) {
    this.handle = {
      ...handle,
      read: tx,
      write: tx,
      purge: tx,
      hot: undefined,
      inTransaction: true,
    }
    this.depth = depth
  }

  async transaction<T>(work: (tx: Store) => Promise<T>): Promise<T> {
    const { handle, depth } = this
    const tx = handle.write
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
  }
}

for (const [name, build] of Object.entries(builders))
  Object.defineProperty(TransactionStore.prototype, name, {
    get(this: TransactionStore) {
      const value = build(this.handle)
      // A proxy may wrap the part only if it is configurable.
      Object.defineProperty(this, name, { value, configurable: true })
      return value
    },
  })

const inTransaction = (tx: Kysely<Tables>, handle: Handle, depth: number): Store =>
  new TransactionStore(tx, handle, depth) as TransactionStore & Parts

/** Returns a store whose operations run in the transaction `tx`. */
export const storeInTransaction = (tx: Kysely<Tables>, handle: Handle): Store =>
  inTransaction(tx, handle, 1)

const partsOf = (handle: Handle): Omit<Store, 'transaction'> => {
  const { clients: _, ...others } = builders
  const { recall: recallClient, ...clients } = sqlClients(handle)
  const built = Object.entries(others).map(([name, build]) => [name, build(handle)])
  return { ...Object.fromEntries(built), clients, recallClient }
}

/** Implements the store contract with Kysely. */
export const sqlStore = (handle: Handle): OpenStore => ({
  ...partsOf(handle),
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

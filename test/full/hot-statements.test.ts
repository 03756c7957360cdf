import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { postgres } from '../../src/store/postgres.ts'
import type { OpenStore, Store } from '../../src/store/store.ts'
import {
  aClient,
  anAuthorization,
  aPair,
  aUser,
  auditRow,
  authorizationRow,
  authorizedToken,
  consentRow,
  digest,
  rotationOf,
  sessionRow,
  text,
  tokenRow,
  userRow,
} from '../store/rows.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase, type TestDatabase } from '../support/postgres.ts'

/** The number of rows in each large table. */
const many = 2_000
/** The number of rows and index entries that one operation may read in tables of any size. */
const bound = 60
/** The number of concurrent operations of one kind, which the store combines into shared statements. */
const together = 10
/** The executions of each prepared statement. After five executions, PostgreSQL may use a generic plan. */
const executions = 7

/** The IDs of the original user and client. All other rows are copies of their rows. */
interface Owner {
  readonly userId: number | string
  readonly clientId: string
}

type Prepared = () => Promise<unknown>

const now = 500

/**
 * Every store operation that a request waits for. Each function inserts the rows that the operation needs, and returns
 * the operation.
 */
const hot: Readonly<Record<string, (store: Store, owner: Owner) => Promise<Prepared>>> = {
  'tokens.findByAccess': async (store, { clientId }) => {
    const { row } = await aPair(store, clientId)
    return () => store.tokens.findByAccess(row.accessDigest)
  },
  'tokens.findByFormer': async (store, { clientId }) => {
    const { row } = await aPair(store, clientId)
    return () => store.tokens.findByFormer(row.accessDigest)
  },
  'tokens.findByRefresh': async (store, { clientId }) => {
    const { refreshDigest } = await aPair(store, clientId)
    return () => store.tokens.findByRefresh(refreshDigest)
  },
  'tokens.find': async (store, { clientId }) => {
    const { id } = await aPair(store, clientId)
    return () => store.tokens.find(id)
  },
  'tokens.find, locked': async (store, { clientId }) => {
    const { id } = await aPair(store, clientId)
    return () => store.tokens.find(id, { lock: 'change' })
  },
  'tokens.insert':
    async (store, { clientId, userId }) =>
    () =>
      store.tokens.insert(tokenRow({ clientId, userId })),
  'tokens.rotate': async (store, { clientId, userId }) => {
    const rotation = rotationOf(await aPair(store, clientId, { userId }))
    return () => store.tokens.rotate(rotation)
  },
  'rotatedTokens.find': async (store, { clientId }) => {
    const pair = await aPair(store, clientId)
    await store.tokens.rotate(rotationOf(pair))
    return () => store.rotatedTokens.find(pair.refreshDigest)
  },
  'tokens.find, by its authorization': async (store, { clientId }) => {
    const { authorizationId } = await aPair(store, clientId)
    return () => store.tokens.find({ authorizationId }, { lock: 'change' })
  },
  'authorizations.extend': async (store, { clientId, userId }) => {
    const id = await anAuthorization(store, { clientId, userId })
    return () => store.authorizations.extend(id, now)
  },
  'tokens.rewrite': async (store, { clientId }) => {
    const { id, row } = await aPair(store, clientId)
    return () => store.tokens.rewrite(id, row)
  },
  'tokens.touch': async (store, { clientId }) => {
    const { id } = await aPair(store, clientId)
    return () => store.tokens.touch(new Map([[id, { at: 9, address: '::1' }]]))
  },
  'tokens.personal': async (store, { clientId }) => {
    const { id } = await aPair(store, clientId, { isPersonal: true })
    return () => store.tokens.personal(id, now)
  },
  'tokens.authorized': async (store, { clientId }) => {
    const { id } = await aPair(store, clientId)
    return () => store.tokens.authorized(id, now)
  },
  'tokens.delete, children': async (store, { clientId }) => {
    const { id, authorizationId } = await aPair(store, clientId)
    await store.tokens.insert(tokenRow({ clientId, authorizationId, parentId: id }))
    return () => store.tokens.delete({ parentId: id })
  },
  'tokens.delete, former values': async (store, { clientId }) => {
    const { id } = await aPair(store, clientId)
    return () => store.tokens.delete({ successorId: id })
  },
  'tokens.delete': async (store, { clientId }) => {
    const { id } = await aPair(store, clientId)
    return () => store.tokens.delete({ id })
  },
  'authorizations.insertOnce':
    async (store, { clientId, userId }) =>
    () =>
      store.authorizations.insertOnce(
        authorizationRow({ clientId, userId, codeDigest: digest('authorization_code') }),
      ),
  'authorizations.insertWithToken': async (store) => {
    // A transaction has no such operation, because it inserts the rows one by one.
    const rows = await authorizedToken(store)
    return async () => store.authorizations.insertWithToken?.(rows)
  },
  'authorizations.find': async (store, { clientId }) => {
    const id = await anAuthorization(store, { clientId })
    return () => store.authorizations.find(id)
  },
  'authorizations.find, by its code': async (store, { clientId }) => {
    const codeDigest = digest('authorization_code')
    await anAuthorization(store, { clientId, codeDigest })
    return () => store.authorizations.find({ codeDigest })
  },
  'authorizations.listExceeding': async (store, { clientId }) => {
    const userId = await aUser(store)
    await aPair(store, clientId, { userId })
    return () => store.authorizations.listExceeding(userId, clientId, 0)
  },
  'authorizations.revoke': async (store, { clientId }) => {
    const { authorizationId } = await aPair(store, clientId)
    return () => store.authorizations.revoke(authorizationId, now)
  },
  'clients.find':
    async (store, { clientId }) =>
    () =>
      store.clients.find(clientId),
  'consents.find': async (store, { clientId }) => {
    const userId = await aUser(store)
    await store.consents.insert(consentRow({ userId, clientId }))
    return () => store.consents.find({ userId, clientId }, { lock: 'change' })
  },
  'consents.findOfSession': async (store, { clientId }) => {
    const userId = await aUser(store)
    const session = sessionRow({ userId })
    await store.sessions.insert(session)
    await store.consents.insert(consentRow({ userId, clientId }))
    return () => store.consents.findOfSession(session.id, clientId)
  },
  'consents.findGrant': async (store, { clientId }) => {
    const userId = await aUser(store)
    const session = sessionRow({ userId })
    await store.sessions.insert(session)
    await store.consents.insert(consentRow({ userId, clientId }))
    return () => store.consents.findGrant(userId, clientId, session.id)
  },
  'consents.insert': async (store, { clientId }) => {
    const userId = await aUser(store)
    return () => store.consents.insert(consentRow({ userId, clientId }))
  },
  'consents.put': async (store, { clientId }) => {
    const userId = await aUser(store)
    return () => store.consents.put(consentRow({ userId, clientId }))
  },
  'consents.delete': async (store, { clientId }) => {
    const userId = await aUser(store)
    await store.consents.insert(consentRow({ userId, clientId }))
    return () => store.consents.delete(userId, clientId)
  },
  'sessions.find': async (store) => {
    const row = sessionRow({ userId: await aUser(store) })
    await store.sessions.insert(row)
    return () => store.sessions.find(row.id)
  },
  'sessions.insert': async (store) => {
    const userId = await aUser(store)
    return () => store.sessions.insert(sessionRow({ userId }))
  },
  'sessions.update': async (store) => {
    const row = sessionRow({ userId: await aUser(store) })
    await store.sessions.insert(row)
    return () => store.sessions.update({ id: row.id }, { lastSeenAt: 9, seal: row.seal })
  },
  'sessions.delete': async (store) => {
    const row = sessionRow({ userId: await aUser(store) })
    await store.sessions.insert(row)
    return () => store.sessions.delete({ id: row.id })
  },
  'sessions.deleteSurplus': async (store) => {
    const userId = await aUser(store)
    for (let count = 0; count < 2; count += 1)
      await store.sessions.insert(sessionRow({ userId, createdAt: count }))
    return () =>
      store.sessions.deleteSurplus({ userId, now: 0, idleSince: 0 }, { keep: 1, limit: 100 })
  },
  'users.find': async (store) => {
    const id = await aUser(store)
    return () => store.users.find(id)
  },
  'users.find, by the e-mail address': async (store) => {
    const { email } = userRow()
    await aUser(store, { email })
    return () => store.users.find({ email })
  },
  'transients.put': async (store) => () => store.transients.put(text(), 'value', 9, 1),
  'transients.set': async (store) => () => store.transients.set(text(), 'value', 9, 1),
  'transients.get': async (store) => {
    const key = text()
    await store.transients.set(key, 'value', 9, 1)
    return () => store.transients.get([key], 1)
  },
  'transients.get, of several keys': async (store) => {
    const key = text()
    await store.transients.set(key, 'value', 9, 1)
    return () => store.transients.get([key, 'other'], 1)
  },
  'transients.take': async (store) => {
    const key = text()
    await store.transients.set(key, 'value', 9, 1)
    return () => store.transients.take(key, 1)
  },
  'transients.increment': async (store) => () => store.transients.increment(text(), 9, 1),
  'transients.delete': async (store) => {
    const key = text()
    await store.transients.set(key, 'value', 9, 1)
    return () => store.transients.delete(key)
  },
  'audit.add': async (store) => () => store.audit.add(auditRow()),
}

/**
 * Operations that no request for a token or a resource waits for. The value states the purpose of the operation, or the
 * rows that it reads.
 */
const others: Readonly<Record<string, string>> = {
  clients: 'management by users and administrators',
  'tokens.select': 'the tokens of one client or the personal tokens of one user',
  'tokens.list': 'a page',
  'tokens.summaries': 'a page, which reads the tokens of one user in one statement',
  'tokens.count': 'the personal tokens of one user',
  'tokens.authorizedOf': 'a page',
  'tokens.deleteSurplus': 'a bounded number of rows, in the background',
  'tokens.reseal': 'the rotation of secret keys',
  'authorizations.revokeOfClient': 'management',
  'authorizations.revokeOfUser': 'management',
  clientLogos: 'a page of administrators, an image that browsers keep, and the background',
  logoutNotices: 'the background, at most 1,000 rows for each user',
  clientLogins: 'one row for each login with OpenID Connect, found by its session or its user',
  'tokens.restore': 'a page, by primary key',
  'tokens.noteScopes': 'written in the background',
  'consents.select': 'a page',
  'sessions.list': 'a page',
  'sessions.put': 'no caller',
  'sessions.select': 'a page',
  'users.insert': 'management',
  'users.list': 'management',
  'users.update': 'management',
  'users.delete': 'management',
  removals: 'the remaining rows of deleted or missing users and deleted clients, in the background',
  sweeperNotes: 'the sweeper',
  secretKeys: 'a few rows, which a server reads when it starts',
  signingKeys: 'a few rows',
  sealed: 'the rotation of secret keys',
  'audit.addMany': 'inserts in the background',
  'audit.list': 'a page',
  'audit.select': 'batches of the log, which checkpoints and their verification read',
  'audit.mark': 'the sweeper',
  'audit.isSettled': 'the sweeper',
  'audit.copies': 'the rows of one checkpoint, in the background',
  auditCounts:
    'written in the background, and read by pages of administrators and the command line',
  auditCheckpoints: 'the sweeper, and the verification of the audit log',
}

const isOther = (operation: string): boolean =>
  operation in others ||
  operation.replace(/\.[^.]+$/, '') in others ||
  // The sweeper or a background job counts rows, or deletes them in batches.
  /\.(?:count|delete|end|mark|remove)\w*(?:OfClient|Own|Expired|Unused|Before|OfOwner)$/.test(
    operation,
  )

/** Returns a statement that copies one row of a table many times, with new values in the given columns. */
const copies = (table: string, from: string, changes: string): string =>
  `insert into oauth2server_${table} select made.* from (
     select * from oauth2server_${table} where ${from} limit 1
   ) as one, generate_series(1, ${many}) as n,
   jsonb_populate_record(one::oauth2server_${table}, jsonb_build_object(${changes})) as made`

describe.skipIf(await lacks('postgres'))(
  'store operations on the path of a request read few rows',
  () => {
    let database: TestDatabase
    let store: OpenStore
    let connection: pg.Client | undefined
    beforeEach(async () => {
      database = await makeDatabase()
      const { query } = pg.Client.prototype
      vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
        this: pg.Client,
        ...given: unknown[]
      ) {
        if (this.database && database.url.endsWith(this.database)) connection = this
        return Reflect.apply(query, this, given)
      } as never)
      // The pool has one connection, so that every statement is prepared on the measured connection.
      store = await postgres(database.url, { poolSize: 1, connectTimeout: 30_000 }).open()
      await store.migrate()
      for (const { name } of await database.query(`select relname as name from pg_class
      where relkind = 'r' and relname like 'oauth2server_%'`))
        await database.query(`alter table ${name} set (autovacuum_enabled = off)`)
    })
    afterEach(async () => {
      await store?.close()
      await database?.drop()
      vi.restoreAllMocks()
    })

    /** Returns the number of rows and index entries that were read in this database so far. */
    const rowsRead = async (): Promise<number> => {
      // After this ping, all statements of the store have ended, so its connection can report the counters.
      await store.ping()
      const own = connection
      await own?.query('select pg_stat_force_next_flush()')
      await own?.query('select 1')
      const [row] = await database.query(`select
      (select sum(seq_tup_read) from pg_stat_user_tables) +
      (select sum(idx_tup_read) from pg_stat_user_indexes) as n`)
      return Number(row?.n)
    }

    const grow = async (): Promise<void> => {
      const statements = [
        copies('user', 'true', `'id', 1000000 + n, 'email', 'u' || n`),
        copies('authorization', 'true', `'id', 1000000 + n, 'code_digest', 'c' || n`),
        copies(
          'token',
          'refresh_token_digest is not null',
          `'id', 1000000 + n, 'authorization_id', 1000000 + n, 'access_token_digest', 'a' || n,
         'refresh_token_digest', 'r' || n`,
        ),
        copies('rotated_refresh_token', 'true', `'digest', 'd' || n`),
        copies('consent', 'true', `'user_id', 1000000 + n, 'id', 'i' || n`),
        copies('session', 'true', `'id', 's' || n`),
        copies('transient', 'true', `'key', 'k' || n, 'expires_at', 1000000`),
        copies(
          'client',
          'true',
          `'client_key', n, 'client_id', 'x' || n, 'client_secret', 'y' || n`,
        ),
      ]
      // Skip the checks of the foreign keys: the copies satisfy them.
      await database.query(
        `do $$ begin set local session_replication_role = replica; ${statements.join(';')}; end $$`,
      )
    }

    /** Creates one row in each table that the test grows. */
    const anOwner = async (): Promise<Owner> => {
      const userId = await aUser(store)
      const clientId = await aClient(store, { userId })
      await store.tokens.rotate(rotationOf(await aPair(store, clientId, { userId })))
      await store.consents.insert(consentRow({ userId, clientId }))
      await store.sessions.insert(sessionRow({ userId }))
      await store.transients.set('one', 'value', 1_000_000, 1)
      return { userId, clientId }
    }

    const execute = async (owner: Owner): Promise<void> => {
      for (const prepare of Object.values(hot))
        for (let count = 0; count < executions; count += 1) await (await prepare(store, owner))()
    }

    /**
     * Expects that each operation reads few rows: alone, concurrently with others of its kind, and in a transaction.
     */
    const expectFewRows = async (owner: Owner): Promise<void> => {
      const found: Record<string, number> = {}
      for (const [name, prepare] of Object.entries(hot)) {
        const operation = await prepare(store, owner)
        const several = await Promise.all(
          Array.from({ length: together }, () => prepare(store, owner)),
        )
        const before = await rowsRead()
        await operation()
        const alone = await rowsRead()
        await Promise.all(several.map((one) => one()))
        const shared = await rowsRead()
        await store.transaction(async (tx) => {
          await (await prepare(tx, owner))()
        })
        const held = await rowsRead()
        const each = {
          alone: alone - before,
          shared: (shared - alone) / together,
          held: held - shared,
        }
        for (const [form, rows] of Object.entries(each)) found[`${name}, ${form}`] = rows
      }
      expect(Object.entries(found).filter(([, rows]) => rows > bound)).toEqual([])
      // Prove that the counters include the rows that the operations read.
      expect(found['tokens.findByAccess, alone']).toBeGreaterThan(0)
    }

    test('every operation of the store is either measured or in the list of exceptions', () => {
      const operations = Object.entries(store).flatMap(([part, of]) =>
        typeof of === 'object'
          ? Object.entries(of).flatMap(([name, operation]) =>
              typeof operation === 'function' ? [`${part}.${name}`] : [],
            )
          : [],
      )
      expect(operations.length).toBeGreaterThan(60)
      expect(operations.filter((name) => !(name in hot) && !isOther(name))).toEqual([])
      const measured = Object.keys(hot).map((name) => name.replace(/, .*/, ''))
      expect(measured.filter((name) => !operations.includes(name))).toEqual([])
    })

    test('in tables that PostgreSQL never analyzed [T578]', async () => {
      const owner = await anOwner()
      await grow()
      await execute(owner)
      await expectFewRows(owner)
    })

    test('in tables that PostgreSQL analyzed while they were empty [T579]', async () => {
      await database.query('analyze')
      const owner = await anOwner()
      await grow()
      await execute(owner)
      await expectFewRows(owner)
    })

    test('with plans that PostgreSQL made for tiny tables without analyzing them [T580]', async () => {
      const owner = await anOwner()
      await execute(owner)
      await grow()
      await expectFewRows(owner)
    })

    test('with plans that PostgreSQL made for tiny, analyzed tables', async () => {
      const owner = await anOwner()
      await database.query('analyze')
      await execute(owner)
      await grow()
      await expectFewRows(owner)
    })

    test('with plans that PostgreSQL made for tiny tables that it had analyzed while they were empty', async () => {
      await database.query('analyze')
      const owner = await anOwner()
      await execute(owner)
      await grow()
      await expectFewRows(owner)
    })

    test('in analyzed tables where one client owns nearly all rows [T581]', async () => {
      const owner = await anOwner()
      await grow()
      await database.query('analyze')
      await execute(owner)
      await expectFewRows(owner)
    })
  },
)

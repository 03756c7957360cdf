import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoreOpener } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { UserId } from '../../src/model/user.ts'
import { postgres } from '../../src/store/postgres.ts'
import { sqlite } from '../../src/store/sqlite.ts'
import type { OpenStore } from '../../src/store/store.ts'
import { aClient, aUser, clientKey } from '../store/rows.ts'
import { execute } from '../support/database.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'

/** The number of rows in the large table. A count must not read all rows. */
const large = 150_000
/** The number of rows in the small table, and the maximum number of rows that a count may read. */
const small = 1_001
const most = 1_001

interface Database {
  readonly opener: StoreOpener
  /** Returns SQL for a table whose column `i` contains a range of numbers. */
  numbers(from: number, to: number): string
  execute(sql: string): Promise<unknown>
  cleanUp(): Promise<unknown>
}

const inSqlite = async (): Promise<Database> => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-test-'))
  const path = join(folder, 'test.sqlite')
  return {
    opener: sqlite(path),
    numbers: (from, to) =>
      `(with recursive n(i) as (select ${from} union all select i + 1 from n where i < ${to}) select i from n) as n`,
    execute: async (sql) => execute(path, sql),
    cleanUp: () => rm(folder, { recursive: true }),
  }
}

const inPostgres = async (): Promise<Database> => {
  const made = await makeDatabase()
  return {
    opener: postgres(made.url),
    numbers: (from, to) => `generate_series(${from}, ${to}) as n(i)`,
    // Skip the foreign keys: the copies satisfy them, and the checks would take longer than the inserts.
    execute: (sql) => made.query(`set session_replication_role = replica; ${sql}`),
    cleanUp: () => made.drop(),
  }
}

/** Returns the duration of the fastest of several runs in milliseconds. Other work disturbed the fastest run least. */
const quickest = async (run: () => Promise<unknown>): Promise<number> => {
  let least = Number.POSITIVE_INFINITY
  for (let n = 0; n < 15; n += 1) {
    const begun = performance.now()
    await run()
    least = Math.min(least, performance.now() - begun)
  }
  return least
}

const without = await lacks('postgres')

describe.each([
  { name: 'SQLite', make: inSqlite, isLacking: false },
  { name: 'PostgreSQL', make: inPostgres, isLacking: without },
])('counts on a large table: $name', ({ make, isLacking }) => {
  describe.skipIf(isLacking)('a page reads a bounded number of rows', () => {
    let database: Database
    let store: OpenStore
    let next = 1

    /** Inserts tokens directly, without the store. */
    const tokens = async (
      howMany: number,
      clientId: string,
      {
        userId = null,
        parent = null,
        isPersonal = false,
        isInternal = false,
      }: {
        userId?: UserId | null
        parent?: number | null
        isPersonal?: boolean
        isInternal?: boolean
      },
    ): Promise<number> => {
      const first = next
      next += howMany
      await database.execute(
        `insert into oauth2server_token (id, client_key, user_id, parent_id, token_type, access_token, access_token_digest,
        expires, ends_at, scopes, is_personal, is_internal, created_at)
        select i, ${clientKey(clientId)}, ${userId}, ${parent}, 'bearer', 'x', 'digest-' || i, 9e12, 9e12, '',
        ${Number(isPersonal)}, ${Number(isInternal)}, 1 from ${database.numbers(first, next - 1)}`,
      )
      return first
    }

    beforeAll(async () => {
      database = await make()
      store = await database.opener.open()
      await store.migrate()
    })
    afterAll(async () => {
      await store.close()
      await database.cleanUp()
    })

    const expectAsQuick = async (
      many: () => Promise<unknown>,
      few: () => Promise<unknown>,
    ): Promise<void> => {
      // Counting all rows of the large table would last at least 100 times as long as counting the small table.
      expect(await quickest(many)).toBeLessThan(20 * ((await quickest(few)) + 0.05))
    }

    test('the count of the users of a client does not read other tokens of the client [T583]', async () => {
      const [many, few, mixed] = [await aClient(store), await aClient(store), await aClient(store)]
      await tokens(large, many, {})
      await tokens(small, few, {})
      const parent = await tokens(10, mixed, {})
      await tokens(large / 2, mixed, { parent })
      await tokens(large / 2, mixed, { isInternal: true })
      const { clients } = store
      expect(await clients.countTokens([many, mixed, few], most)).toEqual(
        new Map([
          [many, most],
          [mixed, 10],
          [few, small],
        ]),
      )
      for (const clientId of [many, mixed]) {
        await expectAsQuick(
          () => clients.countTokens([clientId], most),
          () => clients.countTokens([few], most),
        )
      }
      expect(await clients.countTokens([many], Number.MAX_SAFE_INTEGER)).toEqual(
        new Map([[many, large]]),
      )
    })

    test('the lists of personal tokens and applications of a user do not read internal tokens [T829]', async () => {
      const [many, few] = [await aUser(store), await aUser(store)]
      const clientId = await aClient(store, { isPersonal: true })
      const personal = { isPersonal: true }
      await tokens(large, clientId, { userId: many, isInternal: true, ...personal })
      await tokens(20, clientId, { userId: many, ...personal })
      await tokens(small, clientId, { userId: few, ...personal })
      expect(await store.tokens.count('personal', { userId: many, now: 0 }, most)).toBe(20)
      expect(await store.tokens.count('personal', { userId: few, now: 0 }, most)).toBe(small)
      await expectAsQuick(
        () => store.tokens.count('personal', { userId: many, now: 0 }, most),
        () => store.tokens.count('personal', { userId: few, now: 0 }, most),
      )
      const page = { after: null, limit: 10 }
      await expectAsQuick(
        () => store.tokens.list('personal', { userId: many, now: 1 }, page),
        () => store.tokens.list('personal', { userId: few, now: 1 }, page),
      )
      const client = (isInternal: number, userId: UserId, howMany: number) =>
        database.execute(
          `insert into oauth2server_client (client_key, client_id, client_secret, name, description, website, user_id,
          is_confidential, is_internal, is_personal, redirect_uris, default_scopes, created_at, seal, state_seal)
          select client_key + cast(${next++} as bigint) * 1000000 + i, client_id || '${next}-' || i, client_secret || '${next}-' || i, '', '', '', ${userId}, 1,
          ${isInternal}, 0, '', '', 1, '', '' from oauth2server_client as c, ${database.numbers(1, howMany)}
          where c.client_id = '${clientId}'`,
        )
      await client(1, many, large / 10)
      await client(0, many, 20)
      await client(0, few, small)
      expect(await store.clients.count('owned', { userId: many }, most)).toBe(20)
      await expectAsQuick(
        () => store.clients.count('owned', { userId: many }, most),
        () => store.clients.count('owned', { userId: few }, most),
      )
    })

    test('the list of the devices of an application does not read revoked authorizations [T830]', async () => {
      const [many, few, clientId] = [await aUser(store), await aUser(store), await aClient(store)]
      const devices = async (userId: UserId, howMany: number, revokedAt: number | null) => {
        const first = next
        next += howMany
        const numbers = database.numbers(first, next - 1)
        await database.execute(
          `insert into oauth2server_authorization (id, client_key, user_id, scopes, created_at, expires_at, revoked_at)
          select i, ${clientKey(clientId)}, ${userId}, '', 1, 9e12, ${revokedAt} from ${numbers}`,
        )
        if (revokedAt !== null) return
        await database.execute(
          `insert into oauth2server_token (id, client_key, user_id, authorization_id, token_type, access_token, access_token_digest,
          expires, ends_at, scopes, is_personal, is_internal, created_at)
          select i, ${clientKey(clientId)}, ${userId}, i, 'bearer', 'x', 'digest-' || i, 9e12, 9e12, '', 0, 0, 1 from ${numbers}`,
        )
      }
      await devices(many, 20, null)
      await devices(many, large / 3, 2)
      await devices(many, small, null)
      await devices(few, small, null)
      const of = (userId: UserId) =>
        store.tokens.authorizedOf(userId, [clientId], 10, { limit: 10, countLimit: most })
      const listed = await of(many)
      expect(listed).toHaveLength(10)
      expect(listed[0]?.count).toBe(most)
      await expectAsQuick(
        () => of(many),
        () => of(few),
      )
      await expectAsQuick(
        () => store.authorizations.listExceeding(many, clientId, small - 2),
        () => store.authorizations.listExceeding(few, clientId, small - 2),
      )
    })
  })
})

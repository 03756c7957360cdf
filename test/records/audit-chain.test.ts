import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import {
  type AroundStore,
  type AuditDefect,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  createAuthorizationServer,
  type LogEntry,
  type StoreOpener,
  StoreUnavailable,
} from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { auditColumns } from '../../src/model/entities/audit-event.ts'
import { idRanges, idsOf } from '../../src/records/audit/audit-chain.ts'
import { databaseFolder } from '../support/database-folder.ts'
import { storeOf } from '../support/internals.ts'
import { makeDatabase } from '../support/postgres.ts'
import { secretKey } from '../support/server.ts'

const nextKey = 'the next secret key of more than 32 bytes'
const audit = 'oauth2server_audit'
const checkpoints = 'oauth2server_audit_checkpoint'
const cleanUps: (() => Promise<unknown>)[] = []

const cleanUp = async () => {
  for (const each of cleanUps.splice(0).reverse()) await each()
}
afterEach(cleanUp)

type Row = Record<string, unknown>

/** A database to which the test writes as an attacker without the secret key. */
interface Database {
  readonly opener: StoreOpener
  read(statement: string): Promise<readonly Row[]>
  /** The source database of a copy. */
  readonly name: string
}

/** Creates an empty database, or copies a database that no server has open. */
const newDatabase = {
  async sqlite(template?: string): Promise<Database> {
    const folder = await databaseFolder()
    cleanUps.push(() => rm(folder, { recursive: true }))
    const name = join(folder, 'audit.sqlite')
    if (template) await copyFile(template, name)
    const read = async (statement: string) => {
      using database = new DatabaseSync(name, { timeout: 5000 })
      return database.prepare(statement).all() as Row[]
    }
    return { opener: sqlite(name), read, name }
  },
  async postgres(template?: string): Promise<Database> {
    const { url, drop } = await makeDatabase(undefined, template)
    cleanUps.push(drop)
    let connection: Promise<Client> | undefined
    const connect = async () => {
      const client = new Client({ connectionString: url })
      cleanUps.push(() => client.end())
      await client.connect()
      return client
    }
    const read = async (statement: string) => {
      connection ??= connect()
      return (await (await connection).query(statement)).rows
    }
    return { opener: postgres(url, { poolSize: 3 }), read, name: new URL(url).pathname.slice(1) }
  },
}

const start = Date.UTC(2026, 10, 21)

/** Skips the deletion of expired rows in other tables, which would slow down the tests. */
const auditOnly: AroundStore = async ({ name }, run) =>
  /(?<!^audit)\.deleteExpired$/.test(name) ? (0 as never) : run()

const siteOn = ({ opener, read }: Database) => {
  const log: LogEntry[] = []
  let now = start
  const open = async (options: Partial<AuthorizationServerOptions> = {}) => {
    const server = await createAuthorizationServer({
      issuer: 'http://localhost:3000',
      secretKeys: [secretKey],
      store: opener,
      clock: () => now,
      sweepInterval: 0,
      log: (entry) => log.push(entry),
      aroundStore: auditOnly,
      ...options,
    })
    cleanUps.push(() => server.close())
    return server
  }
  return {
    run: async (statement: string) => void (await read(statement)),
    read,
    log,
    open,
    advance: (seconds: number) => {
      now += seconds * 1000
    },
  }
}

const write = async (server: AuthorizationServer, rows: number) => {
  for (let row = 0; row < rows; row += 1) await server.clients.create({ name: 'One', userId: null })
}

const verify = async (server: AuthorizationServer, head?: string) => {
  const found: AuditDefect[] = []
  const result = await server.activity.verify({ head, onDefect: (defect) => found.push(defect) })
  expect(result.defects).toBe(found.length)
  return { ...result, found: found.map(({ kind, ids }) => `${kind} ${ids}`) }
}

const literal = (value: unknown) =>
  value === null ? 'null' : `'${String(value).replaceAll("'", "''")}'`

test('parses the ranges of IDs that it formats', () => {
  expect(idRanges([])).toBe('')
  expect(idRanges([3, 4, 5, 9, 11, 12])).toBe('3-5,9,11-12')
  for (const ids of [[], [1], [3, 4, 5, 9, 11, 12]]) expect(idsOf(idRanges(ids))).toEqual(ids)
})

describe.each(['sqlite', 'postgres'] as const)(
  'the audit log on %s',
  { timeout: 600_000 },
  (kind) => {
    let template: Database
    const removals: (typeof cleanUps)[number][] = []

    beforeAll(async () => {
      template = await newDatabase[kind]()
      removals.push(...cleanUps.splice(0))
      const at = siteOn(template)
      const server = await at.open()
      for (let part = 0; part < 3; part += 1) {
        await write(server, 2)
        await server.sweep()
        at.advance(60)
      }
      await cleanUp()
    })

    afterAll(async () => {
      for (const remove of removals) await remove()
    })

    /**
     * Creates the rows 1 to 6. Checkpoint 1 covers the rows 1–2, checkpoint 2 the rows 3–4, checkpoint 3 the rows 5–6.
     */
    const sixRows = async () => {
      const at = siteOn(await newDatabase[kind](template.name))
      at.advance(180)
      const server = await at.open()
      const kept = new Map<string, readonly Row[]>()
      for (const table of [audit, checkpoints])
        kept.set(table, await at.read(`select * from ${table}`))
      const restore = async () => {
        for (const [table, rows] of kept) {
          await at.run(`delete from ${table}`)
          const names = Object.keys(rows[0] ?? {})
          const values = rows.map((row) => `(${names.map((name) => literal(row[name])).join()})`)
          await at.run(`insert into ${table} (${names.join()}) values ${values.join()}`)
        }
      }
      return { ...at, server, restore }
    }

    test('reports the checked rows and checkpoints, and the rows after the last checkpoint', async () => {
      const { server } = await sixRows()
      await write(server, 1)
      const { head, ...checked } = await verify(server)
      expect(checked).toEqual({
        checkpoints: 3,
        rows: 6,
        firstId: 1,
        lastId: 6,
        uncovered: { rows: 1, since: start + 180_000 },
        defects: 0,
        found: [],
      })
      expect(head).toMatch(/^3:[\w-]{43}$/)
    })

    test('finds a change of any column of a row and of a checkpoint [T605]', async () => {
      const { server, run, restore } = await sixRows()
      for (const column of auditColumns) {
        const isNumber = ['at', 'token_id', 'authorization_id', 'is_routine'].includes(column)
        await run(`update ${audit} set ${column} = ${isNumber ? 17 : "'x'"} where id = 3`)
        expect((await verify(server)).found, column).toEqual(['row_changed 3'])
        await restore()
      }
      await run(`update ${audit} set seal = (select seal from ${audit} where id = 4) where id = 3`)
      expect((await verify(server)).found).toEqual(['row_changed 3'])
      await restore()
      const numbers = ['at', 'after_id', 'last_id', 'latest_at', 'removed_up_to']
      for (const column of [...numbers, 'ids', 'rows_digest', 'forged', 'previous', 'seal']) {
        for (const number of [1, 2, 3]) {
          const value = numbers.includes(column) ? `${column} + 1` : "'9'"
          await run(`update ${checkpoints} set ${column} = ${value} where number = ${number}`)
          expect((await verify(server)).found, column).toContain(`checkpoint_changed ${number}`)
          await restore()
        }
      }
      expect((await verify(server)).found).toEqual([])
    })

    test('finds each deleted, inserted and moved row [T606]', async () => {
      const { server, run, restore } = await sixRows()
      const names = [...auditColumns, 'seal'].join()
      for (let id = 1; id <= 6; id += 1) {
        await run(`delete from ${audit} where id = ${id}`)
        expect((await verify(server)).found).toEqual([`row_removed ${id}`])
        // A row that was moved to another ID is reported as removed.
        await restore()
        await run(`update ${audit} set id = 90 where id = ${id}`)
        expect((await verify(server)).found).toEqual([`row_removed ${id}`])
        await restore()
      }
      await run(`insert into ${audit} (id,${names}) select 7,${names} from ${audit} where id = 2`)
      expect((await verify(server)).found).toEqual(['row_copied 7'])
      await restore()
      await run(`insert into ${audit} (id,${names}) select -1,${names} from ${audit} where id = 2`)
      expect((await verify(server)).found).toContain('row_inserted -1')
      await restore()
      for (const [a, b] of [
        [3, 4],
        [2, 5],
      ] as const) {
        await run(`update ${audit} set id = 99 where id = ${a}`)
        await run(`update ${audit} set id = ${a} where id = ${b}`)
        await run(`update ${audit} set id = ${b} where id = 99`)
        const { found } = await verify(server)
        expect(found).toEqual(
          a === 3 ? ['rows_changed 3-4'] : ['rows_changed 1-2', 'rows_changed 5-6'],
        )
        await restore()
      }
    })

    test('finds deleted and forged checkpoints, and finds deleted latest checkpoints with an earlier head [T607]', async () => {
      const { server, run, read, restore } = await sixRows()
      const { head } = await verify(server)
      expect((await verify(server, head ?? '')).found).toEqual([])
      for (const number of [1, 2]) {
        await run(`delete from ${checkpoints} where number = ${number}`)
        expect((await verify(server)).found).toEqual([`checkpoint_removed ${number}`])
        await restore()
      }
      await run(`delete from ${checkpoints} where number = 3`)
      await run(`delete from ${audit} where id > 4`)
      expect((await verify(server)).found).toEqual([])
      expect((await verify(server, head ?? '')).found).toEqual(['head_differs 3'])
      // A new checkpoint with the same number has another digest than the given head.
      await write(server, 1)
      await server.sweep()
      expect(await read(`select number from ${checkpoints}`)).toHaveLength(3)
      expect((await verify(server, head ?? '')).found).toEqual(['head_differs 3'])
      await restore()
      const names = Object.keys((await read(`select * from ${checkpoints}`))[0] ?? {})
      const others = names.filter((name) => name !== 'number').join()
      await run(
        `insert into ${checkpoints} (number,${others}) select 4,${others} from ${checkpoints} where number = 3`,
      )
      expect((await verify(server)).found).toEqual(['checkpoint_changed 4'])
      // The server's next checkpoint follows the forged checkpoint.
      await write(server, 1)
      await server.sweep()
      expect((await verify(server)).found).toEqual(['checkpoint_changed 4'])
      expect((await verify(server)).rows).toBe(7)
    })

    test('finds and logs rows that were written without the key before a checkpoint covered them', async () => {
      const { server, run, log } = await sixRows()
      await write(server, 2)
      await run(`update ${audit} set subject = 'another' where id = 7`)
      expect((await verify(server)).found).toEqual(['row_forged 7'])
      expect(log.filter(({ event }) => event === 'audit.tampered')).toEqual([])
      await server.sweep()
      expect(log.filter(({ event }) => event === 'audit.tampered')).toEqual([
        expect.objectContaining({ level: 'error', what: 'row', id: 7 }),
      ])
      expect((await verify(server)).found).toEqual(['row_forged 7'])
    })

    const inserted = [...auditColumns, 'seal'].join()

    test('covers rows after an inserted row with a very large ID, and finds their deletion [T821]', async () => {
      for (const id of ['9000000000', `${2 ** 44}`]) {
        const { server, run, read } = await sixRows()
        await run(
          `insert into ${audit} (id,${inserted}) select ${id},${inserted} from ${audit} where id = 2`,
        )
        await server.sweep()
        await write(server, 2)
        await server.sweep()
        expect((await verify(server)).found).toEqual([`row_forged ${id}`])
        const [last] = await read(`select max(id) as id from ${audit}`)
        expect(Number(last?.id)).toBe(Number(id) + 2)
        await run(`delete from ${audit} where id = ${last?.id}`)
        expect((await verify(server)).found).toContain(`row_removed ${last?.id}`)
        await cleanUp()
      }
    })

    test('covers rows after a row that was moved to a very large ID', async () => {
      const { server, run, read } = await sixRows()
      await write(server, 2)
      await run(`update ${audit} set id = 9000000000 where id = 7`)
      await server.sweep()
      await write(server, 1)
      await server.sweep()
      const { uncovered, lastId } = await verify(server)
      expect([uncovered.rows, lastId]).toEqual([0, 9_000_000_001])
      expect(await read(`select id from ${audit} where id between 9 and 8999999999`)).toEqual([])
    })

    test('covers new rows after the ID sequence of the database was reset to 1 [T822]', async () => {
      const { server, run, log } = await sixRows()
      // Retention or an attacker has deleted the rows, so their IDs are free.
      await run(`delete from ${audit}`)
      await run(
        kind === 'sqlite'
          ? 'delete from sqlite_sequence'
          : `select setval('${audit}_id_seq', 1, false)`,
      )
      await server.sweep()
      await write(server, 1)
      await server.sweep()
      const { uncovered, lastId } = await verify(server)
      expect([uncovered.rows, lastId]).toEqual([0, 7])
      expect(log).toContainEqual(expect.objectContaining({ event: 'audit.tampered', id: 6 }))
    })

    test('finds a row whose ID is too large for rows of a server [T823]', async () => {
      for (const id of [`${2 ** 44 + 100}`, '9007199254740993', '9223372036854775807']) {
        const { server, run } = await sixRows()
        // Write first, because SQLite cannot insert a row after the greatest possible ID.
        await write(server, 1)
        await run(
          `insert into ${audit} (id,${inserted}) select ${id},${inserted} from ${audit} where id = 2`,
        )
        await server.sweep()
        expect(await verify(server)).toMatchObject({ found: [`row_inserted ${id}`], lastId: 7 })
        await cleanUp()
      }
    })

    test('continues despite forged checkpoints with any number and any ID [T824]', async () => {
      const { server, run, read } = await sixRows()
      const [one = {}] = await read(`select * from ${checkpoints} where number = 3`)
      const { number: _, ...others } = one
      const values = Object.values(others).map(literal).join()
      const many = Array.from({ length: 1_100 }, (_, at) => 100_000 + at)
      const limits = ['0', `${2 ** 53 - 1}`, '9007199254740993', '9223372036854775807']
      const numbers = [...limits, '4', '5', ...many]
      await run(
        `insert into ${checkpoints} (number,${Object.keys(others).join()}) values ${numbers.map((each) => `(${each},${values})`).join()}`,
      )
      for (let round = 0; round < 2; round += 1) {
        await write(server, 1)
        await server.sweep()
      }
      const { found, rows, uncovered } = await verify(server)
      expect([rows, uncovered.rows]).toEqual([8, 0])
      expect(found.sort()).toEqual(numbers.map((number) => `checkpoint_changed ${number}`).sort())
      await run(`delete from ${audit} where id = 8`)
      expect((await verify(server)).found).toContain('row_removed 8')
    })

    test('deletes forged rows after the same time as other rows [T825]', async () => {
      const at = siteOn(await newDatabase[kind]())
      const server = await at.open({ auditExpiresIn: 600 })
      await write(server, 1)
      await at.run(`update ${audit} set subject = 'another'`)
      for (let round = 0; round < 3; round += 1) await server.sweep()
      expect((await verify(server)).found).toEqual(['row_forged 1'])
      at.advance(601)
      for (let round = 0; round < 3; round += 1) await server.sweep()
      expect(await at.read(`select id from ${audit}`)).toEqual([])
    })

    // An integer column in PostgreSQL cannot be infinite.
    if (kind === 'sqlite')
      test('reports a null column that became infinite as changed [T826]', async () => {
        const { server, run, open } = await sixRows()
        await run(`update ${audit} set token_id = 9e999 where id = 3`)
        await run(`update ${audit} set authorization_id = -9e999 where id = 5`)
        expect((await verify(server)).found).toEqual(['row_changed 3', 'row_changed 5'])
        expect(
          (await (await open({ secretKeys: [nextKey, secretKey] })).rotateSecretKeys()).isComplete,
        ).toBe(true)
        const after = await open({ secretKeys: [nextKey] })
        expect((await verify(after)).found).toEqual(['rows_changed 3-4', 'rows_changed 5-6'])
      })

    test('does not report concurrent writes and rollbacks of two nodes as tampering', async () => {
      const { open } = siteOn(await newDatabase[kind]())
      const nodes = [await open(), await open()] as const
      const writing = nodes.map(async (node) => {
        for (let round = 0; round < 8; round += 1) {
          await write(node, 1)
          const takenBack = node.transaction(async (tx) => {
            await tx.clients.create({ name: 'Taken back', userId: null })
            throw new Error('taken back')
          })
          await expect(takenBack).rejects.toThrow('taken back')
        }
      })
      await Promise.all([...writing, ...nodes.map((node) => node.sweep())])
      await Promise.all(nodes.map((node) => node.sweep()))
      await nodes[0].sweep()
      const { found, uncovered, rows } = await verify(nodes[1])
      expect(found).toEqual([])
      expect([rows, uncovered.rows]).toEqual([16, 0])
    })

    test('does not report retention, or an interrupted retention run, as tampering', async () => {
      const { server, open, read, advance } = await sixRows()
      const { head } = await verify(server)
      let isAway = true
      const sweeping = await open({
        auditExpiresIn: 121,
        async aroundStore(operation, run) {
          if (isAway && operation.name === 'audit.deleteExpired')
            throw new StoreUnavailable(operation.name)
          return auditOnly(operation, run)
        },
      })
      await sweeping.sweep().catch(() => undefined)
      // A checkpoint has declared the removal, but the rows still exist.
      expect(await read(`select id from ${audit}`)).toHaveLength(6)
      expect((await verify(server)).found).toEqual([])
      isAway = false
      await sweeping.sweep()
      const left = await read(`select id from ${audit} order by id`)
      expect(left.map(({ id }) => Number(id))).toEqual([3, 4, 5, 6])
      expect((await verify(server, head ?? '')).found).toEqual([])
      advance(1_000)
      await write(sweeping, 1)
      await sweeping.sweep()
      await sweeping.sweep()
      expect(await read(`select id from ${audit}`)).toHaveLength(1)
      expect((await verify(server)).found).toEqual([])
      expect((await verify(server, '1:'.padEnd(45, 'x'))).found).toEqual(['head_expired 1'])
    })

    test('the sweeper removes expired rows after more changed checkpoints than it reads at once [T4113]', async () => {
      const { server, open, read, run, advance } = await sixRows()
      const [last] = await read(`select * from ${checkpoints} order by number desc limit 1`)
      const names = Object.keys(last ?? {})
      const copy = (number: number) =>
        `(${names.map((name) => literal(name === 'number' ? number : last?.[name])).join()})`
      const first = Number(last?.number) + 1
      const forged = Array.from({ length: 250 }, (_, index) => copy(first + index))
      await run(`insert into ${checkpoints} (${names.join()}) values ${forged.join()}`)
      await write(server, 2)
      const sweeping = await open({ auditExpiresIn: 121 })
      await sweeping.sweep()
      advance(10_000)
      await sweeping.sweep()
      await sweeping.sweep()
      expect(await read(`select id from ${audit}`)).toEqual([])
    })

    test('the sweeper stops when every event has expired', async () => {
      const { server, open, read, advance } = await sixRows()
      const sweeping = await open({ auditExpiresIn: 121 })
      advance(10_000)
      await sweeping.sweep()
      await sweeping.sweep()
      expect(await read(`select id from ${audit}`)).toHaveLength(0)
      expect((await verify(server)).found).toEqual([])
    })

    test('remains verifiable after a key rotation, even without the previous key', async () => {
      const { server, open, run } = await sixRows()
      await write(server, 1)
      const { head } = await verify(server)
      const rotating = await open({ secretKeys: [nextKey, secretKey] })
      expect((await rotating.rotateSecretKeys()).isComplete).toBe(true)
      const after = await open({ secretKeys: [nextKey] })
      expect(await verify(after, head ?? '')).toMatchObject({ found: [], rows: 7 })
      await run(`update ${audit} set subject = 'another' where id = 3`)
      // Without the previous key, the server cannot determine which row was changed.
      expect((await verify(after)).found).toEqual(['rows_changed 3-4'])
    })

    test('does not report the deletion of a user as tampering', async () => {
      const { server, read } = await sixRows()
      const { id } = await server.users.create({ email: 'a@example.org', password: null })
      await server.clients.create({ name: 'Theirs', userId: id })
      await server.sweep()
      await server.users.delete(id)
      await server.sweep()
      expect((await verify(server)).found).toEqual([])
      expect(await read(`select id from ${audit} where user_id = '${id}'`)).not.toHaveLength(0)
    })

    test('reads a long log in batches', async () => {
      const { server, run, read } = await sixRows()
      const rows = Array.from({ length: 2_300 }, () => ({ name: 'x' }))
      const [first] = (await server.activity.search({}, { after: null, limit: 1 })).items
      await storeOf(server).audit.addMany(
        rows.map(() => ({ ...first, details: {}, event: 'user.created', seal: 'none' }) as never),
      )
      await server.sweep()
      const { checkpoints: made, rows: covered, defects } = await verify(server)
      expect([made, covered, defects]).toEqual([6, 2_306, 2_300])
      await run(`delete from ${audit} where id = 2000`)
      expect((await verify(server)).found).toContain('row_removed 2000')
      expect(await read(`select number from ${checkpoints}`)).toHaveLength(6)
    })
  },
)

test('waits for a transaction with a lower ID that commits later', async () => {
  const { open } = siteOn(await newDatabase.postgres())
  const [one, other] = [await open(), await open()]
  const { promise: hasWritten, resolve: wrote } = Promise.withResolvers<void>()
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>()
  const slow = one.transaction(async (tx) => {
    await tx.clients.create({ name: 'Slow', userId: null })
    wrote()
    await mayCommit
  })
  await hasWritten
  await write(other, 2)
  await other.sweep()
  const before = await verify(other)
  commit()
  await slow
  expect(before).toMatchObject({ found: [], rows: 0, uncovered: { rows: 2 } })
  await other.sweep()
  expect(await verify(one)).toMatchObject({ found: [], rows: 3, uncovered: { rows: 0 } })
})

import {
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Kysely, sql } from 'kysely'
import { StoreUnavailable, StoreUnusable } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newHandle } from '../../src/store/sql/handle.ts'
import { sqlStore } from '../../src/store/sql/sql-store.ts'
import { SqliteDatabase } from '../../src/store/sql/sqlite/database.ts'
import { sqliteDialect } from '../../src/store/sql/sqlite/dialect.ts'
import type { Tables } from '../../src/store/sql/tables.ts'
import { execute, query } from '../support/database.ts'
import { lastMigration, migrationNames } from '../support/migrations.ts'
import { largeKeys } from './large-keys.ts'
import { aClient, aUser, clientRow, runConcurrently, text, userRow } from './rows.ts'
import type { Done, Task } from './writer.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oauth2server-sqlite-'))
})
afterAll(() => rm(folder, { recursive: true }))

const everyMigration = migrationNames.map((name) => ({ name, direction: 'up' }))

const newPath = () => join(folder, text(), 'test.sqlite')
const open = async (path = newPath()) => {
  const store = await sqlite(path).open()
  await store.migrate()
  return Object.assign(store, { path, [Symbol.asyncDispose]: () => store.close() })
}

/** Counts the ticks of an interval during the work. */
const ticksDuring = async <T>(work: () => Promise<T>): Promise<{ result: T; ticks: number }> => {
  let ticks = 0
  const timer = setInterval(() => {
    ticks += 1
  }, 5)
  try {
    return { result: await work(), ticks }
  } finally {
    clearInterval(timer)
  }
}

describe('opening', () => {
  test('creates a database and journal files that only the owner can read, and the folder for them', async () => {
    await using store = await open()
    await aClient(store)
    for (const file of [store.path, `${store.path}-wal`, `${store.path}-shm`])
      expect((await stat(file)).mode & 0o777, file).toBe(0o600)
  })

  test('uses a write-ahead log', async () => {
    await using store = await open()
    expect(query(store.path, 'pragma journal_mode')).toEqual([{ journal_mode: 'wal' }])
  })

  test('shrinks the write-ahead log that grew during a long read', async () => {
    await using store = await open()
    const size = async () => (await stat(`${store.path}-wal`)).size
    const reader = new DatabaseSync(store.path)
    reader.exec('begin; select * from oauth2server_transient')
    const write = async (times: number) => {
      for (let time = 0; time < times; time += 1)
        await store.transients.set(
          'key',
          String.fromCharCode(97 + (time % 26)).repeat(200_000),
          10,
          0,
        )
    }
    await write(150)
    const grown = await size()
    expect(grown).toBeGreaterThan(25_000_000)
    reader.exec('rollback')
    reader.close()
    await write(3)
    expect(await size()).toBeLessThan(grown / 2)
  })

  test('copies the write-ahead log to the database file in another thread [T4812]', async () => {
    await using store = await open()
    // These writes take fewer than the 4,000 pages after which a commit copies the log itself.
    for (let time = 0; time < 600; time += 1)
      await store.transients.set(`key ${time}`, 'x'.repeat(5_000), 10, 0)
    await vi.waitFor(
      async () => expect((await stat(store.path)).size).toBeGreaterThan(2_000_000),
      10_000,
    )
    expect((await stat(`${store.path}-wal`)).size).toBeLessThan(4_000 * 4_096)
  })

  test('close() closes every connection, also of the thread that has only copied the write-ahead log [T4815]', async () => {
    const store = await open()
    const isOpen = async () => {
      const files = (await readdir('/proc/self/fd')).map((fd) => `/proc/self/fd/${fd}`)
      const targets = await Promise.all(files.map((file) => readlink(file).catch(() => '')))
      return targets.filter((target) => target === store.path).length
    }
    const before = await isOpen()
    for (let time = 0; time < 600; time += 1)
      await store.transients.set(`key ${time}`, 'x'.repeat(5_000), 10, 0)
    await vi.waitFor(async () => expect(await isOpen()).toBeGreaterThan(before), 10_000)
    await store.close()
    expect(await isOpen()).toBe(0)
  })

  test.each([
    ['a file that is not a database', async (path: string) => writeFile(path, 'x'.repeat(10_000))],
    ['a folder', (path: string) => mkdir(path)],
  ])('rejects %s with a message of one line that contains the path', async (_, make) => {
    const path = join(folder, text())
    await make(path)
    const failure = await sqlite(path)
      .open()
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreUnusable)
    expect(String(failure)).toContain(path)
    expect(String(failure)).not.toContain('\n')
  })

  test('rejects a folder that cannot be created, with a message that contains the path', async () => {
    const file = join(folder, text())
    await writeFile(file, '')
    const failure = await sqlite(join(file, 'test.sqlite'))
      .open()
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreUnusable)
    expect(String(failure)).toContain(file)
  })

  test('creates one schema if three stores open a new file concurrently', async () => {
    const path = newPath()
    const stores = await Promise.all([
      sqlite(path).open(),
      sqlite(path).open(),
      sqlite(path).open(),
    ])
    const applied = await Promise.all(stores.map((store) => store.migrate()))
    const byName = (one: { name: string }, other: { name: string }) =>
      one.name < other.name ? -1 : 1
    expect(applied.flat().toSorted(byName)).toEqual(everyMigration)
    for (const store of stores) {
      await aUser(store)
      await store.close()
    }
  })
})

describe('migrations', () => {
  test('a dry run reports the migrations, and applies none', async () => {
    const path = newPath()
    const store = await sqlite(path).open()
    expect(await store.migrate({ dryRun: true })).toEqual(everyMigration)
    expect(query(path, "select name from sqlite_master where name = 'oauth2server_token'")).toEqual(
      [],
    )
    await store.migrate()
    expect(await store.migrate({ dryRun: true })).toEqual([])
    await store.close()
  })

  test('rejects an unknown migration, even if its name is a property of every JavaScript object', async () => {
    await using store = await open()
    for (const to of ['nope', 'toString', '__proto__'])
      await expect(store.migrate({ to })).rejects.toThrow(StoreUnusable)
  })

  test('rejects a database of a newer version, names that version in the error, and does not change the database', async () => {
    const store = await open()
    await store.close()
    execute(store.path, "insert into oauth2server_migration values ('9999-future', '2030-01-01')")
    const before = await readFile(store.path)
    const later = await sqlite(store.path).open()
    for (const options of [{}, { dryRun: true }, { to: lastMigration }])
      await expect(later.migrate(options)).rejects.toThrow(/newer version.*9999-future/)
    await expect(later.migrate()).rejects.toThrow(StoreUnusable)
    await later.close()
    expect((await readFile(store.path)).equals(before)).toBe(true)
  })

  test('a failed migration is rolled back completely', async () => {
    const path = newPath()
    await mkdir(join(path, '..'))
    // The last table of the migration already exists, so the migration fails at its last step.
    const database = new DatabaseSync(path)
    database.exec('create table oauth2server_secret_key (x)')
    database.close()
    const store = await sqlite(path).open()
    await expect(store.migrate()).rejects.toThrow()
    await store.close()
    expect(query(path, "select name from sqlite_master where name = 'oauth2server_user'")).toEqual(
      [],
    )
  })
})

describe('while another connection holds the lock', () => {
  const locked = async <T>(path: string, work: (release: () => void) => Promise<T>): Promise<T> => {
    const holder = new DatabaseSync(path)
    holder.exec('begin immediate')
    let isHeld = true
    const release = () => {
      if (isHeld) holder.exec('rollback')
      isHeld = false
    }
    try {
      return await work(release)
    } finally {
      release()
      holder.close()
    }
  }

  test('all waiting operations throw StoreUnavailable after the same time as one operation, without blocking the event loop', async () => {
    await using store = await open()
    await using alone = await open()
    const clientId = await aClient(store)
    const control = await locked(alone.path, () =>
      ticksDuring(() => Promise.allSettled([alone.users.insert(userRow())])),
    )
    await locked(store.path, async () => {
      const attempts = [
        () => store.users.insert(userRow()),
        () => store.transaction((tx) => tx.clients.delete(clientId, 1)),
        () => store.clients.delete(clientId, 1),
        () => store.transients.put('x', 'x', 10, 0),
        () => store.transaction(async () => undefined),
      ]
      const { result, ticks } = await ticksDuring(() =>
        Promise.allSettled(attempts.map((attempt) => attempt())),
      )
      for (const outcome of result) {
        expect(outcome.status).toBe('rejected')
        expect(outcome.status === 'rejected' && outcome.reason).toBeInstanceOf(StoreUnavailable)
      }
      // A blocked event loop has no ticks. The operations wait concurrently, so they take about as long as one.
      expect(control.ticks).toBeGreaterThan(20)
      expect(ticks).toBeGreaterThan(20)
      expect(ticks).toBeLessThan(3 * control.ticks)
    })
    expect(await store.clients.find(clientId)).toBeDefined()
    expect(await store.clients.delete(clientId, 1)).toBe(true)
  })

  test('a write waits until the lock is released and succeeds, and reads do not wait', async () => {
    await using store = await open()
    const clientId = await aClient(store)
    await locked(store.path, async (release) => {
      const write = store.clients.delete(clientId, 1)
      // The lock is released only after this read.
      expect(await store.clients.find(clientId)).toBeDefined()
      // Fixed time: the write waits for the lock.
      await delay(100)
      release()
      expect(await write).toBe(true)
    })
  })

  test('a call after an earlier timeout waits again, and succeeds when the lock is released', async () => {
    await using store = await open()
    const clientId = await aClient(store)
    await locked(store.path, () =>
      expect(store.clients.delete(clientId, 1)).rejects.toThrow(StoreUnavailable),
    )
    // Fixed time: the operation stays late after the timeout.
    await delay(300)
    await locked(store.path, async (release) => {
      const write = store.clients.delete(clientId, 1)
      // Fixed time: the write waits for the lock.
      await delay(300)
      release()
      expect(await write).toBe(true)
    })
  })
})

describe('faults', () => {
  test('a file that is damaged while it is open causes StoreUnavailable, not a rejected credential', async () => {
    await using store = await open()
    await runConcurrently(50, () => aClient(store, { description: 'x'.repeat(4_000) }))
    execute(store.path, 'delete from oauth2server_user')
    execute(store.path, 'pragma wal_checkpoint(truncate)')
    const file = await openFile(store.path, 'r+')
    await file.write(Buffer.alloc(200_000, 'x'), 0, undefined, 4_096)
    await file.close()
    execute(store.path, 'pragma user_version = 1')
    for (const attempt of [
      () => store.clients.find('x'),
      () => store.clients.insert(clientRow()),
      () => store.transaction((tx) => tx.clients.insert(clientRow())),
    ])
      await expect(attempt()).rejects.toThrow(StoreUnavailable)
  })

  test('a full disk causes StoreUnavailable, also inside a transaction, and operations succeed when the disk has space', async () => {
    const database = new DatabaseSync(':memory:')
    const db = new Kysely<Tables>({ dialect: sqliteDialect(new SqliteDatabase(database)) })
    const types = { id: 'integer', userKey: 'integer' } as const
    const store = sqlStore(
      newHandle({
        read: db,
        write: db,
        purge: db,
        users: 'built-in',
        types,
        locking: false,
        hot: undefined,
      }),
    )
    await store.migrate()
    const big = { description: 'x'.repeat(200_000) }
    const pages = Number(Object.values(database.prepare('pragma page_count').get() ?? {})[0])
    database.exec(`pragma max_page_count = ${pages + 5}`)
    await expect(store.clients.insert(clientRow(big))).rejects.toThrow(StoreUnavailable)
    const fill = async (tx: Pick<typeof store, 'clients'>) => {
      await tx.clients.insert(clientRow())
      await tx.clients.insert(clientRow(big))
    }
    await expect(store.transaction(fill)).rejects.toThrow(StoreUnavailable)
    await expect(store.transaction((tx) => tx.transaction(fill))).rejects.toThrow(StoreUnavailable)
    database.exec('pragma max_page_count = 100000')
    expect(database.prepare('select count(*) as n from oauth2server_client').get()).toEqual({
      n: 0,
    })
    await store.transaction(fill)
    expect(database.prepare('select count(*) as n from oauth2server_client').get()).toEqual({
      n: 2,
    })
    await store.close()
  })

  test('reports the error that made SQLite roll back by itself, instead of the error that no transaction is active', async () => {
    const db = new Kysely<Tables>({
      dialect: sqliteDialect(new SqliteDatabase(new DatabaseSync(':memory:'))),
    })
    await sql`create table t (x integer primary key on conflict rollback)`.execute(db)
    const twice = db.transaction().execute(async (tx) => {
      await sql`insert into t values (1)`.execute(tx)
      await sql`insert into t values (1)`.execute(tx)
    })
    await expect(twice).rejects.toThrow(expect.objectContaining({ name: 'UniqueViolation' }))
    await db.destroy()
  })
})

test('three threads on one file together redeem each code once, take each value once, and get each number of a shared counter once', async () => {
  await using store = await open()
  const clientId = await aClient(store)
  const codes = Array.from({ length: 30 }, () => text())
  for (const code of codes) await store.transients.put(code, 'value', 10, 0)
  const task: Task = { path: store.path, clientId, codes }
  const done = await runConcurrently(3, (index) => {
    const shuffled = index % 2 === 0 ? codes : codes.toReversed()
    const worker = new Worker(new URL('./writer.ts', import.meta.url), {
      workerData: { ...task, codes: shuffled },
    })
    return new Promise<Done>((resolve, reject) =>
      worker.once('message', resolve).once('error', reject),
    )
  })
  expect(done.flatMap(({ redeemed }) => redeemed).sort()).toEqual([...codes].sort())
  expect(done.flatMap(({ taken }) => taken).sort()).toEqual([...codes].sort())
  expect(done.flatMap(({ numbers }) => numbers).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 90 }, (_, index) => index + 1),
  )
  expect(query(store.path, 'select count(*) as n from oauth2server_authorization')).toEqual([
    { n: 30 },
  ])
})

test('a user key beyond the safe integers matches no other user', async () => {
  const path = newPath()
  await mkdir(dirname(path))
  await largeKeys(sqlite(path), async (statement) => execute(path, statement))
})

import { randomInt } from 'node:crypto'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import {
  ReferenceNotFound,
  StoreUnavailable,
  StoreUnusable,
  UniqueViolation,
} from '../../contract/errors.ts'

// node:sqlite blocks the event loop for the whole busy timeout, so it is short, and we wait outside.
const busyTimeout = 10
const longestWait = 2_000
/**
 * Bytes that the write-ahead log keeps after a checkpoint. It grows while another program reads for long, and is
 * truncated by the first write after the checkpoint that follows. Usually it has 4 MB.
 */
const longestLog = 8_388_608
/** Milliseconds between two attempts after which the second meets another lock. */
const sameLock = 200

const extendedCode = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0

const BUSY = 5
const LOCKED = 6
const NOTADB = 26
const CONSTRAINT_UNIQUE = 2067
const CONSTRAINT_PRIMARYKEY = 1555
const CONSTRAINT_FOREIGNKEY = 787
/** READONLY, INTERRUPT, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL: the file, not the statement, is at fault. */
const outages = new Set([8, 9, 10, 11, 13, 14, 15, NOTADB])

export interface StatementResult {
  readonly rows: Record<string, unknown>[]
  readonly changes: bigint
}

interface Prepared {
  readonly statement: StatementSync
  readonly reads: boolean
  /** Whether its integers come as bigint, which costs more, and loses none. */
  isExact: boolean
}

/** One connection of `node:sqlite` with its prepared statements, whose waiting does not block the event loop. */
export class SqliteDatabase {
  readonly #database: DatabaseSync
  readonly #lock = new ForeignLock()
  #inTransaction = false
  readonly #statements = new Map<string, Prepared>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** @throws StoreUnavailable after two seconds of a locked database, or where the file is at fault */
  async run(sql: string, parameters: readonly unknown[]): Promise<StatementResult> {
    return retryWhileBusy(() => this.#execute(sql, parameters as SQLInputValue[]), this.#lock)
  }

  /** The same within a transaction that holds the lock already: at once, and without waiting for anybody. */
  now(sql: string, parameters: readonly unknown[]): StatementResult {
    try {
      return this.#execute(sql, parameters as SQLInputValue[])
    } catch (error) {
      throw asStoreError(error) ?? unavailable(error)
    }
  }

  /** Does all of it in one transaction, or nothing. @throws what one of them throws */
  async together<T>(works: readonly (() => T)[]): Promise<readonly T[]> {
    await this.begin()
    let results: readonly T[]
    try {
      results = works.map((work) => work())
    } catch (error) {
      await this.rollback()
      throw error
    }
    try {
      await this.commit()
    } catch (error) {
      await this.rollback()
      throw error
    }
    return results
  }

  async begin(): Promise<void> {
    // The write lock at once: a deferred transaction that reads first fails where it then writes.
    await this.run('begin immediate', [])
    this.#inTransaction = true
  }

  async commit(): Promise<void> {
    await this.run('commit', [])
    this.#inTransaction = false
  }

  async rollback(): Promise<void> {
    this.#inTransaction = false
    // SQLite rolls back by itself where the disk is full or broken; the reason of that is on its way already.
    if (this.#database.isTransaction) await this.run('rollback', [])
  }

  close(): void {
    this.#statements.clear()
    if (this.#database.isOpen) this.#database.close()
  }

  #execute(sql: string, parameters: SQLInputValue[]): StatementResult {
    // What belongs to a transaction is never written without it.
    if (this.#inTransaction && !this.#database.isTransaction) throw unavailable()
    const prepared = this.#prepared(sql)
    const { statement, reads } = prepared
    if (reads) {
      const rows = all(prepared, parameters)
      return { rows, changes: BigInt(rows.length) }
    }
    const { changes } = statement.run(...parameters)
    return { rows: [], changes: BigInt(changes) }
  }

  #prepared(sql: string) {
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.#database.prepare(sql)
    const columns = statement.columns()
    const entry: Prepared = { statement, reads: columns.length > 0, isExact: false }
    // What has written cannot be asked again.
    if (!isSelect(sql) && columns.some(({ column }) => column === 'user_id')) makeExact(entry)
    // Statements are few and fixed; a batch size that varies must not fill the memory all the same.
    if (this.#statements.size >= 500) this.#statements.clear()
    this.#statements.set(sql, entry)
    return entry
  }
}

const isSelect = (sql: string): boolean => /^\s*(?:select|with)\b/i.test(sql)

const makeExact = (prepared: Prepared): void => {
  prepared.statement.setReadBigInts(true)
  prepared.isExact = true
}

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_OUT_OF_RANGE'

/**
 * The rows. A key of the application's own users that is beyond 2^53 is text, as on PostgreSQL: the nearest
 * number is somebody else's.
 */
const all = (prepared: Prepared, parameters: SQLInputValue[]): Record<string, unknown>[] => {
  const { statement } = prepared
  if (!prepared.isExact) {
    try {
      return statement.all(...parameters)
    } catch (error) {
      if (!isTooLarge(error)) throw error
      makeExact(prepared)
    }
  }
  const rows = statement.all(...parameters) as Record<string, unknown>[]
  for (const row of rows)
    for (const name in row) if (typeof row[name] === 'bigint') row[name] = integer(row[name])
  return rows
}

const integer = (value: bigint): number | string => {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

/** How long the lock of another connection has been met by all who wait for it, one behind the other. */
class ForeignLock {
  #since = 0
  #last = Number.NEGATIVE_INFINITY

  /** @returns for how many milliseconds it has been met without a break */
  met(): number {
    const now = performance.now()
    if (now - this.#last > sameLock) this.#since = now
    this.#last = now
    return now - this.#since
  }

  free(): void {
    this.#last = Number.NEGATIVE_INFINITY
  }
}

/** Tries again with jitter while another connection holds the lock. */
const retryWhileBusy = async <T>(attempt: () => T, lock = new ForeignLock()): Promise<T> => {
  const started = performance.now()
  for (;;) {
    try {
      const result = attempt()
      lock.free()
      return result
    } catch (error) {
      const known = asStoreError(error)
      if (known) throw known
      const waited = Math.max(lock.met(), performance.now() - started)
      if (waited > longestWait) throw unavailable(error)
    }
    await delay(randomInt(1, 16))
  }
}

/** Translates an error of SQLite to an error of the store contract; undefined for a lock, which is retried. */
const asStoreError = (error: unknown): unknown => {
  const extended = extendedCode(error)
  const code = extended & 0xff
  if (extended === CONSTRAINT_UNIQUE || extended === CONSTRAINT_PRIMARYKEY)
    return new UniqueViolation()
  if (extended === CONSTRAINT_FOREIGNKEY)
    return new ReferenceNotFound('A row refers to one that is gone.')
  if (outages.has(code)) return unavailable(error)
  return isLocked(error) ? undefined : error
}

/** Whether another connection holds the lock. */
export const isLocked = (error: unknown): boolean => {
  const code = extendedCode(error) & 0xff
  return code === BUSY || code === LOCKED
}

const unavailable = (cause?: unknown): StoreUnavailable =>
  new StoreUnavailable('The database cannot be used right now.', { cause })

export const openDatabase = async (
  path: string,
  { synchronous }: { synchronous: 'NORMAL' | 'FULL' },
): Promise<SqliteDatabase> => {
  try {
    return await retryWhileBusy(() => {
      const database = new DatabaseSync(path, {
        timeout: busyTimeout,
        enableForeignKeyConstraints: true,
      })
      try {
        database.exec(
          `pragma journal_mode = wal; pragma synchronous = ${synchronous}; pragma journal_size_limit = ${longestLog}`,
        )
      } catch (error) {
        database.close()
        throw error
      }
      return new SqliteDatabase(database)
    })
  } catch (error) {
    const cause = error instanceof StoreUnavailable ? error.cause : error
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StoreUnusable(`The database file ${path} cannot be opened (${reason}).`, {
      cause: error,
    })
  }
}

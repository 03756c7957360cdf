import { randomInt } from 'node:crypto'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import {
  ReferenceNotFound,
  StoreUnavailable,
  StoreUnusable,
  UniqueViolation,
} from '../../contract/errors.ts'

// The busy timeout in milliseconds. While SQLite waits for a lock, it blocks the event loop. The timeout is therefore
// short, and retries are asynchronous.
const busyTimeout = 10
const maxWait = 2_000
/**
 * The number of statements after which a checkpoint is due. The statements of code exchanges write about 1,500 pages of
 * 4,096 bytes.
 */
const statementsPerCheckpoint = 500
/**
 * The size of the write-ahead log, in pages, from which each commit runs a checkpoint itself. The log reaches this size
 * if no other thread runs checkpoints, or if they are too slow.
 */
const autoCheckpoint = 4_000
/**
 * The maximum size of the write-ahead log after a checkpoint, in bytes. The log usually has at most 16 MB, and grows while
 * another program reads for a long time. The first write after the next checkpoint truncates the log.
 */
const maxLogBytes = 8_388_608
/** The maximum time between two failed attempts that count as one continuous lock, in milliseconds. */
const maxLockGap = 200

const extendedCode = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0

const BUSY = 5
const LOCKED = 6
const NOTADB = 26
const CONSTRAINT_UNIQUE = 2067
const CONSTRAINT_PRIMARYKEY = 1555
const CONSTRAINT_FOREIGNKEY = 787
/**
 * The codes READONLY, INTERRUPT, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL and NOTADB. The statement does not cause
 * these errors.
 */
const outages = new Set([8, 9, 10, 11, 13, 14, 15, NOTADB])

export interface StatementResult {
  readonly rows: Record<string, unknown>[]
  readonly changes: bigint
  /** The ID of the last row that this connection has inserted, if the statement returns no rows. */
  readonly lastId?: number
}

interface Prepared {
  readonly statement: StatementSync
  readonly reads: boolean
  /** Whether integers are read as bigint, which is slower but exact for large numbers. */
  isExact: boolean
}

/** A connection of `node:sqlite` with prepared statements. Waits for locks asynchronously. */
export class SqliteDatabase {
  readonly #database: DatabaseSync
  readonly #lock = new ForeignLock()
  #inTransaction = false
  readonly #statements = new Map<string, Prepared>()
  #sinceCheckpoint = 0
  /** Is called after a commit if a checkpoint is due. */
  onCheckpointDue: (() => void) | undefined

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /**
   * Runs a statement, and retries it while another connection holds the lock.
   * @throws StoreUnavailable if the database remains locked for two seconds, or if the file is unusable
   */
  async run(sql: string, parameters: readonly unknown[]): Promise<StatementResult> {
    return retryWhileBusy(() => this.#execute(sql, parameters as SQLInputValue[]), this.#lock)
  }

  /** Runs a statement synchronously in a transaction that already holds the write lock. */
  now(sql: string, parameters: readonly unknown[]): StatementResult {
    try {
      return this.#execute(sql, parameters as SQLInputValue[])
    } catch (error) {
      throw asStoreError(error) ?? unavailable(error)
    }
  }

  /** Like `now`, for an insert of one row. @returns the ID of the row; undefined if no row was inserted */
  insert(sql: string, parameters: readonly unknown[]): number | undefined {
    const { changes, lastId } = this.now(sql, parameters)
    return changes === 0n ? undefined : lastId
  }

  /**
   * Runs all functions in one transaction. If a function throws, nothing is written.
   * @throws the error of the function or of the transaction
   */
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
    // Take the write lock immediately: a deferred transaction that reads first may fail when it writes.
    await this.run('begin immediate', [])
    this.#inTransaction = true
  }

  async commit(): Promise<void> {
    await this.run('commit', [])
    this.#inTransaction = false
  }

  async rollback(): Promise<void> {
    this.#inTransaction = false
    // If the disk is full or broken, SQLite may have rolled back already. A `rollback` would then fail.
    if (this.#database.isTransaction) await this.run('rollback', [])
  }

  close(): void {
    this.#statements.clear()
    if (this.#database.isOpen) this.#database.close()
  }

  #execute(sql: string, parameters: SQLInputValue[]): StatementResult {
    // If SQLite has already rolled back, do not run the remaining statements outside of the transaction.
    if (this.#inTransaction && !this.#database.isTransaction) throw unavailable()
    const result = resultOf(this.#prepared(sql), parameters)
    this.#sinceCheckpoint += 1
    if (this.#sinceCheckpoint >= statementsPerCheckpoint && !this.#database.isTransaction) {
      this.#sinceCheckpoint = 0
      this.onCheckpointDue?.()
    }
    return result
  }

  #prepared(sql: string) {
    const existing = this.#statements.get(sql)
    if (existing) return existing
    const statement = this.#database.prepare(sql)
    const columns = statement.columns()
    const entry: Prepared = { statement, reads: columns.length > 0, isExact: false }
    // Reading an integer beyond 2^53 as a number throws. A select can then be repeated with bigint. A write cannot be
    // repeated, so use bigint from the first run.
    if (!isSelect(sql) && columns.some(({ column }) => column === 'user_id')) makeExact(entry)
    // Most texts are fixed, but a statement for a batch has a different text for each size. The limit bounds the
    // memory.
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

const resultOf = (prepared: Prepared, parameters: SQLInputValue[]): StatementResult => {
  if (prepared.reads) {
    const rows = all(prepared, parameters)
    return { rows, changes: BigInt(rows.length) }
  }
  const { changes, lastInsertRowid } = prepared.statement.run(...parameters)
  return { rows: [], changes: BigInt(changes), lastId: Number(lastInsertRowid) }
}

/**
 * Returns the rows. A user key of the application beyond 2^53 becomes text, as on PostgreSQL, because the nearest
 * number could be the key of another user.
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

/** Measures for how long another connection has held the lock. All waiting callers share the measurement. */
class ForeignLock {
  #since = 0
  #last = Number.NEGATIVE_INFINITY

  /** Records a failed attempt. @returns the milliseconds since the first of consecutive failed attempts */
  recordWait(): number {
    const now = performance.now()
    if (now - this.#last > maxLockGap) this.#since = now
    this.#last = now
    return now - this.#since
  }

  free(): void {
    this.#last = Number.NEGATIVE_INFINITY
  }
}

/** Retries after random delays while another connection holds the lock. */
const retryWhileBusy = async <T>(attempt: () => T, lock = new ForeignLock()): Promise<T> => {
  const started = performance.now()
  for (;;) {
    try {
      const result = attempt()
      lock.free()
      return result
    } catch (error) {
      const storeError = asStoreError(error)
      if (storeError) throw storeError
      const waited = Math.max(lock.recordWait(), performance.now() - started)
      if (waited > maxWait) throw unavailable(error)
    }
    await delay(randomInt(1, 16))
  }
}

/**
 * Converts an error of SQLite to an error of the store contract; keeps other errors. Returns undefined for a lock,
 * because the caller then retries.
 */
const asStoreError = (error: unknown): unknown => {
  const extended = extendedCode(error)
  const code = extended & 0xff
  if (extended === CONSTRAINT_UNIQUE || extended === CONSTRAINT_PRIMARYKEY)
    return new UniqueViolation()
  if (extended === CONSTRAINT_FOREIGNKEY)
    return new ReferenceNotFound('A referenced row no longer exists.')
  if (outages.has(code)) return unavailable(error)
  return isLocked(error) ? undefined : error
}

/** Returns whether an error means that another connection holds the lock. */
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
          `pragma journal_mode = wal; pragma synchronous = ${synchronous};
          pragma wal_autocheckpoint = ${autoCheckpoint}; pragma journal_size_limit = ${maxLogBytes}`,
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

import type { PoolConfig } from 'pg'
import { flag, onlyMembers, text, timeout, whole } from '../model/members.ts'
import { StoreUnavailable, StoreUnusable } from './contract/errors.ts'
import { LockRetries, lockTimeout } from './sql/lock-retries.ts'
import {
  type PostgresConnections,
  PostgresDialect,
  type TransactionCommands,
} from './sql/postgres/dialect.ts'
import {
  idleTimeout,
  MigrationAdapter,
  tableLockTimeout,
  whenTablesAreFree,
} from './sql/postgres/migrate.ts'
import { hostConnections, type PooledConnections, pooledConnections } from './sql/postgres/pool.ts'
import { postgresStore } from './sql/postgres/store.ts'
import type { PostgresPool, StoreOpener } from './store.ts'

export type { PostgresPool }

/**
 * The options of `postgres(…)`. With a pool of the application, only `statementTimeout`, `prepare` and `batch` are
 * accepted; the other options throw an error.
 */
export interface PostgresOptions {
  /** Maximum number of connections of this process, from 1 to 10,000. Default 10. */
  readonly poolSize?: number
  /**
   * Maximum milliseconds to wait for a free connection of the pool, or to connect to PostgreSQL, from 1 to 3,600,000.
   * Default 2,000.
   */
  readonly connectTimeout?: number
  /**
   * Maximum duration of a statement in milliseconds, from 1 to 3,600,000. Default 3,000. If a transaction is idle for
   * about this time, PostgreSQL closes the connection.
   */
  readonly statementTimeout?: number
  /**
   * The PostgreSQL schema of the tables. A migration creates a missing schema. Default: the first existing schema of
   * the `search_path`, usually `public`. If you set this option, write the schema in the name of your own user table:
   * `public.people`. Cannot be combined with `prepare: false`; set the `search_path` of the role instead.
   */
  readonly schema?: string
  /** Whether to use prepared statements. Default true. Must be false behind PgBouncer in transaction mode. */
  readonly prepare?: boolean
  /** Whether concurrent operations share statements. Default true. Only benchmarks set this option to false. */
  readonly batch?: boolean
}

/**
 * A PostgreSQL database, version 13 or newer.
 * @param database a URL such as `postgres://user:password@host/database`, or a pool of the driver `pg` that the
 * application creates and ends
 * @throws TypeError for an unknown option or a wrong value
 */
export const postgres = (
  database: string | PostgresPool,
  options: PostgresOptions = {},
): StoreOpener => {
  checkOptions(options)
  return openerOf(database, options)
}

const checkOptions = onlyMembers<PostgresOptions>('postgres()', {
  poolSize: whole(1, 10_000),
  connectTimeout: timeout,
  statementTimeout: timeout,
  schema: text,
  prepare: flag,
  batch: flag,
})

const openerOf = (database: string | PostgresPool, options: PostgresOptions): StoreOpener => ({
  description: describe(database),
  async open(users = 'built-in', keyType = 'integer') {
    const { statementTimeout = 3_000, connectTimeout = 2_000, schema } = options
    const { prepare = true, batch = true } = options
    check(database, options)
    const { connections, poolSize, transactions, openForMigration } =
      typeof database === 'string'
        ? ownPool(database, options)
        : hostPool(database, statementTimeout)
    const lockRetries = new LockRetries({ poolSize, limit: statementTimeout, connectTimeout })
    const dialect = new PostgresDialect(connections, { prepare, lockRetries, transactions })
    const store = postgresStore(dialect, users, { keyType, batch, lockRetries, schema })
    try {
      await store.ping()
    } catch (error) {
      await store.close()
      const cause = error instanceof StoreUnavailable ? (error.cause ?? error) : error
      const reason = cause instanceof Error ? cause.message || cause.name : String(cause)
      const advice =
        typeof database === 'string'
          ? 'Check that PostgreSQL runs and that DATABASE_URL is correct.'
          : 'Check that PostgreSQL runs.'
      throw new StoreUnusable(
        `The database ${describe(database)} cannot be used (${reason}). ${advice}`,
        { cause: error },
      )
    }
    return {
      ...store,
      async migrate(migration) {
        if (schema !== undefined && !migration?.dryRun)
          await createSchema(dialect, schema).catch((error) => Promise.reject(withAdvice(error)))
        const plan = await store.migrate({ ...migration, dryRun: true })
        if (migration?.dryRun || plan.length === 0) return plan
        let hasReported = false
        const onWait = () => {
          if (!hasReported) migration?.onWait?.()
          hasReported = true
        }
        const adapter = new MigrationAdapter(onWait)
        const migrationDialect = new PostgresDialect(openForMigration(), { prepare, adapter })
        const migrationStore = postgresStore(migrationDialect, users, { keyType, batch })
        try {
          return await whenTablesAreFree(() => migrationStore.migrate(migration), onWait)
        } catch (error) {
          throw withAdvice(error)
        } finally {
          await migrationStore.close()
        }
      },
      poolStats() {
        const stats = connections.stats()
        return { ...stats, waiting: stats.waiting + lockRetries.waiting }
      },
    }
  },
})

/** The connections of a store, and the values that depend on whether the server or the application created the pool. */
interface Connecting {
  readonly connections: PooledConnections
  readonly poolSize: number
  readonly transactions?: TransactionCommands
  /**
   * Opens a connection without the statement timeout of requests. Building an index, or waiting for the migration of
   * another process, takes longer.
   */
  readonly openForMigration: () => PostgresConnections
}

const ownPool = (
  url: string,
  {
    poolSize = 10,
    connectTimeout = 2_000,
    statementTimeout = 3_000,
    schema,
    prepare = true,
  }: PostgresOptions,
): Connecting => {
  const searchPath = schema === undefined ? [] : [`search_path="${schema}"`]
  const connect = (limits: PoolConfig, settings: readonly string[]): PooledConnections =>
    pooledConnections({
      ...withSettings(url, [...settings, ...searchPath]),
      application_name: 'svc-oauth2server',
      connectionTimeoutMillis: connectTimeout,
      keepAlive: true,
      ...limits,
    })
  const connections = connect(
    {
      max: poolSize,
      statement_timeout: statementTimeout,
      lock_timeout: Math.min(lockTimeout, statementTimeout),
      // The driver waits longer than `statement_timeout`. `query_timeout` therefore only applies if PostgreSQL does not
      // respond, for instance because the connection was lost.
      query_timeout: statementTimeout + margin,
      idle_in_transaction_session_timeout: idleInTransaction(statementTimeout),
    },
    // `prepare: false` means that the connections lead to PgBouncer. PgBouncer rejects these settings.
    prepare ? planSettings : [],
  )
  const openForMigration = () =>
    connect(
      {
        max: 1,
        lock_timeout: tableLockTimeout,
        idle_in_transaction_session_timeout: idleTimeout,
        // The statements of a migration have no timeout, so only keepalives detect a lost connection.
        keepAliveInitialDelayMillis: idleTimeout,
      },
      [],
    )
  return { connections, poolSize, openForMigration }
}

const hostPool = (pool: PostgresPool, statementTimeout: number): Connecting => ({
  connections: hostConnections(pool, { responseTimeout: statementTimeout + margin }),
  poolSize: pool.options?.max ?? 10,
  // The statements of the application use the same connections and must not get the settings of the server. Therefore,
  // set the timeouts only for each transaction of the server, and omit the planner settings.
  transactions: {
    begin: ['begin', ...timeoutsOf(statementTimeout).map((setting) => `set local ${setting}`)].join(
      '; ',
    ),
    commit: 'commit',
    rollback: 'rollback',
  },
  openForMigration: () =>
    hostConnections(pool, {
      settings: [
        'statement_timeout = 0',
        `lock_timeout = ${tableLockTimeout}`,
        `idle_in_transaction_session_timeout = ${idleTimeout}`,
      ],
    }),
})

const timeoutsOf = (statementTimeout: number): readonly string[] => [
  `statement_timeout = ${statementTimeout}`,
  `lock_timeout = ${Math.min(lockTimeout, statementTimeout)}`,
  `idle_in_transaction_session_timeout = ${idleInTransaction(statementTimeout)}`,
]

// By default, this timeout is shorter than the statement timeout. If a process loses its connection in a transaction,
// PostgreSQL releases the locks of the transaction before the statements of other processes time out.
const idleInTransaction = (statementTimeout: number): number =>
  Math.max(statementTimeout - margin, margin)

/** Milliseconds between the timeout of a statement and the related timeouts. */
const margin = 500

/**
 * Planner settings of the connections that serve requests. PostgreSQL caches the plans of prepared statements and of
 * foreign key checks. For a small table, a sequential scan, an index-only scan or a join of whole tables costs no more
 * than an index look-up. Without these settings, PostgreSQL might cache such a plan and use it after the table has
 * grown. JIT compilation takes longer than these short statements. PostgreSQL still scans a table if no index matches.
 * See docs/decisions/0016-plans.md.
 */
const planSettings = [
  'enable_seqscan',
  'enable_indexonlyscan',
  'enable_hashjoin',
  'enable_mergejoin',
  'jit',
].map((setting) => `${setting}=off`)

// If the URL contains `options`, the driver ignores the property `options`, so add the settings to the URL.
const withSettings = (url: string, settings: readonly string[]): PoolConfig => {
  if (settings.length === 0) return { connectionString: url }
  const options = settings.map((setting) => `-c ${setting}`).join(' ')
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const urlOptions = parsed?.searchParams.get('options')
  if (!parsed || !urlOptions) return { connectionString: url, options }
  parsed.searchParams.set('options', `${options} ${urlOptions}`)
  return { connectionString: parsed.href }
}

/** @throws StoreUnusable for an invalid option */
const check = (database: string | PostgresPool, options: PostgresOptions): void => {
  const { schema, prepare = true } = options
  if (typeof database !== 'string') checkPool(database, options)
  // Other characters could end the name. PostgreSQL would interpret the rest of the text as a setting or a statement.
  if (schema !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw new StoreUnusable(
      `schema accepts lower-case letters, digits and _, at most 63 characters, without a digit at the beginning; the given value is ${JSON.stringify(schema)}.`,
    )
  if (schema !== undefined && !prepare)
    throw new StoreUnusable(
      'schema cannot be combined with prepare: false, because PgBouncer rejects settings of a connection. Set the search_path of the role instead.',
    )
}

const checkPool = (pool: PostgresPool, options: PostgresOptions): void => {
  if (typeof pool?.connect !== 'function')
    throw new StoreUnusable('postgres accepts a URL, or a pool of the package pg.')
  const own = (['poolSize', 'connectTimeout', 'schema'] as const).filter(
    (name) => options[name] !== undefined,
  )
  if (own.length > 0)
    throw new StoreUnusable(
      `${own.join(', ')} cannot be combined with a pool of the application: configure the pool itself (max, connectionTimeoutMillis, options: '-c search_path=…').`,
    )
}

// Look for the schema first: `create schema if not exists` needs a privilege even if the schema exists. The statement
// also fails with a unique violation if another node creates the schema concurrently.
const createSchema = async (dialect: PostgresDialect, schema: string): Promise<void> => {
  const exists = async () =>
    (await dialect.run('select 1 from pg_namespace where nspname = $1', [schema])).rows.length > 0
  if (await exists()) return
  try {
    await dialect.run(`create schema if not exists "${schema}"`, [])
  } catch (error) {
    if (!(await exists())) throw error
  }
}

// 42501: insufficient_privilege
const withAdvice = (error: unknown): unknown => {
  if (!(error instanceof Error && 'code' in error && error.code === '42501')) return error
  return new StoreUnusable(
    `The PostgreSQL role may not create the tables (${error.message}). Grant the role the privilege CREATE on the schema, or run svc-oauth2server migrate with a role that has this privilege.`,
  )
}

/** Describes a database without its password. */
const describe = (url: string | PostgresPool): string => {
  if (typeof url !== 'string') return 'of the pool'
  if (!URL.canParse(url)) return 'postgres'
  const { host, pathname } = new URL(url)
  return `postgres://${host}${pathname}`
}

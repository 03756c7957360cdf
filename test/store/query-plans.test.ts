import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { decorated } from '../../src/store/decorated.ts'
import { postgres } from '../../src/store/postgres.ts'
import { SqliteDatabase } from '../../src/store/sql/sqlite/database.ts'
import { sqlite } from '../../src/store/sqlite.ts'
import type { Store, StoreOpener } from '../../src/store/store.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase, type TestDatabase } from '../support/postgres.ts'
import { everyOperation } from './every-operation.ts'

/** A statement of an operation, with the parameters of one run. */
interface Statement {
  readonly operation: string
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** The operations that may scan a table or a whole index, and why the scan is acceptable. */
const allowed: Readonly<Record<string, string>> = {
  'clients.countExpired':
    'reads the index of the clients that registered themselves, whose number is limited',
  'tokens.list matching': 'reads the primary key up to the limit if no text is given',
  'tokens.summaries matching':
    'reads the primary key up to the limit, or the index of personal tokens, if no text is given',
  'tokens.count matching': 'reads an index up to the limit if no text is given',
  'audit.select': 'reads the primary key up to the limit',
  'auditCheckpoints.select': 'reads the primary key up to the limit',
  'audit.list latest': 'reads the index of the time up to the limit if no filter is set',
  'audit.list earliest': 'reads the index of the time up to the limit if no filter is set',
  'auditCounts.list':
    'reads the primary key up to the limit; only the command line and the application call it',
  'removals.idsInUse': 'reads an index up to the limit; the sweeper reads one batch in each run',
  secretKeys: 'reads a few rows at start-up',
  'sealed.tokens': 'reads the primary key in batches while secret keys are rotated',
  'sealed.rotations': 'reads the primary key in batches while secret keys are rotated',
  'sealed.clients': 'reads the primary key in batches while secret keys are rotated',
  'sealed.consents': 'reads the primary key in batches while secret keys are rotated',
  'sealed.sessions': 'reads the primary key in batches while secret keys are rotated',
  'sealed.users': 'reads the primary key in batches while secret keys are rotated',
  'sealed.auditCheckpoints': 'reads the primary key in batches while secret keys are rotated',
  'sealed.signingKeys': 'reads the few rows while secret keys are rotated',
}

const isAllowed = ({ operation }: Statement): boolean =>
  operation in allowed || operation.replace(/\.[^.]+$/, '') in allowed

/** Runs every operation, alone and in a transaction. @returns the distinct statements, and the called operations */
const statementsOf = async (
  opener: StoreOpener,
  spy: (note: (sql: string, parameters: readonly unknown[]) => void) => { mockRestore(): void },
) => {
  const statements = new Map<string, Statement>()
  const called = new Set<string>()
  let operation = ''
  const opened = await opener.open()
  await opened.migrate()
  const spied = spy((sql, parameters) => {
    // Exclude the statements of introspection, and statements such as `begin` and `commit`.
    if (!/^\s*(?:select|insert|update|delete|with)\b/i.test(sql) || operation === '') return
    // `aroundStore` does not wrap the operations on key IDs, so it does not report their names.
    const isOfKeys = sql.includes('oauth2server_secret_key')
    const name = isOfKeys ? 'secretKeys' : operation
    statements.set(`${name} ${sql}`, { operation: name, sql, parameters })
  })
  const named = decorated(opened, async ({ name }, run) => {
    operation = name
    called.add(name.replace(/ .*/, ''))
    return run()
  })
  try {
    await everyOperation(named)
    await named.transaction((tx: Store) => everyOperation(tx))
  } finally {
    spied.mockRestore()
    await opened.close()
  }
  const all = Object.entries({ ...opened, sealed: {}, ...sealedParts(opened) }).flatMap(
    ([part, operations]) => (typeof operations === 'object' ? operationsOf(part, operations) : []),
  )
  const isMissing = (name: string) => !called.has(name) && !name.startsWith('secretKeys.')
  return { statements: [...statements.values()], missing: all.filter(isMissing) }
}

const operationsOf = (part: string, operations: object): string[] =>
  Object.entries(operations)
    .filter(([, operation]) => typeof operation === 'function')
    .map(([name]) => `${part}.${name}`)

const sealedParts = ({ sealed }: Store): Record<string, object> =>
  Object.fromEntries(Object.entries(sealed).map(([kind, rows]) => [`sealed.${kind}`, rows]))

const ours = 'oauth2server_'

describe('query plans: SQLite', () => {
  let folder: string
  let path: string
  let found: Awaited<ReturnType<typeof statementsOf>>
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oauth2server-test-'))
    path = join(folder, 'test.sqlite')
    found = await statementsOf(sqlite(path), (note) => {
      const spies = (['run', 'now'] as const).map((name) => {
        const original = SqliteDatabase.prototype[name]
        return vi.spyOn(SqliteDatabase.prototype, name).mockImplementation(function (
          this: SqliteDatabase,
          sql: string,
          parameters: readonly unknown[],
        ) {
          note(sql, parameters)
          return Reflect.apply(original, this, [sql, parameters])
        } as never)
      })
      return {
        mockRestore() {
          for (const spied of spies) spied.mockRestore()
        },
      }
    })
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('covers every operation of the store', () => {
    expect(found.missing).toEqual([])
    expect(found.statements.length).toBeGreaterThan(80)
  })

  test('no statement scans a table', () => {
    using database = new DatabaseSync(path, { readOnly: true })
    const scans = found.statements.filter((statement) => {
      const { sql, parameters } = statement
      const aliases = [...sql.matchAll(/(oauth2server_\w+)"? as "?(\w+)/g)].map(
        ([, , alias]) => alias,
      )
      const plan = database
        .prepare(`explain query plan ${sql}`)
        .all(...(parameters as SQLInputValue[]))
      return plan.some(({ detail }) => {
        const [, scanned = ''] = /^SCAN (\w+)/.exec(String(detail)) ?? []
        return scanned.startsWith(ours) || aliases.includes(scanned)
      })
    })
    expect(scans.filter((scan) => !isAllowed(scan))).toEqual([])
    // If no scan were detected, the previous assertion would prove nothing.
    expect(scans.map(({ operation }) => operation)).toContain('tokens.list matching')
  })

  test('the list of all personal tokens reads the index of personal tokens [T3010]', () => {
    using database = new DatabaseSync(path, { readOnly: true })
    const lists = found.statements.filter(({ sql }) => sql.includes('where is_personal = 1'))
    expect(lists.length).toBeGreaterThan(0)
    for (const { sql, parameters } of lists) {
      const plan = database
        .prepare(`explain query plan ${sql}`)
        .all(...(parameters as SQLInputValue[]))
        .map(({ detail }) => String(detail))
      expect(plan.join(', ')).toContain('USING COVERING INDEX oauth2server_token_of_person')
      expect(plan.join(', ')).not.toMatch(/SCAN t\b/)
    }
  })

  test('each filter of the audit log has an index in its order', () => {
    using database = new DatabaseSync(path, { readOnly: true })
    const lists = found.statements.filter(({ operation }) => /^audit.(?:l|e)/.test(operation))
    const used = lists.map(({ sql, parameters }) => {
      const plan = database
        .prepare(`explain query plan ${sql}`)
        .all(...(parameters as SQLInputValue[]))
        .map(({ detail }) => String(detail))
      return plan.length === 1 ? /audit_(?:by|of)_\w+/.exec(plan[0] ?? '')?.[0] : plan.join(', ')
    })
    expect([...new Set(used)].toSorted()).toEqual(
      ['by_client', 'by_event', 'by_time', 'of_address', 'of_token_id', 'of_user'].map(
        (name) => `audit_${name}`,
      ),
    )
  })

  test('every foreign key has an index that begins with it, which deletions use', () => {
    using database = new DatabaseSync(path, { readOnly: true })
    const rows = (sql: string) => database.prepare(sql).all()
    const bare = rows(`select name from sqlite_master where type = 'table'`).flatMap(({ name }) => {
      const first = rows(`select * from pragma_index_list('${name}')`).map(
        (index) => rows(`select name from pragma_index_info('${index.name}')`)[0]?.name,
      )
      return rows(`select "from" as name from pragma_foreign_key_list('${name}')`)
        .filter((key) => !first.includes(key.name as string))
        .map((key) => `${name}.${key.name}`)
    })
    expect(bare).toEqual([])
  })
})

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly PlanNode[]
}

const allNodes = (node: PlanNode): readonly PlanNode[] => [
  node,
  ...(node.Plans ?? []).flatMap(allNodes),
]

/** Whether a plan node reads a table or an index from end to end. */
const isScan = (node: PlanNode): boolean => {
  if (!node['Relation Name']?.startsWith(ours)) return false
  if (node['Node Type'] === 'Seq Scan') return true
  return /^Index/.test(node['Node Type']) && node['Index Cond'] === undefined
}

/** Resets the statistics, so that the plans do not depend on the time of the last `vacuum` or `analyze`. */
const asIfNeverAnalyzed = async (client: pg.Client): Promise<void> => {
  const { rows } = await client.query(`select oid, oid::regclass::text as name from pg_class
    where relkind = 'r' and relname like '${ours}%'`)
  for (const { name } of rows)
    await client.query(`alter table ${name} set (autovacuum_enabled = off)`)
  const tables = [rows.map(({ oid }) => oid)]
  await client.query('delete from pg_statistic where starelid = any($1)', tables)
  await client.query('update pg_class set relpages = 0, reltuples = -1 where oid = any($1)', tables)
}

describe.skipIf(await lacks('postgres'))('query plans: PostgreSQL', () => {
  let database: TestDatabase
  let found: Awaited<ReturnType<typeof statementsOf>>
  beforeAll(async () => {
    database = await makeDatabase()
    found = await statementsOf(postgres(database.url), (note) => {
      const { query } = pg.Client.prototype
      const noted = function (this: pg.Client, ...given: readonly unknown[]) {
        const [config] = given
        if (typeof config === 'object' && config !== null && 'text' in config) {
          const { text, values } = config as { text: string; values: readonly unknown[] }
          note(text, values)
        }
        return Reflect.apply(query, this, given)
      }
      return vi.spyOn(pg.Client.prototype, 'query').mockImplementation(noted as never)
    })
  })
  afterAll(() => database.drop())

  test('covers every operation of the store', () => {
    expect(found.missing).toEqual([])
    expect(found.statements.length).toBeGreaterThan(80)
  })

  test('no statement scans a table', async () => {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()

    await asIfNeverAnalyzed(client)
    // With this setting, PostgreSQL scans only tables without a suitable index.
    await client.query('set enable_seqscan = off')
    const scans: Statement[] = []
    for (const statement of found.statements) {
      const { rows } = await client.query(`explain (format json) ${statement.sql}`, [
        ...statement.parameters,
      ])
      const [{ Plan }] = rows[0]['QUERY PLAN'] as [{ Plan: PlanNode }]
      if (allNodes(Plan).some(isScan)) scans.push(statement)
    }
    await client.end()
    expect(scans.filter((scan) => !isAllowed(scan))).toEqual([])
    expect(scans.map(({ operation }) => operation)).toContain('tokens.list matching')
  })

  test('every foreign key has an index that begins with it, which deletions use', async () => {
    const bare =
      await database.query(`select conrelid::regclass::text as name, a.attname from pg_constraint as c
      join pg_attribute as a on a.attrelid = c.conrelid and a.attnum = c.conkey[1] where c.contype = 'f'
      and not exists (select 1 from pg_index as i where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1])`)
    expect(bare).toEqual([])
  })
})

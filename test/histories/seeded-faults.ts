import type { Cluster } from './cluster.ts'

// Faults that a test plants in the database to prove that the checker finds them. Each undoes what a check relies on,
// so that it does not depend on the statement that makes the check.

/** A fault of the database. `plant` returns the statements that plant it. */
export interface SeededFault {
  readonly name: string
  readonly plant: (cluster: Cluster) => Promise<readonly string[]>
}

const trigger = 'histories_fault'

/** Plants a fault, and returns a function that removes it. */
export const planted = async (fault: SeededFault, cluster: Cluster): Promise<AsyncDisposable> => {
  for (const statement of await fault.plant(cluster)) await cluster.query(statement)
  const [row] = await cluster.query(
    cluster.store === 'sqlite'
      ? `select tbl_name as name from sqlite_master where name = '${trigger}'`
      : `select tgrelid::regclass::text as name from pg_trigger where tgname = '${trigger}'`,
  )
  const on = cluster.store === 'sqlite' ? '' : ` on ${row?.name}`
  return {
    async [Symbol.asyncDispose]() {
      await cluster.query(`drop trigger ${trigger}${on}`)
    },
  }
}

/** A trigger with a body for each database. */
const triggered = (
  { store }: Cluster,
  event: string,
  { sqlite, postgres }: { readonly sqlite: string; readonly postgres: string },
): readonly string[] =>
  store === 'sqlite'
    ? [`create trigger ${trigger} ${event} begin ${sqlite}; end`]
    : [
        `create or replace function ${trigger}() returns trigger language plpgsql as $$ begin ${postgres}; end $$`,
        `create trigger ${trigger} ${event} for each row execute function ${trigger}()`,
      ]

/** The database ignores an event, such as the deletion of a row. */
const ignored = (name: string, event: string): SeededFault => ({
  name,
  plant: async (cluster) =>
    triggered(cluster, `before ${event}`, {
      sqlite: 'select raise(ignore)',
      postgres: 'return null',
    }),
})

/** The database reports an update as successful, but keeps the old values. */
const undone = (
  name: string,
  table: string,
  key: string,
  columns: readonly string[],
): SeededFault => ({
  name,
  plant: async (cluster) => {
    const olds = columns.map((column) => `${column} = old.${column}`).join(', ')
    const when = cluster.store === 'sqlite' ? 'after' : 'before'
    return triggered(cluster, `${when} update on ${table}`, {
      sqlite: `update ${table} set ${olds} where ${key} = old.${key}`,
      postgres: 'return old',
    })
  },
})

export const seededFaults: readonly SeededFault[] = [
  {
    name: 'the digest of a code is not unique',
    plant: async (cluster) =>
      triggered(
        cluster,
        `${cluster.store === 'sqlite' ? 'after' : 'before'} insert on oauth2server_authorization`,
        {
          sqlite:
            'update oauth2server_authorization set code_digest = code_digest || random() where id = new.id',
          postgres: 'new.code_digest := new.code_digest || random(); return new',
        },
      ),
  },
  ignored('a code remains valid without its consent', 'delete on oauth2server_consent'),
  ignored('a code remains valid without its session', 'delete on oauth2server_session'),
  ignored('a revocation of an authorization forgets the tokens', 'delete on oauth2server_token'),
  ignored('a replaced refresh token is forgotten', 'insert on oauth2server_rotated_refresh_token'),
  undone('a deactivated user remains active', 'oauth2server_user', 'id', ['active', 'seal']),
  undone('a disabled client remains enabled', 'oauth2server_client', 'client_key', [
    'client_secret',
    'is_disabled',
    'seal',
    'state_seal',
  ]),
  {
    name: 'a replaced refresh token remains valid',
    plant: async (cluster) => {
      const rows = await cluster.query(
        cluster.store === 'sqlite'
          ? `select name from pragma_table_info('oauth2server_token')`
          : `select column_name as name from information_schema.columns where table_name = 'oauth2server_token'`,
      )
      const columns = rows.map(({ name }) => String(name)).filter((name) => name !== 'id')
      const olds = columns.map((name) => `old.${name}`)
      const copy = `insert into oauth2server_token (${columns}) values (${olds})`
      return triggered(cluster, 'after update of refresh_token_digest on oauth2server_token', {
        sqlite: copy,
        postgres: `${copy}; return null`,
      })
    },
  },
]

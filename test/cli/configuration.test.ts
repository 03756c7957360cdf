import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrationNames } from '../support/migrations.ts'
import { makeDatabase, queryAt } from '../support/postgres.ts'
import { configure, type Outcome, refused, silent, type Workplace, workplace } from './workplace.ts'

// Commands with the configuration of an application that has its own users.

const allMigrations = `${migrationNames.join('\n')}\n`

const lines = (
  { stdout }: Pick<Outcome, 'stdout'> = { stdout: '' },
): readonly Record<string, unknown>[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

const keys = {
  integer: { type: 'integer', ids: ['1', '2'] },
  text: { type: 'text', ids: ['ada', 'ada@example.org'] },
  uuid: {
    type: 'uuid',
    ids: ['3f333df6-90a4-4fda-8dd3-9485d27cee36', '00000000-0000-4000-8000-000000000002'],
  },
} as const

interface Host {
  readonly name: string
  readonly keyType: keyof typeof keys
  readonly isPostgres: boolean
  /** The source text of the option `users`. */
  readonly users: string
}

const columns = `id: 'id', email: 'email', active: 'enabled'`
const callbacks = (keyType: string): string => `{
  keyType: '${keyType}',
  async find(id) { return people.find((user) => user.id === id) },
  async findByEmail(email) { return people.find((user) => user.email === email) },
}`

const hosts: readonly Host[] = (['integer', 'text', 'uuid'] as const).flatMap((keyType) =>
  [false, true].flatMap((isPostgres) => {
    const store = isPostgres ? 'PostgreSQL' : 'SQLite'
    const from = (what: string) => `${what} with ${keyType} keys on ${store}`
    const fields = `${columns}, keyType: '${keyType}'`
    return [
      {
        name: from('a table without foreign keys'),
        keyType,
        isPostgres,
        users: `table('people', { ${fields}, foreignKeys: false })`,
      },
      {
        name: from('a table with foreign keys'),
        keyType,
        isPostgres,
        users: `table('people', { ${fields}, foreignKeys: true })`,
      },
      { name: from('callbacks'), keyType, isPostgres, users: callbacks(keyType) },
    ]
  }),
)

interface HostConfiguration {
  /** The name of the module in the folder of the workplace. */
  readonly module: string
  drop(): Promise<void>
}

/** Creates the user table of the application with two users, and the configuration of the application. */
const configureHost = async (
  place: Workplace,
  { keyType, isPostgres, users }: Host,
  name = 'authorization',
): Promise<HostConfiguration> => {
  const { type, ids } = keys[keyType]
  const schema = `create table people (id ${type} primary key, email text not null, enabled integer not null default 1)`
  const insert = `insert into people (id, email) values ('${ids[0]}', 'one@example.org'), ('${ids[1]}', 'two@example.org')`
  let opener: string
  let drop = async (): Promise<void> => undefined
  if (isPostgres) {
    const database = await makeDatabase()
    await queryAt(database.url, schema)
    await queryAt(database.url, insert)
    opener = `postgres(${JSON.stringify(database.url)})`
    drop = database.drop
  } else {
    const path = join(place.folder, `${name}.sqlite`)
    using db = new DatabaseSync(path)
    db.exec(schema)
    db.exec(insert)
    opener = `sqlite(${JSON.stringify(path)})`
  }
  const literal = (id: string) => (keyType === 'integer' ? id : JSON.stringify(id))
  const people = ids.map(
    (id, index) =>
      `{ id: ${literal(id)}, email: '${index === 0 ? 'one' : 'two'}@example.org', emailVerified: true, active: true, isAdmin: false }`,
  )
  const module = `${name}.mjs`
  await configure(
    place,
    `(() => { const people = [${people}]; return { ...base, ...login, store: ${opener}, users: ${users} } })()`,
    module,
  )
  return { module, drop }
}

const commandsOf = ({ keyType }: Host): readonly (readonly string[])[] => {
  const [first, second] = keys[keyType].ids
  return [
    ['migrate'],
    ['clients', 'create', '--name', 'App', '--user', first],
    ['clients', 'list', '--user', 'one@example.org'],
    ['clients', 'list', '--user', second],
    [
      ...['tokens', 'create', '--name', 'Laptop', '--user', 'two@example.org'],
      ...['--scope', 'notes:read'],
    ],
    ['tokens', 'list', '--user', second],
    ['audit', '--user', first],
    ['tokens', 'delete', '--name', 'Laptop', '--user', second, '--force'],
    ['users', 'list'],
    ['tokens', 'list', '--user', 'nobody@example.org'],
    ['users', 'create', '--email', 'three@example.org'],
    ['users', 'deactivate', '--user', first],
    ['users', 'promote', '--user', 'one@example.org'],
    ['users', 'delete', '--user', first],
    ['users', 'set-password', '--user', first],
    // The doctor uses built-in users in memory, so the type of the keys makes no difference.
    ...(keyType === 'integer' ? [['doctor', '--json']] : []),
  ]
}

describe('own users', () => {
  /** The outcomes of all commands by host. One process runs them, because starting Node takes most of the time. */
  const outcomes = new Map<Host, readonly Outcome[]>()
  let place: Workplace
  const drops: (() => Promise<void>)[] = []
  beforeAll(async () => {
    place = await workplace()
    const commands: (readonly string[])[] = []
    for (const [index, host] of hosts.entries()) {
      const { module, drop } = await configureHost(place, host, `host-${index}`)
      drops.push(drop)
      commands.push(...commandsOf(host).map((command) => [...command, '--config', module]))
    }
    const all = [...(await place.runAll(commands))]
    for (const host of hosts) outcomes.set(host, all.splice(0, commandsOf(host).length))
  })
  afterAll(async () => {
    await place[Symbol.asyncDispose]()
    for (const drop of drops) await drop()
  })

  test.each(hosts)(
    '$name: commands accept the ID and the e-mail address of a user, and only the application changes users',
    (host) => {
      const [first, second] = keys[host.keyType].ids
      const [
        migrated,
        created,
        mine,
        others,
        token,
        tokens,
        audit,
        deleted,
        users,
        nobody,
        ...more
      ] = outcomes.get(host) ?? []
      expect(migrated).toMatchObject({ code: 0, stdout: allMigrations })
      expect(created).toMatchObject({ code: 0, stderr: '' })
      const { client_id: clientId } = JSON.parse(created?.stdout ?? '')
      const client = expect.objectContaining({ client_id: clientId, name: 'App' })
      expect(lines(mine)).toEqual([client])
      expect(lines(others)).toEqual([])
      expect(token).toMatchObject({ code: 0, stderr: '' })
      const listed = { name: 'Laptop', scopes: ['notes:read'], expires: null }
      expect(lines(tokens)).toEqual([expect.objectContaining(listed)])
      expect(lines(audit).map(({ event }) => event)).toEqual(['client.created'])
      expect(deleted).toEqual(silent)
      if (host.users.startsWith('{'))
        expect(users).toEqual(refused(/only the application can list all users/))
      else expect(lines(users).map(({ id }) => String(id))).toEqual([first, second].sort())
      expect(nobody).toEqual(refused('There is no user "nobody@example.org".'))
      const changes = more.slice(0, 5)
      expect(changes).toHaveLength(5)
      for (const change of changes)
        expect(change).toEqual(refused(/users belong to the application/))
    },
  )

  test.each(hosts.filter(({ keyType }) => keyType === 'integer'))(
    '$name: doctor examines the configuration with built-in users',
    (host) => {
      const doctor = outcomes.get(host)?.at(-1)
      expect(doctor?.stderr).toContain('built-in users instead of your own users')
      expect(lines(doctor).filter(({ state }) => state === 'fail')).toEqual([])
      expect(lines(doctor).some(({ check }) => check === 'flow-code')).toBe(true)
    },
  )
})

describe('--config', () => {
  const options = `{ ...base, store: sqlite('./app.sqlite') }`

  test.each([
    ['options', options],
    ['a function that returns options', `async () => (${options})`],
    ['a server', `await createAuthorizationServer({ ...${options}, logLevel: 'silent' })`],
  ])('accepts a module that exports %s', async (_, expression) => {
    await using place = await workplace()
    await configure(place, expression)
    const config = ['--config', 'authorization.mjs']
    // A command closes the server that the module exports.
    const run = (...args: readonly string[]) => place.runWith({ nodeOptions: [] }, ...args)
    const created = await run('users', 'create', '--email', 'a@example.org', ...config)
    expect(created).toMatchObject({ code: 0, stderr: '' })
    expect(lines(await run(...config, 'users', 'list'))).toEqual([
      {
        id: expect.any(Number),
        email: 'a@example.org',
        active: true,
        email_verified: true,
        is_admin: false,
      },
    ])
    const scopes = lines(await run(...config, 'scopes', 'list')).map(({ id }) => id)
    expect(scopes).toEqual(['notes:read', 'user:email'])
  })

  test('accepts a TypeScript module', async () => {
    await using place = await workplace()
    await configure(place, `${options} satisfies object`, 'authorization.ts')
    const listed = await place.run('users', 'list', '--config', './authorization.ts')
    expect(listed).toEqual(silent)
  })

  test('takes precedence over package.json', async () => {
    await using place = await workplace()
    await configure(place, options)
    const manifest = { 'svc-oauth2server': { config: './missing.mjs' } }
    await writeFile(join(place.folder, 'package.json'), JSON.stringify(manifest))
    expect(await place.run('users', 'list', '--config', 'authorization.mjs')).toEqual(silent)
    expect(await place.run('users', 'list')).toEqual(
      refused('The configuration "./missing.mjs" does not exist.'),
    )
  })

  test.each([
    ['no default export', 'export const options = {}', /needs a default export/],
    ['null as the default export', 'export default null', /needs a default export/],
    ['a string as the default export', 'export default "options"', /needs a default export/],
    ['a syntax error', 'export default {', /cannot be loaded: Unexpected end of input/],
    ['an import that fails', 'import "./missing.mjs"', /cannot be loaded: Cannot find module/],
    ['an error while it runs', 'throw new Error("no key")', /cannot be loaded: no key/],
    ['a function that fails', 'export default () => { throw new Error("no key") }', /no key/],
    ['misspelled options', 'export default { issuers: "" }', /issuers is not an option/],
  ])('refuses a module with %s', async (_, text, message) => {
    await using place = await workplace()
    await writeFile(join(place.folder, 'authorization.mjs'), text)
    expect(await place.run('users', 'list', '--config', 'authorization.mjs')).toEqual(
      refused(message),
    )
  })

  test.each([
    ['an empty path', ['--config', ''], 1],
    ['a directory', ['--config', '.'], 1],
    ['no path', ['--config'], 2],
    ['two paths', ['--config', 'a.mjs', '--config', 'b.mjs'], 2],
  ] as const)('refuses %s', async (_, args, code) => {
    await using place = await workplace()
    expect(await place.run('users', 'list', ...args)).toEqual(refused(/config/, code))
  })

  test('refuses a value in package.json that is not a path', async () => {
    await using place = await workplace()
    await writeFile(join(place.folder, 'package.json'), '{"svc-oauth2server": {"config": 1}}')
    expect(await place.run('users', 'list')).toEqual(refused(/in package\.json must be the path/))
  })

  test('migrate and doctor refuse a module that exports a server', async () => {
    await using place = await workplace()
    await configure(place, `createAuthorizationServer({ ...${options}, logLevel: 'silent' })`)
    for (const command of ['migrate', 'doctor'])
      expect(await place.run(command, '--config', 'authorization.mjs')).toEqual(
        refused(/exports a server/),
      )
  })
})

describe('without a configuration', () => {
  test('a command names its database if the application folder contains another database', async () => {
    await using place = await workplace()
    await writeFile(join(place.folder, 'app.sqlite'), '')
    const env = { DATABASE_URL: undefined }
    const { code, stderr } = await place.runWith({ env }, 'users', 'list')
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'This command uses the database ./data/oauth2server.sqlite, and not app.sqlite. Choose another database with DATABASE_URL or --config.\n',
    })
  })

  test('a command refuses the database of an application with its own users', async () => {
    await using place = await workplace()
    const { module } = await configureHost(place, hosts[0] as Host)
    const manifest = { 'svc-oauth2server': { config: `./${module}` } }
    await writeFile(join(place.folder, 'package.json'), JSON.stringify(manifest))
    expect(await place.run('migrate')).toMatchObject({ code: 0, stdout: allMigrations })
    await writeFile(join(place.folder, 'package.json'), '{}')
    const env = { DATABASE_URL: `sqlite:${join(place.folder, 'authorization.sqlite')}` }
    expect(await place.runWith({ env }, 'users', 'list')).toEqual(
      refused(/created for an application with its own users.*--config/),
    )
  })
})

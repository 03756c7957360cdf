import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAuthorizationServer } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { expect, test } from 'vitest'
import { execute } from '../support/database.ts'
import { lastMigration, migrationNames } from '../support/migrations.ts'
import { root } from '../support/processes.ts'
import { secretKey } from '../support/server.ts'
import { declareScopes, refused, silent, workplace } from './workplace.ts'

const emailLine =
  '{"id":"user:email","help_text":"Read your e-mail address","group":"User","is_internal":false}\n'

test('scopes list prints the built-in scope and the scopes of the application, one object per line [T715]', async () => {
  await using place = await workplace()
  expect(await place.run('scopes', 'list')).toEqual({ ...silent, stdout: emailLine })

  // This package declares scopes for its own checkout. They do not apply to applications that depend on the package.
  await declareScopes(place)
  await mkdir(join(place.folder, 'node_modules'))
  await symlink(root, join(place.folder, 'node_modules/svc-oauth2server'))
  expect(await place.run('scopes', 'list')).toEqual({
    ...silent,
    stdout: `{"id":"notes:read","help_text":"Read your notes","group":"Notes","is_internal":false}
{"id":"test:scope","help_text":"For tests","group":"","is_internal":true}
${emailLine}`,
  })
})

test('in the checkout, scopes list prints the scopes of the example', async () => {
  const server = await createAuthorizationServer({
    issuer: 'http://localhost:3000',
    secretKeys: [secretKey],
    store: sqlite(':memory:'),
    applicationRoot: root,
    sweepInterval: 0,
  })
  const known = server.scopes.all().map(({ id, isInternal }) => [id, isInternal])
  await server.close()
  expect(known).toEqual([
    ['notes:read', false],
    ['notes:write', false],
    ['test:scope', true],
    ['user:email', false],
  ])
})

test('reports an unusable entry point in one line', async () => {
  await using place = await workplace()
  await declareScopes(place, { gone: './scopes.mjs:gone', nowhere: './nowhere.mjs:scope' })
  expect(await place.run('scopes', 'list')).toEqual(
    refused(
      /The entry point gone \(\.\/scopes\.mjs:gone\) of \S+ cannot be loaded: .* has no export gone\./,
    ),
  )
})

test('reports all invalid settings in one line', async () => {
  await using place = await workplace()
  const env = { PORT: '0x50', OAUTH2SERVER_REQUIRE_PKCE: 'sometimes', OAUTH2SERVER_NONSENSE: '1' }
  const outcome = await place.runWith({ env }, 'scopes', 'list')
  expect(outcome).toEqual(refused(/Some settings cannot be used: /))
  expect(outcome.stderr).toContain(
    'PORT accepts a number from 1 to 65535; the given value is "0x50".',
  )
  expect(outcome.stderr).toContain('OAUTH2SERVER_REQUIRE_PKCE accepts one of public, always, never')
  expect(outcome.stderr).toContain('OAUTH2SERVER_NONSENSE is not a setting.')
})

test('reports a failure on stderr only', async () => {
  await using place = await workplace()
  const server = await place.open()
  const user = await server.users.create({ email: 'user-a@example.org', password: null })
  const redirectUris = ['https://client.example/cb']
  const { client } = await server.clients.create({ name: 'C', userId: user.id, redirectUris })
  await server.close()
  execute(place.database, 'update oauth2server_client set is_confidential = 0')
  const { code, stdout, stderr } = await place.run(
    'clients',
    'reset-secret',
    '--client-id',
    client.clientId,
  )
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^error: .*\n/)
})

test('prints the warnings about settings only for serve', async () => {
  await using place = await workplace()
  const env = { OAUTH2SERVER_REQUIRE_PKCE: 'never' }
  expect(await place.runWith({ env }, 'tokens', 'purge')).toEqual({ ...silent, stdout: '0\n' })
})

test('without variables, creates the database and the secret key in ./data, readable only by their owner', async () => {
  await using place = await workplace()
  const env = { DATABASE_URL: undefined, SECRET_KEY: undefined }
  expect(await place.runWith({ env }, 'tokens', 'purge')).toEqual({ ...silent, stdout: '0\n' })
  const data = join(place.folder, 'data')
  expect((await readdir(data)).sort()).toEqual(['oauth2server.sqlite', 'secret-key'])
  for (const name of await readdir(data))
    expect((await stat(join(data, name))).mode & 0o777).toBe(0o600)
})

test('reports a data folder that cannot be created', async () => {
  await using place = await workplace()
  await writeFile(join(place.folder, 'file'), '')
  const env = { DATABASE_URL: 'sqlite:file/test.sqlite', SECRET_KEY: undefined }
  expect(await place.runWith({ env }, 'tokens', 'purge')).toEqual(
    refused(/The secret key file file\/secret-key cannot be read or created /),
  )
})

test('uses the database of a newer version with a warning, and does not migrate the database', async () => {
  await using place = await workplace()
  const server = await place.open()
  await server.close()
  execute(
    place.database,
    "insert into oauth2server_migration (name, timestamp) values ('9999-future', '2026-11-21')",
  )
  expect(await place.run('migrate')).toEqual(refused(/newer version .*9999-future/))
  expect(await place.run('tokens', 'purge')).toEqual({
    code: 0,
    stdout: '0\n',
    stderr: expect.stringMatching(/^warn: .* newer version .*9999-future/),
  })
})

test('rejects a secret key that did not seal the database, unless the old key is a previous key', async () => {
  await using place = await workplace()
  const server = await place.open()
  await server.close()
  const env = { SECRET_KEY: 'another secret key, which is long enough' }
  expect(await place.runWith({ env }, 'tokens', 'purge')).toEqual(
    refused(/secret keys do not match/),
  )
  const previous = { ...env, SECRET_KEY_PREVIOUS: secretKey }
  expect(await place.runWith({ env: previous }, 'tokens', 'purge')).toMatchObject({ code: 0 })
})

test('migrate prints the names of the migrations, and a dry run does not change the database', async () => {
  await using place = await workplace()
  const applied = {
    code: 0,
    stdout: `${migrationNames.join('\n')}\n`,
    stderr: 'Applied migrations:\n',
  }
  expect(await place.run('migrate', '--dry-run')).toEqual({
    ...applied,
    stderr: 'Migrations that would be applied:\n',
  })
  expect(await place.run('migrate', '--to', lastMigration)).toEqual(applied)
  const nothing = { ...silent, stderr: 'There is nothing to migrate.\n' }
  expect(await place.run('migrate')).toEqual(nothing)
  expect(await place.run('migrate', '--to', 'toString')).toEqual(
    refused(
      new RegExp(`There is no migration toString\\. Available: ${migrationNames.join(', ')}`),
    ),
  )
})

import { DatabaseSync } from 'node:sqlite'
import { createAuthorizationServer, table } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { expect, test } from 'vitest'
import { KeyRing } from '../../src/crypto/sealed.ts'
import { count, execute } from '../support/database.ts'
import { runNode } from '../support/processes.ts'
import { secretKey } from '../support/server.ts'
import {
  configure,
  environmentOf,
  mainProgram,
  refused,
  type Workplace,
  workplace,
} from './workplace.ts'

const next = 'the next secret key, which is long enough'
const keys = { SECRET_KEY: next, SECRET_KEY_PREVIOUS: secretKey }
const oldId = new KeyRing([secretKey]).currentId

const done =
  'No row needs an earlier key any more. Keep the key in SECRET_KEY_PREVIOUS for 24 hours more: open pages and unredeemed codes still depend on the key.\n'

/** Creates a user with this number of personal tokens. */
const withTokens = async (place: Workplace, tokens: number): Promise<readonly string[]> => {
  const server = await place.open()
  try {
    const user = await server.users.create({ email: 'ada@example.org', password: null })
    const made: string[] = []
    while (made.length < tokens)
      made.push((await server.tokens.createPersonal('Test', user.id)).accessToken)
    return made
  } finally {
    await server.close()
  }
}

/** Returns the number of tokens that a server with only the new key finds. */
const foundBy = async ({ database }: Workplace, tokens: readonly string[]): Promise<number> => {
  const server = await createAuthorizationServer({
    issuer: 'http://localhost:3000',
    secretKeys: [next],
    store: sqlite(database),
    sweepInterval: 0,
    log: () => undefined,
  })
  try {
    const found = await Promise.all(
      tokens.map((accessToken) => server.tokens.find({ accessToken })),
    )
    return found.filter((token) => token !== undefined).length
  } finally {
    await server.close()
  }
}

test('decision §1 secret-key rotate prints the number of rows, and the time for which the previous key is needed', {
  timeout: 600_000,
}, async () => {
  await using place = await workplace()
  const tokens = await withTokens(place, 3)
  const env = { SECRET_KEY: next }
  expect(await place.runWith({ env }, 'secret-key', 'rotate')).toEqual(
    refused(
      `The configured secret keys do not match the database: key ${oldId} is missing, and needed by rows: 3 in oauth2server_token, 3 in oauth2server_client, 1 in oauth2server_user. Set SECRET_KEY to the missing key, or add the missing key to SECRET_KEY_PREVIOUS.`,
    ),
  )
  expect(await place.runWith({ env: keys }, 'secret-key', 'rotate')).toEqual({
    code: 0,
    stdout: '7\n',
    stderr: `Rows resealed so far: 3. Current table: oauth2server_token.\n${done}`,
  })
  expect(await foundBy(place, tokens)).toBe(3)
  expect(await place.runWith({ env }, 'secret-key', 'rotate')).toMatchObject({
    code: 0,
    stdout: '0\n',
  })
})

test('secret-key rotate derives the time for which the previous key is needed from the settings', async () => {
  await using place = await workplace()
  const env = { ...keys, OAUTH2SERVER_JWT_EXPIRES_IN: '60' }
  const { stdout, stderr } = await place.runWith({ env }, 'secret-key', 'rotate')
  expect(stdout).toBe('0\n')
  expect(stderr).toMatch(/for an hour more/)
})

test('secret-key rotate seals the remaining rows when it runs again after the process was killed', {
  timeout: 600_000,
}, async () => {
  await using place = await workplace()
  const all = 1_500
  const tokens = await withTokens(place, all)
  await using killed = runNode([mainProgram, 'secret-key', 'rotate'], {
    cwd: place.folder,
    env: { ...environmentOf(place.database), ...keys },
  })
  await killed.says(/Rows resealed so far/, { on: 'stderr' })
  killed.kill('SIGKILL')
  expect(await killed.exited).toMatchObject({ signal: 'SIGKILL' })
  expect(killed.stdout).toBe('')
  const left = count(place.database, `oauth2server_token where access_token like '${oldId}.%'`)
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThan(all)
  const clients = count(place.database, `oauth2server_client where seal like '${oldId}.%'`)
  expect(await place.runWith({ env: keys }, 'secret-key', 'rotate')).toMatchObject({
    code: 0,
    // The second run seals the remaining tokens, the remaining clients and the user.
    stdout: `${left + clients + 1}\n`,
  })
  expect(await foundBy(place, tokens)).toBe(all)
})

test('secret-key rotate reports altered rows, and does not change them', async () => {
  await using place = await workplace()
  const tokens = await withTokens(place, 2)
  execute(place.database, "update oauth2server_token set scopes = 'user:email' where id = 1")
  expect(await place.runWith({ env: keys }, 'secret-key', 'rotate')).toEqual({
    code: 0,
    stdout: '4\n',
    stderr: `Rows resealed so far: 1. Current table: oauth2server_token.
error: Rows of oauth2server_token that key ${oldId} does not open, because the rows were tampered with: 1. The server refuses these rows, and the rotation did not change them.
${done}`,
  })
  expect(await foundBy(place, tokens)).toBe(1)
})

test('secret-key rotate works for an application with its own user table', async () => {
  await using place = await workplace()
  const people = new DatabaseSync(place.database)
  people.exec(
    "create table people (id integer primary key, email text); insert into people values (7, 'a@example.org')",
  )
  people.close()
  const server = await createAuthorizationServer({
    issuer: 'http://localhost:3000',
    secretKeys: [secretKey],
    store: sqlite(place.database),
    users: table('people', { id: 'id', email: 'email' }),
    resourceOwner: () => null,
    loginUrl: '/enter',
    sweepInterval: 0,
  })
  await server.tokens.createPersonal('Test', 7)
  await server.close()
  await configure(
    place,
    `{
      ...base, ...login, store: sqlite('${place.database}'),
      secretKeys: [process.env.SECRET_KEY, process.env.SECRET_KEY_PREVIOUS],
      users: table('people', { id: 'id', email: 'email' }),
    }`,
  )
  const rotate = ['secret-key', 'rotate', '--config', 'authorization.mjs']
  expect(await place.runWith({ env: keys }, ...rotate)).toMatchObject({ code: 0, stdout: '2\n' })
})

import type { AuthorizationServer, UserId } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { questionFor } from '../../src/cli/tokens.ts'
import { personalToken } from '../../src/pages/shapes/personal-tokens.ts'
import { count } from '../support/database.ts'
import { storeOf } from '../support/internals.ts'
import { declareScopes, misused, refused, silent, type Workplace, workplace } from './workplace.ts'

const email = 'me@example.org'

/** Returns a workplace with a user. */
const withUser = async (): Promise<
  Workplace & { readonly server: AuthorizationServer; readonly userId: UserId }
> => {
  const place = await workplace()
  await declareScopes(place)
  const server = await place.open()
  const { id: userId } = await server.users.create({ email, password: null })
  return {
    ...place,
    userId,
    server,
    async [Symbol.asyncDispose]() {
      await server.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

describe('tokens create', () => {
  test('prints only the access token, which has no scope and does not expire [T632]', async () => {
    await using place = await withUser()
    const { code, stdout, stderr } = await place.run(
      'tokens',
      'create',
      '--name',
      'N',
      '--user',
      email,
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^[A-Za-z0-9]{60}\n$/)
    const found = await place.server.tokens.find({ accessToken: stdout.trim() })
    expect(found?.client.name).toBe('N')
    expect(found?.token).toMatchObject({
      scopes: [],
      expires: null,
      isPersonal: true,
      isInternal: false,
    })
  })

  test('accepts every option, and internal scopes', async () => {
    await using place = await withUser()
    const options = [
      '--scope',
      'notes:read',
      '--scope',
      'test:scope',
      '--internal',
      '--expires-in',
      '60',
    ]
    const before = Date.now()
    const { stdout } = await place.run(
      'tokens',
      'create',
      '--name',
      'N',
      '--user',
      email,
      ...options,
    )
    const found = await place.server.tokens.find({ accessToken: stdout.trim() })
    expect(found?.token).toMatchObject({ scopes: ['notes:read', 'test:scope'], isInternal: true })
    const life = (found?.token.expires ?? 0) - before
    expect(life).toBeGreaterThanOrEqual(60_000)
    expect(life).toBeLessThan(75_000)
  })

  test.each([
    ['an unknown scope', { '--scope': 'notes:rea' }, 'The scope "notes:rea" does not exist.'],
    ['an empty name', { '--name': ' ' }, 'name: The name is missing.'],
    ['a name of 41 characters', { '--name': 'ä'.repeat(41) }, /name: .* 40 characters/],
    [
      'a lifetime that is not a number',
      { '--expires-in': '1h' },
      /expires_in: .* from 1 second to 10 years/,
    ],
  ])('rejects %s without creating a token', async (_, wrong, message) => {
    await using place = await withUser()
    const options = Object.entries({ '--name': 'N', '--user': email, ...wrong }).flat()
    expect(await place.run('tokens', 'create', ...options)).toEqual(refused(message))
    expect(count(place.database, 'oauth2server_client')).toBe(0)
  })
})

describe('tokens list', () => {
  test('prints every member of the JSON of a token, and internal scopes [T3032]', async () => {
    await using place = await withUser()
    const { server, userId } = place
    const scopes = ['notes:read', 'test:scope']
    const { id } = await server.tokens.createPersonal('Backup', userId, { scopes })
    const { stdout } = await place.run('tokens', 'list', '--user', email)
    const listed = JSON.parse(stdout)
    expect(listed).toMatchObject({ id, name: 'Backup', scopes, expires: null })
    expect(Object.keys(listed).sort()).toEqual(Object.keys(personalToken.shape).sort())
  })
})

describe('tokens delete', () => {
  test('deletes the token with the given name and user, but no token of another user', async () => {
    await using place = await withUser()
    const { server, userId } = place
    const you = await server.users.create({ email: 'you@example.org', password: null })
    const mine = await server.tokens.createPersonal('Backup', userId)
    const yours = await server.tokens.createPersonal('Backup', you.id)
    const args = ['tokens', 'delete', '--name', ' Backup', '--user', email, '--force']
    expect(await place.run(...args)).toEqual(silent)
    expect(await server.tokens.find(mine)).toBeUndefined()
    expect(await server.clients.find(mine.clientId)).toBeUndefined()
    expect(await server.tokens.find(yours)).toBeDefined()
    expect(await place.run(...args)).toEqual(
      refused('me@example.org has no personal access token named " Backup".'),
    )
  })

  test('makes the deletion of a token final that its user could still restore [T3828]', async () => {
    await using place = await withUser()
    const { tokens, endedTokens } = place.server
    const { id, accessToken } = await tokens.createPersonal('N', place.userId)
    const { undo } = await endedTokens.end(place.userId, [id])
    const args = ['tokens', 'delete', '--token', '--force']
    expect(await place.runWith({ stdin: accessToken }, ...args)).toEqual(silent)
    expect(await endedTokens.restore(place.userId, undo, 100)).toBe(0)
  })

  test('rejects a name with several matches, and deletes the token whose value stdin contains', async () => {
    await using place = await withUser()
    const { userId } = place
    const { tokens } = place.server
    const [first, second] = [
      await tokens.createPersonal('N', userId),
      await tokens.createPersonal('N', userId),
    ]
    expect(await place.run('tokens', 'delete', '--name', 'N', '--user', email, '--force')).toEqual(
      refused('me@example.org has 2 personal access tokens named "N": identify one with --token.'),
    )
    const stdin = `${second.accessToken}\n`
    const args = ['tokens', 'delete', '--token', '--force']
    expect(await place.runWith({ stdin }, ...args)).toEqual(silent)
    expect(await tokens.find(second)).toBeUndefined()
    expect(await tokens.find(first)).toBeDefined()
    expect(await place.runWith({ stdin }, ...args)).toEqual(
      refused('There is no access token with this value.'),
    )
  })

  test.each([
    [
      'a deletion without a terminal and without --force',
      ['--name', 'N', '--user', email],
      'without a terminal, --force is needed',
    ],
    [
      'a name without a user',
      ['--name', 'N', '--force'],
      'either --name and --user, or --token is needed',
    ],
    [
      'a name together with a value',
      ['--name', 'N', '--user', email, '--token', '--force'],
      "option '--token' cannot be used with option '--name <name>'",
    ],
  ])('rejects %s as wrong usage', async (_, options, message) => {
    await using place = await withUser()
    await place.server.tokens.createPersonal('N', place.userId)
    expect(await place.run('tokens', 'delete', ...options)).toEqual(misused(message))
    expect(count(place.database, 'oauth2server_token')).toBe(1)
  })
})

describe('the confirmation of tokens delete', () => {
  const own = { isPersonal: false, parentId: null, authorizationId: null }

  test.each([
    [
      'deletes a personal access token',
      { ...own, isPersonal: true },
      { email },
      'Delete the personal access token "A" of me@example.org?',
    ],
    [
      'revokes an authorization',
      { ...own, authorizationId: 7 },
      { email },
      'Revoke the authorization that me@example.org granted to the client "A"?',
    ],
    [
      'revokes an exchanged token alone',
      { isPersonal: true, parentId: 5, authorizationId: 7 },
      { email },
      'Revoke the token with which the client "A" acts on behalf of me@example.org?',
    ],
    [
      'revokes a token that the client requested for itself',
      own,
      { email },
      'Revoke the token with which the client "A" acts on behalf of me@example.org?',
    ],
    ['revokes a token without a user', own, null, 'Revoke the token of the client "A"?'],
  ])('says that the command %s', (_, token, user, question) => {
    expect(questionFor({ token, client: { name: 'A' }, user })).toBe(question)
  })
})

test('sweep --dry-run prints the rows to delete and changes nothing; sweep deletes them', async () => {
  await using place = await workplace()
  const server = await place.open(() => Date.now() - 2 * 86_400_000)
  const user = await server.users.create({ email: 'me@example.org', password: null })
  await server.tokens.createPersonal('Short', user.id, { expiresIn: 3_600 })
  await storeOf(server).transients.put('x', 'x', 1, 0)
  await storeOf(server).sweeperNotes.put({ kind: 'missing user', key: '5', at: 0 })
  await server.close()
  const plan = [
    '1 tokens: expired, and cannot be refreshed',
    '1 short-lived values: expired',
    'user 5: not found since 1970-01-01T00:00:00.000Z; rows removed after 1970-01-02T00:00:00.000Z if still not found',
    '',
  ].join('\n')
  for (let time = 0; time < 2; time += 1)
    expect(await place.run('sweep', '--dry-run')).toEqual({ ...silent, stdout: plan })
  expect(await place.run('sweep')).toEqual({ ...silent, stdout: '2\n' })
})

test('tokens purge prints the number of expired rows that it deleted', async () => {
  await using place = await withUser()
  await place.server.tokens.createPersonal('kept', place.userId)
  const past = await place.open(() => Date.now() - 3_600_000)
  await past.tokens.createPersonal('expired', place.userId, { expiresIn: 60 })
  await past.tokens.createPersonal('expired', place.userId, { expiresIn: 61 })
  await past.close()
  expect(await place.run('tokens', 'purge')).toEqual({ ...silent, stdout: '2\n' })
})
